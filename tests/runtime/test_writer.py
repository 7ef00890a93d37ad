# SPDX-License-Identifier: Apache-2.0
"""What the writer writes, the onnx package reads as the model that it was."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper


def rewrite(*models: onnx.ModelProto) -> list[onnx.ModelProto]:
    """Return the models as the runtime writes them after it has read them."""
    program = Path(os.environ["ONNX_LIGHT_ORT_BUILD"], "packages", "runtime", "tests", "light_rewrite")
    given = [model.SerializeToString() for model in models]
    stream = b"".join(struct.pack("<I", len(data)) + data for data in given)
    written = subprocess.run([program], input=stream, capture_output=True, check=True).stdout
    found = []
    while written:
        (size,) = struct.unpack_from("<I", written)
        found.append(onnx.ModelProto.FromString(written[4 : 4 + size]))
        written = written[4 + size :]
    return found


def model_of(*nodes: onnx.NodeProto, **parts: object) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "g", [], [], **parts)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


ARRAYS = [
    np.array([[1.5, -2], [0, np.nan]], np.float32),
    np.array([], np.float64),
    np.array(7, np.int64),
    np.array([True, False]),
    np.array([1 + 2j], np.complex64),
    np.array([2**64 - 1], np.uint64),
    np.array([-1, 7, -8]).astype(ml_dtypes.int4),
    np.array([1.5, -2]).astype(ml_dtypes.bfloat16),
    np.array([1.5, -2]).astype(ml_dtypes.float8_e4m3fn),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_tensors(array: np.ndarray) -> None:
    weight = numpy_helper.from_array(array, "w")
    model = model_of(
        helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(array)), initializer=[weight]
    )
    assert rewrite(model) == [model]


def test_strings() -> None:
    weight = helper.make_tensor("w", TensorProto.STRING, [3], [b"", "é".encode(), b"\xff\0"])
    model = model_of(initializer=[weight])
    assert rewrite(model) == [model]


BODY = helper.make_graph(
    [helper.make_node("Identity", ["outer"], ["z"])], "body", [], [helper.make_tensor_value_info("z", 1, [])]
)
ATTRIBUTES = {
    "float": 1.5,
    "zero": 0,
    "negative": -1,
    "large": 2**63 - 1,
    "text": "é",
    "no_text": "",
    "bytes": b"\xff\0",
    "tensor": numpy_helper.from_array(np.arange(3, dtype=np.int32)),
    "graph": BODY,
    "floats": [0.5, -np.inf],
    "ints": [0, -(2**63)],
    "strings": [b"", b"\xff"],
    "tensors": [numpy_helper.from_array(np.float32([1])), numpy_helper.from_array(np.array(2, np.int8))],
    "graphs": [BODY, BODY],
    "type": helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2])),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name: str) -> None:
    node = helper.make_node("Op", ["x", "", "z"], ["", "y"], "n", domain="my", **{name: ATTRIBUTES[name]})
    assert rewrite(model_of(node)) == [model_of(node)]


@pytest.mark.parametrize("kind", [AttributeProto.FLOATS, AttributeProto.INTS, AttributeProto.STRINGS])
def test_empty_lists_keep_their_kind(kind: int) -> None:
    node = helper.make_node("Op", [], ["y"])
    node.attribute.append(helper.make_attribute("a", [], attr_type=kind))
    assert rewrite(model_of(node)) == [model_of(node)]


TENSOR = helper.make_tensor_type_proto
TYPES = [
    TENSOR(1, None),
    TENSOR(1, []),
    TENSOR(1, [0, "n", None, 3]),
    helper.make_sequence_type_proto(TENSOR(8, None)),
    helper.make_optional_type_proto(helper.make_sequence_type_proto(TENSOR(1, [2]))),
    helper.make_map_type_proto(TensorProto.INT64, TENSOR(1, None)),
    helper.make_sparse_tensor_type_proto(1, [2, 3]),
    TypeProto(),
]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: str(kind.WhichOneof("value")))
def test_types(kind: TypeProto) -> None:
    model = model_of(value_info=[helper.make_value_info("v", kind)])
    model.graph.input.append(helper.make_value_info("x", kind))
    model.graph.output.append(helper.make_value_info("y", kind))
    assert rewrite(model) == [model]


def test_what_a_model_says_of_itself_and_functions() -> None:
    referring = helper.make_node("LeakyRelu", ["x"], ["y"])
    attribute = helper.make_attribute("alpha", 1.0)
    attribute.ClearField("f")
    attribute.ref_attr_name = "slope"
    referring.attribute.append(attribute)
    function = helper.make_function(
        "my", "F", ["x"], ["y"], [referring], [helper.make_opsetid("", 21)], ["slope"], [helper.make_attribute("b", 2)]
    )
    function.overload = "o"
    call = helper.make_node("F", ["x"], ["y"], domain="my", overload="o", slope=0.5)
    graph = helper.make_graph([call], "g", [], [], doc_string="graph")
    model = helper.make_model(
        graph,
        functions=[function],
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("my", 3)],
        ir_version=10,
        producer_name="p",
        producer_version="1",
        domain="d",
        model_version=-5,
        doc_string="model",
    )
    helper.set_model_props(model, {"k": "v", "": ""})
    assert rewrite(model, model) == [model, model]
