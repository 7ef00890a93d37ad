# SPDX-License-Identifier: Apache-2.0
"""What a model of one node should give, whatever its element types: onnx.reference in types that it computes well in.

Floats are computed in float64 and rounded once, at the end: in the halves the reference rounds after every step, and
where types are mixed it computes in the smaller.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)

Attributes = dict[str, Any]


def _gelu(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    if attributes.get("approximate", b"none") == b"tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def _group_normalization(attributes: Attributes, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
    groups = x.reshape(len(x), attributes["num_groups"], -1)
    centred = groups - groups.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + attributes.get("epsilon", 1e-5))
    channels = (-1, *[1] * (x.ndim - 2))
    return normal.reshape(x.shape) * scale.reshape(channels) + bias.reshape(channels)


def _global_lp_pool(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    p = attributes.get("p", 2)
    return (np.abs(x) ** p).sum(tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)


def _mean_variance_normalization(attributes: Attributes, x: np.ndarray) -> np.ndarray:
    axes = tuple(attributes.get("axes", (0, 2, 3)))
    return (x - x.mean(axes, keepdims=True)) / (x.std(axes, keepdims=True) + 1e-9)


def _max_roi_pool(_: Attributes, x: np.ndarray, __: np.ndarray) -> np.ndarray:
    """Of the whole of one image of four rows and columns, to two rows and columns."""
    return x.reshape(1, -1, 2, 2, 2, 2).max((3, 5))


# Operators that onnx.reference does not have, or not in float64: it has constants or steps of float32 in them.
NUMPY: dict[str, Callable[..., np.ndarray]] = {
    "Bernoulli": lambda _, x: x,  # of certain events
    "Erf": lambda _, x: np.vectorize(math.erf)(x),
    "Gelu": _gelu,
    "GlobalLpPool": _global_lp_pool,
    "GroupNormalization": _group_normalization,
    "HardSwish": lambda _, x: x * np.clip(x / 6 + 0.5, 0, 1),
    "MaxRoiPool": _max_roi_pool,
    "MeanVarianceNormalization": _mean_variance_normalization,
    "Multinomial": lambda attributes, x: x.argmax(1, keepdims=True).repeat(attributes["sample_size"], 1),  # the same
}
# Old names, of which onnx.reference has the new ones, each with a version that means the same.
NEW_NAMES = {"Scatter": ("ScatterElements", 16)}


def element_of(kind: onnx.TypeProto) -> int:
    """Return the number of the element type of a tensor, or of the tensors in a sequence or an optional."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return element_of(kind.sequence_type.elem_type)
    if which == "optional_type":
        return element_of(kind.optional_type.elem_type)
    return int(kind.tensor_type.elem_type)


def as_type(array: Any, number: int) -> np.ndarray:
    """Return an array of an element type; strings are those of whole numbers, or empty for the zeros among strings."""
    array = np.asarray(array)
    if number != TensorProto.STRING:
        return np.asarray(array.astype(helper.tensor_dtype_to_np_dtype(number)))
    if array.dtype.kind in "OUS":
        return np.array([one if isinstance(one, str) else "" for one in array.ravel()], object).reshape(array.shape)
    return np.array([str(int(value)) for value in array.ravel()], object).reshape(array.shape)


def evaluated(model: onnx.ModelProto, feeds: dict[str, np.ndarray], stand_ins: dict[int, int]) -> list[Any]:
    """Return what onnx.reference or numpy gives, with other element types in the place of some."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    arrays = dict(feeds)
    for value in changed.graph.input:
        number = value.type.tensor_type.elem_type
        if number in stand_ins and value.name in arrays:
            value.type.tensor_type.elem_type = stand_ins[number]
            arrays[value.name] = as_type(arrays[value.name], stand_ins[number])
    node = changed.graph.node[0]
    if node.op_type in NUMPY:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        return [NUMPY[node.op_type](attributes, *(arrays[name] for name in node.input))]
    if node.op_type in NEW_NAMES:
        node.op_type, changed.opset_import[0].version = NEW_NAMES[node.op_type]
    if node.op_type == "LayerNormalization":  # in float32 whatever `stash_type` says: it has no other
        kept = [attribute for attribute in node.attribute if attribute.name != "stash_type"]
        del node.attribute[:]
        node.attribute.extend(kept)
    return list(ReferenceEvaluator(changed).run(None, arrays))


def expected_results(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return the results in the types of the outputs of the model."""
    is_bits = model.graph.node[0].op_type == "BitCast"
    floats = {} if is_bits else dict.fromkeys(FLOATS, int(TensorProto.DOUBLE))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = evaluated(model, feeds, floats)
        except Exception:
            # The reference cannot compute with strings and truth values; what only moves elements moves numbers too.
            numbers = dict.fromkeys((TensorProto.STRING, TensorProto.BOOL), int(TensorProto.INT64))
            results = evaluated(model, feeds, floats | numbers)
        types = [element_of(value.type) for value in model.graph.output]
        return [as_type(value, number) for value, number in zip(results, types, strict=True)]
