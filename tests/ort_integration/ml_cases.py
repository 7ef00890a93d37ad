# SPDX-License-Identifier: Apache-2.0
"""Nodes of ai.onnx.ml in every element type of their inputs and outputs, with what onnx.reference makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_node_cases import Case

NUMBERS = (np.float32, np.float64, np.int32, np.int64)
LABELS = {"ints": [4, 7, 9], "strings": ["a", "b", "c"]}
X = [[3, 0, 1], [1, 2, 2], [0, 1, 3], [2, 3, 0]]  # of four rows, with features of small whole numbers
Made = tuple[str, list[np.ndarray], list[int], dict[str, Any]]  # operator, inputs, output types, attributes
FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING

# A tree of three leaves: x[0] <= 1, and below x[1] <= 1.5.
BRANCHES = {
    "nodes_treeids": [0] * 5,
    "nodes_nodeids": [0, 1, 2, 3, 4],
    "nodes_featureids": [0, 1, 0, 0, 0],
    "nodes_values": [1.0, 1.5, 0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 3, 0, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0],
}


def votes(prefix: str) -> dict[str, Any]:
    """Return what each leaf gives to one class or target."""
    return {
        f"{prefix}_treeids": [0] * 3,
        f"{prefix}_nodeids": [2, 3, 4],
        f"{prefix}_ids": [0, 1, 2],
        f"{prefix}_weights": [1.0, 2.0, 3.0],
    }


def array(values: Any, dtype: Any) -> np.ndarray:
    """Return an array; text of numbers where the type is object."""
    found = np.array(values)
    return found.astype(str).astype(object) if dtype is object else found.astype(dtype)


def of_numbers(dtype: Any) -> Iterator[Made]:
    """Yield the operators that take all numbers."""
    x, kind = array(X, dtype), helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    yield "Binarizer", [x], [kind], {"threshold": 1.0}
    yield "FeatureVectorizer", [x, x], [FLOAT], {"inputdimensions": [3, 3]}
    if np.dtype(dtype).kind == "f":
        yield "Imputer", [x], [kind], {"imputed_value_floats": [7.0], "replaced_value_float": 1.0}
    else:
        yield "Imputer", [x], [kind], {"imputed_value_int64s": [7], "replaced_value_int64": 1}
    linear = {"coefficients": [1.0, 2.0, -1.0, 0.5, -2.0, 1.0], "intercepts": [0.5, 1.0]}
    yield "LinearRegressor", [x], [FLOAT], {**linear, "targets": 2}
    yield "Normalizer", [x], [FLOAT], {"norm": "L1"}
    yield "Scaler", [x], [FLOAT], {"offset": [1.0, 2.0, 0.0], "scale": [2.0, 0.5, 4.0]}
    vectors = {
        "support_vectors": [1.0, 0.0, 2.0, 0.0, 3.0, 1.0],
        "kernel_type": "LINEAR",
        "kernel_params": [1.0, 0.0, 1.0],
        "rho": [0.25],
    }
    yield "SVMRegressor", [x], [FLOAT], {**vectors, "coefficients": [0.5, -1.5], "n_supports": 2}
    yield "TreeEnsembleRegressor", [x], [FLOAT], {**BRANCHES, **votes("target"), "n_targets": 3}
    classes = {"coefficients": [1.0, 2.0, -1.0, 0.5, -2.0, 1.0, 0.0, 1.0, 0.25], "intercepts": [0.5, 1.0, 0.0]}
    for name, labels in LABELS.items():
        kinds = [INT64 if name == "ints" else STRING, FLOAT]
        yield "LinearClassifier", [x], kinds, {**classes, f"classlabels_{name}": labels}
        tree = {**BRANCHES, **votes("class"), f"classlabels_{'int64s' if name == 'ints' else name}": labels}
        yield "TreeEnsembleClassifier", [x], kinds, tree
        pair = {"vectors_per_class": [1, 1], "coefficients": [0.5, -1.5], f"classlabels_{name}": labels[:2]}
        yield "SVMClassifier", [x], kinds, {**vectors, **pair}


def made() -> Iterator[Made]:
    for dtype in NUMBERS:
        yield from of_numbers(dtype)
    for dtype in (*NUMBERS, object):
        x, kind = array(X, dtype), STRING if dtype is object else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        yield "ArrayFeatureExtractor", [x, np.array([2, 0])], [kind], {}
        categories = {"cats_strings": ["0", "2", "3"]} if dtype is object else {"cats_int64s": [0, 2, 3]}
        yield "OneHotEncoder", [x], [FLOAT], categories
    for dtype in (*NUMBERS, np.int16, object):
        for source, target in ((dtype, np.int64), (np.int64, dtype)):
            values, default = array([10, 20, 30], target), array([-1], target)
            tensors = {"keys_tensor": array([0, 1, 3], source), "values_tensor": values, "default_tensor": default}
            attributes = {name: numpy_helper.from_array(one, name) for name, one in tensors.items()}
            yield "LabelEncoder", [array(X, source)], [numpy_helper.from_array(values).data_type], attributes
    for dtype in (np.float16, np.float32, np.float64):
        tensors = {"nodes_splits": np.array([1, 1.5], dtype), "leaf_weights": np.array([1, 2, 3], dtype)}
        tree: dict[str, Any] = {name: numpy_helper.from_array(one, name) for name, one in tensors.items()}
        tree["nodes_modes"] = numpy_helper.from_array(np.array([0, 0], np.uint8), "nodes_modes")
        tree |= {"tree_roots": [0], "nodes_featureids": [0, 1], "leaf_targetids": [0, 1, 2], "n_targets": 3}
        tree |= {"nodes_truenodeids": [1, 1], "nodes_trueleafs": [0, 1]}
        tree |= {"nodes_falsenodeids": [0, 2], "nodes_falseleafs": [1, 1]}
        yield "TreeEnsemble", [array(X, dtype)], [helper.np_dtype_to_tensor_dtype(np.dtype(dtype))], tree


def model_of(op_type: str, inputs: list[np.ndarray], outputs: list[int], attributes: dict[str, Any]) -> onnx.ModelProto:
    """Return a model of one node, whose inputs are x0, x1, ... and whose outputs y0, ..."""
    names, results = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(len(outputs))]
    node = helper.make_node(op_type, names, results, domain="ai.onnx.ml", **attributes)
    kinds = [numpy_helper.from_array(one).data_type for one in inputs]
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(*info, one.shape) for *info, one in zip(names, kinds, inputs, strict=True)],
        [helper.make_tensor_value_info(*info, None) for info in zip(results, outputs, strict=True)],
    )
    version = 5 if op_type == "TreeEnsemble" else 4
    imports = [helper.make_opsetid("ai.onnx.ml", version), helper.make_opsetid("", 22)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def expected(op_type: str, inputs: list[np.ndarray], outputs: list[int], attributes: dict[str, Any]) -> list[Any]:
    """Return what the reference gives.

    It knows no text as labels of support vector machines, and rounds sums of whole numbers to whole numbers.
    """
    if outputs[-1] == FLOAT and inputs[0].dtype.kind == "i":
        inputs = [one.astype(np.float32) for one in inputs]
    texts = attributes.get("classlabels_strings") if op_type == "SVMClassifier" else None
    if texts:
        known = {name: value for name, value in attributes.items() if name != "classlabels_strings"}
        known["classlabels_ints"] = list(range(len(texts)))
        labels, scores = expected(op_type, inputs, [INT64, FLOAT], known)
        return [np.array(texts, object)[labels], scores]
    feeds = {f"x{i}": one for i, one in enumerate(inputs)}
    found = ReferenceEvaluator(model_of(op_type, inputs, outputs, attributes)).run(None, feeds)
    types = [object if kind == STRING else helper.tensor_dtype_to_np_dtype(kind) for kind in outputs]
    return [np.asarray(value, dtype) for value, dtype in zip(found, types, strict=True)]


def ml_cases() -> list[Case]:
    """Return the cases, as those of the node tests."""
    cases = []
    for op_type, inputs, outputs, attributes in made():
        model = model_of(op_type, inputs, outputs, attributes)
        results = expected(op_type, inputs, outputs, attributes)
        names = [value.name for value in model.graph.input]
        cases.append(Case(op_type, op_type, "", model.SerializeToString(), 1, names, [(inputs, results)], 2e-6, 0))
    return cases
