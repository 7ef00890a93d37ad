# SPDX-License-Identifier: Apache-2.0
"""Cases for every operator and element type that the plugin has, made of the node tests of the onnx package.

A node test that has the type is taken as it is; else the data of some are cast to the type.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from ml_cases import ml_cases
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_plugin.operators import supported_operators
from onnx_node_cases import Case, load_cases
from type_references import FLOATS, as_type, element_of, expected_results

Binding = tuple[str, str]  # a type parameter, or a type that the schema fixes, and the element type
Key = tuple[str, str, str]  # operator and binding

# Attributes that tell the type of an output, as a number or by a tensor of that type.
TYPE_ATTRIBUTES = {
    **{(f"{name}Window", "T2"): "output_datatype" for name in ("Blackman", "Hamming", "Hann")},
    ("Bernoulli", "T2"): "dtype",
    ("BitCast", "T2"): "to",
    ("Cast", "T2"): "to",
    ("Constant", "T"): "value",
    ("ConstantOfShape", "T2"): "value",
    ("DequantizeLinear", "T3"): "output_dtype",
    ("EyeLike", "T2"): "dtype",
    ("LayerNormalization", "U"): "stash_type",
    ("MelWeightMatrix", "T3"): "output_datatype",
    ("Multinomial", "T2"): "dtype",
    ("RandomNormal", "T"): "dtype",
    ("RandomNormalLike", "T2"): "dtype",
    ("RandomUniform", "T"): "dtype",
    ("RandomUniformLike", "T2"): "dtype",
}
# Type parameters that ONNX Runtime wants the same type for.
SAME_TYPE = {"OptionalGetElement": ("O", "V"), "RMSNormalization": ("T", "V")}
# Operators that onnx.reference computes in float32 whatever their types, and what it may be off by.
OF_FLOAT32 = {"AffineGrid": 1e-6, "DeformConv": 1e-6}


@dataclass
class TypedCase:
    """A model of one node, what it is fed, and what should come out."""

    name: str
    op_type: str
    bindings: set[Binding]
    model: onnx.ModelProto
    feeds: dict[str, Any]
    expected: list[Any]
    tolerance: float = 0  # beyond that of the type


def element_name(number: int) -> str:
    return str(TensorProto.DataType.Name(number)).lower()


def element_number(name: str) -> int:
    return int(TensorProto.DataType.Value(name.upper()))


def bit_width(element: str) -> int:
    if element == "bool":
        return 8
    if element in ("float", "double"):
        return 32 if element == "float" else 64
    return int(re.findall(r"\d+", element)[0])


def parameter(formals: Any, index: int) -> str:
    return str(formals[min(index, len(formals) - 1)].type_str)


class BaseCase:
    """A node test of one node of the newest version that there are kernels for."""

    def __init__(self, case: Case, model: onnx.ModelProto, schema: onnx.defs.OpSchema) -> None:
        self.name = case.name
        self.model = model
        self.schema = schema
        self.node = model.graph.node[0]
        inputs, self.expected = case.data_sets[0]
        self.feeds = {name: value for name, value in zip(case.input_names, inputs, strict=True) if value is not None}
        self.rtol = case.rtol
        self.attributes = {one.name: helper.get_attribute_value(one) for one in self.node.attribute}
        self.has_arrays_only = all(isinstance(value, np.ndarray) for value in [*inputs, *self.expected])
        values = [*model.graph.input, *model.graph.output]
        self.has_tensors_only = all(value.type.HasField("tensor_type") for value in values)

    def rank(self) -> tuple[bool, int]:
        """Return what to sort by: the small ones first, but for those that are trivial."""
        size = sum(value.size for value in self.feeds.values())
        return size < 4, size

    def is_defined_for(self, element: str) -> bool:
        """Return whether it says what to do with elements of a type, and the plugin does it."""
        numbers = [value for name, value in self.attributes.items() if name in ("alpha", "beta")]
        if self.node.op_type == "Gemm" and "int" in element:  # ONNX does not say what is rounded, and when
            return all(float(number).is_integer() for number in numbers)
        if self.node.op_type == "Dropout" and element.startswith("float8"):  # the kernel takes such a ratio unread
            return len(self.node.input) < 3
        if self.node.op_type == "GridSample" and "int" in element:  # the reference rounds the weights
            return self.attributes.get("mode") == b"nearest"
        if self.node.op_type == "BlackmanWindow" and "int" in element:  # else it reaches one, but for rounding
            return self.attributes.get("periodic") == 0
        if self.node.op_type in ("GRU", "RNN") and "lengths" in self.node.input:  # the reference does not read them
            return False
        if self.node.op_type == "TfIdfVectorizer":
            return (element == "string") == ("pool_strings" in self.attributes)
        return element not in ("bool", "string") or "reduction" not in self.attributes

    def bindings(self, model: onnx.ModelProto) -> set[Binding]:
        elements = {value.name: element_of(value.type) for value in [*model.graph.input, *model.graph.output]}
        return {
            (parameter(formals, index), element_name(elements[name]))
            for formals, names in ((self.schema.inputs, self.node.input), (self.schema.outputs, self.node.output))
            for index, name in enumerate(names)
            if elements.get(name)
        }

    def as_it_is(self) -> TypedCase:
        bindings = self.bindings(self.model)
        return TypedCase(self.name, self.node.op_type, bindings, self.model, self.feeds, self.expected, self.rtol)

    def cast(self, where: str, element: str) -> TypedCase | None:
        """Return the case with another element type in the place of a type parameter; None if it has no such place."""
        if self.node.domain == "ai.onnx.ml" or not self.is_defined_for(element):  # ml_cases.py has all types
            return None
        model, feeds = onnx.ModelProto(), dict(self.feeds)
        model.CopyFrom(self.model)
        node, number = model.graph.node[0], element_number(element)
        places = SAME_TYPE.get(node.op_type, (where,))
        changed = {}
        for index, name in enumerate(node.input):
            if name in feeds and parameter(self.schema.inputs, index) in places:
                feeds[name] = cast_values(node.op_type, index, feeds[name], element)
                changed[name] = number
        tolerance = OF_FLOAT32.get(node.op_type, 0.0)
        if node.op_type == "BitCast":
            name, bits = node.input[0], bit_width(element)
            kind = element if where == "T1" else f"uint{bits}"
            changed[name] = element_number(kind)
            values = cast_values(node.op_type, 0, feeds[name], kind).astype(np.float64)
            feeds[name] = as_type(np.abs(values) % (2 if element == "bool" else 8), changed[name])
            set_type_attribute(node, "T2", element if where == "T2" else f"uint{bits}")
        if node.op_type == "Bernoulli":
            feeds[node.input[0]] = np.rint(feeds[node.input[0]])
        if not changed:
            if not set_type_attribute(node, where, element):
                return None
            tolerance = 2**-6 if node.op_type == "LayerNormalization" else 0.0  # it may round to the type inside
        if node.op_type in ("Cast", "CastLike") and where == "T2":
            feeds[node.input[0]] = castable(feeds[node.input[0]], element)
        if node.op_type == "QuantizeLinear":  # what every type of a scale can divide
            x = np.rint(feeds[node.input[0]].astype(np.float64)).clip(-64, 64)
            feeds[node.input[0]] = np.asarray(x.astype(feeds[node.input[0]].dtype))
        set_types(model, changed, {name for index, name in enumerate(node.output)
                                   if parameter(self.schema.outputs, index) in places}, number)  # fmt: skip
        if (where, element) not in self.bindings(model):
            return None
        name = f"{self.name} with {where} {element}"
        expected = expected_results(model, feeds)
        return TypedCase(name, node.op_type, self.bindings(model), model, feeds, expected, tolerance)


def set_types(model: onnx.ModelProto, inputs: dict[str, int], outputs: set[str], number: int) -> None:
    """Give inputs other element types, and outputs those that follow; those named have a number if nothing follows."""
    for value in model.graph.input:
        if value.name in inputs:
            value.type.tensor_type.elem_type = inputs[value.name]
    before = [element_of(value.type) for value in model.graph.output]
    for value in model.graph.output:
        value.ClearField("type")
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    for value, found, old in zip(model.graph.output, inferred.graph.output, before, strict=True):
        value.type.CopyFrom(found.type)
        if not element_of(value.type):
            value.type.tensor_type.elem_type = number if value.name in outputs else old


def set_type_attribute(node: onnx.NodeProto, where: str, element: str) -> bool:
    """Let an attribute ask for the element type; return whether there is one that can."""
    name = TYPE_ATTRIBUTES.get((node.op_type, where))
    if name is None:
        return False
    value: Any = element_number(element)
    if name == "value":
        array = np.array([1]) if node.op_type == "ConstantOfShape" else np.array([[1, 0, 2], [3, 0, 1]])
        value = numpy_helper.from_array(cast_values(node.op_type, 0, array, element), name)
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])
    return True


def castable(array: np.ndarray, element: str) -> np.ndarray:
    """Return values that can be cast: none below zero for unsigned types, no whole floats as text of no one form."""
    if array.dtype.kind in "fV" and (element == "string" or element.startswith("uint")):
        return np.asarray((np.abs(np.rint(np.nan_to_num(array.astype(np.float64)))) % 64 + 0.5).astype(array.dtype))
    return array


def cast_values(op_type: str, index: int, array: np.ndarray, element: str) -> np.ndarray:
    """Return values like those of an array, but such as the element type has and the operator is defined for."""
    if array.dtype.kind in "OUS":
        numbers = np.array([len(str(text)) for text in array.ravel()], np.float64).reshape(array.shape)
    else:
        numbers = array.astype(np.float64)
    if element_number(element) in FLOATS:
        if element == "float16":  # no infinities but those that are in the data
            numbers = np.where(np.isfinite(numbers), numbers.clip(-6e4, 6e4), numbers)
        return as_type(numbers, element_number(element))
    if (op_type, index) in (("QuantizeLinear", 2), ("DequantizeLinear", 2)) and element.startswith("float"):
        return as_type(0 * numbers, element_number(element))  # the reference knows no other zero point
    numbers = np.nan_to_num(numbers)
    if not np.array_equal(numbers, np.rint(numbers)) or element == "bool":
        numbers = np.rint(2 * numbers)
    if element == "bool":
        return np.asarray(numbers % 2 != 0)
    if op_type != "MelWeightMatrix":
        numbers = np.clip(numbers, -6, 6)  # every other type has these
    if element.startswith("uint") or (op_type, index) == ("Pow", 1):
        numbers = np.abs(numbers)
    if op_type in ("Div", "Mod") and index == 1:
        numbers = np.where(numbers == 0, 1, numbers)
    return as_type(numbers, element_number(element))


def without_node_test() -> list[Case]:
    """Return cases for what the onnx package has no node test of. No sum is halfway between two results."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    pool = helper.make_node("GlobalLpPool", ["x"], ["y"], p=3)
    pooled = (np.abs(x.astype(np.float64)) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    conv = helper.make_node("QLinearConv", names, ["y"])
    pixels, weights = rng.integers(0, 9, (1, 2, 4, 4)), rng.integers(0, 9, (3, 2, 2, 2))
    bias = np.array([-20, 0, 300], np.int32)
    sums = np.array([[[[(pixels[0, :, i : i + 2, j : j + 2] * one).sum() for j in range(3)] for i in range(3)]
                      for one in weights]]) + bias.reshape(3, 1, 1)  # fmt: skip
    one, zero = np.array(1, np.float32), np.array(0, np.uint8)
    inputs = [pixels.astype(np.uint8), one, zero, weights.astype(np.uint8), one, zero, np.array(3, np.float32),
              np.array(3, np.uint8), bias]  # fmt: skip
    quantized = np.clip(np.rint(sums / 3) + 3, 0, 255).astype(np.uint8)
    image = rng.standard_normal((1, 2, 4, 4)).astype(np.float32)
    rois = helper.make_node("MaxRoiPool", ["x", "rois"], ["y"], pooled_shape=[2, 2])
    whole = np.array([[0, 0, 0, 3, 3]], np.float32)
    choice = helper.make_node("Multinomial", ["x"], ["y"], sample_size=4, seed=1.0)
    sure = np.array([[0, -300, -300], [-300, -300, 0], [-300, 0, -300]], np.float32)
    cases = [(pool, [x], pooled.astype(np.float32)), (conv, inputs, quantized),
             (rois, [image, whole], image.reshape(1, 2, 2, 2, 2, 2).max((3, 5))),
             (choice, [sure], np.array([[0] * 4, [2] * 4, [1] * 4], np.int32))]  # fmt: skip
    parts = np.fft.fft(x[0, 0], axis=0)
    dft = helper.make_node("DFT", ["x", "n"], ["y"])
    parts = np.stack([parts.real, parts.imag], -1).astype(np.float32)
    cases.append((dft, [x[0, 0].T[:, :, None], np.array(4)], parts.transpose(1, 0, 2)))
    pool_of = {"pool_strings": ["a", "b", "c"], "ngram_counts": [0], "ngram_indexes": [0, 1, 2], "mode": "TF"}
    counts = helper.make_node(
        "TfIdfVectorizer", ["x"], ["y"], min_gram_length=1, max_gram_length=1, max_skip_count=0, **pool_of
    )
    cases.append((counts, [np.array(["a", "d", "a", "c"], object)], np.array([2, 0, 1], np.float32)))
    steps, length = x[0, :2, :1, :2], np.array([1], np.int32)  # the second step is beyond the length
    for kind, gates in (("RNN", 1), ("GRU", 3)):
        weights, again = (rng.standard_normal((1, 3 * gates, n)).astype(np.float32) for n in (2, 3))
        linear = steps[0] @ weights[0].T
        state = np.tanh(linear[:, -3:]) * (1 if kind == "RNN" else 1 - 1 / (1 + np.exp(-linear[:, :3])))
        layer = helper.make_node(kind, ["x", "w", "r", "", "lengths"], ["", "y"], hidden_size=3)
        cases.append((layer, [steps, weights, again, length], state[None]))
    for kind, draw in (("Normal", "standard_normal"), ("Uniform", "random_sample")):
        drawn = getattr(np.random.RandomState(7), draw)((2, 3, 4, 5)).astype(np.float32)
        cases.append((helper.make_node(f"Random{kind}", [], ["y"], shape=drawn.shape, seed=7.0), [], drawn))
        cases.append((helper.make_node(f"Random{kind}Like", ["x"], ["y"], seed=7.0, dtype=1), [x], drawn))
    made = []
    for node, feeds, result in cases:
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in [*zip(filter(None, node.input), feeds, strict=True), ("y", result)]
        ]
        graph = helper.make_graph([node], "g", infos[:-1], infos[-1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8).SerializeToString()
        made.append(
            Case(node.op_type, node.op_type, "", model, 1, [*filter(None, node.input)], [(feeds, [result])], 2e-6, 0)
        )
    return made


def base_cases() -> dict[str, list[BaseCase]]:
    """Return the cases to start from by operator."""
    table = supported_operators()
    found: dict[str, list[BaseCase]] = defaultdict(list)
    for case in [*load_cases(), *without_node_test(), *ml_cases()]:
        model = onnx.load_model_from_string(case.model)
        node = model.graph.node[0]
        if case.node_count != 1 or node.domain not in ("", "ai.onnx", "ai.onnx.ml") or node.op_type not in table:
            continue
        domain = node.domain.removesuffix("ai.onnx")
        opset = max(entry.version for entry in model.opset_import if entry.domain.removesuffix("ai.onnx") == domain)
        base = BaseCase(case, model, onnx.defs.get_schema(node.op_type, opset, domain))
        if base.schema.since_version == max(table[node.op_type]) and base.has_arrays_only:
            found[node.op_type].append(base)
    for bases in found.values():
        bases.sort(key=BaseCase.rank)
    return found


def table_keys() -> set[Key]:
    """Return every operator with every type parameter and element type of its newest version."""
    return {
        (op_type, where, element)
        for op_type, versions in supported_operators().items()
        for where, elements in versions[max(versions)].types.items()
        for element in elements
    }


def candidates(bases: list[BaseCase], where: str, element: str) -> Iterator[TypedCase]:
    """Yield cases of an operator with an element type in one place, first those that nothing was changed of."""
    for base in bases:
        if base.has_tensors_only and base.node.op_type != "Bernoulli" and (where, element) in base.bindings(base.model):
            yield base.as_it_is()
    for base in bases:
        try:
            case = base.cast(where, element)
        except Exception:  # onnx.reference does not compute it; it may compute the next
            continue
        if case is not None:
            yield case
