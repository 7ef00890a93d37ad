# SPDX-License-Identifier: Apache-2.0
"""Shapes with symbols, shapes computed from shapes, and bodies of control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

# Start, end, axis and step of every second column from the last one to the first.
BACKWARDS = {"start": np.array([-1]), "end": np.array([-100]), "axis": np.array([1]), "step": np.array([-2])}
INDICES = np.zeros((1, 2, 3, 4), np.int64)
SQUARE = {"kernel_shape": [2, 2]}
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def infer(
    dump: Any, nodes: list[onnx.NodeProto], inputs: dict[str, Any], constants: dict[str, Any] | None = None
) -> Any:
    """Return type and shape of every value by name. Inputs are float tensors of the given shapes."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=nodes[-1].output[0])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()],
    )
    answer = dump(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    assert "error" not in answer, answer
    return {value["name"]: (value["type"], value["shape"]) for value in answer["graph"]["values"]}


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


@pytest.mark.parametrize(("op", "inputs", "constants", "attributes", "expected"), [
    ("Relu", {"a": ["n", 3]}, {}, {}, ["n", 3]),
    ("Relu", {"a": None}, {}, {}, None),
    ("Add", {"a": ["n", 1], "b": [1, "m"]}, {}, {}, ["n", "m"]),
    ("Add", {"a": ["n", 3], "b": ["n", 1]}, {}, {}, ["n", 3]),
    ("Add", {"a": ["n"], "b": ["m"]}, {}, {}, [None]),
    ("Add", {"a": ["n"], "b": [4]}, {}, {}, [4]),
    ("MatMul", {"a": ["b", "n", 4], "b": [4, "k"]}, {}, {}, ["b", "n", "k"]),
    ("MatMul", {"a": [4], "b": ["b", 4, 5]}, {}, {}, ["b", 5]),
    ("Gemm", {"a": [4, "n"], "b": ["k", 4]}, {}, {"transA": 1, "transB": 1}, ["n", "k"]),
    ("Transpose", {"a": ["n", 2, "m"]}, {}, {"perm": [2, 0, 1]}, ["m", "n", 2]),
    ("Flatten", {"a": ["n", 2, 3]}, {}, {}, ["n", 6]),
    ("Flatten", {"a": ["n", 2, "m"]}, {}, {"axis": 2}, [None, "m"]),
    ("Reshape", {"a": ["n", 2, 3]}, {"s": np.array([0, -1])}, {}, ["n", 6]),
    ("Reshape", {"a": ["n", 2, 3]}, {"s": np.array([-1, 6])}, {}, [None, 6]),
    ("Reshape", {"a": [4, 0, 3]}, {"s": np.array([0, 2])}, {"allowzero": 1}, [0, 2]),
    ("Concat", {"a": ["n", 2], "b": ["n", 3]}, {}, {"axis": 1}, ["n", 5]),
    ("Concat", {"a": ["n", 2], "b": [4, 2]}, {}, {"axis": 0}, [None, 2]),
    ("ReduceSum", {"a": ["n", 2, "m"]}, {"axes": np.array([-1])}, {"keepdims": 0}, ["n", 2]),
    ("Softmax", {"a": ["n", 5]}, {}, {}, ["n", 5]),
    ("Conv", {"x": ["n", 3, 8, "w"], "k": [6, 3, 3, 3]}, {}, {"pads": [1, 1, 1, 1]}, ["n", 6, 8, None]),
    ("GlobalAveragePool", {"x": ["n", 3, 8, "w"]}, {}, {}, ["n", 3, 1, 1]),
    ("Det", {"x": ["n", 2, "m", 3]}, {}, {}, ["n", 2]),
    ("Det", {"x": [3, 3]}, {}, {}, []),
    ("Det", {"x": None}, {}, {}, None),
    ("Einsum", {"a": ["n", 3], "b": [3, "m"]}, {}, {"equation": "ij,jk->ki"}, ["m", "n"]),
    ("Einsum", {"a": [5, 2, 3, 4], "b": [2, 4, 7]}, {}, {"equation": "...ij,...jk"}, [5, 2, 3, 7]),
    ("Einsum", {"a": ["b", 3, 4], "b": None}, {}, {"equation": "...ij,...jk->...ik"}, None),
    ("Einsum", {"a": ["b", 3, 1], "b": None}, {}, {"equation": "bij,jk->ijk"}, [3, None, None]),
    ("Einsum", {"a": [1, 3], "b": [4, 1]}, {}, {"equation": "ij,ij->ji"}, [3, 4]),
    ("Einsum", {"a": ["n", "n", 2]}, {}, {"equation": "iij"}, [2]),
    ("Einsum", {"a": ["n", 2]}, {}, {"equation": "ij->"}, []),
    ("MaxUnpool", {"x": ["n", 2, 3, "w"]}, {"i": INDICES}, {**SQUARE, "strides": [2, 2]}, ["n", 2, 6, None]),
    ("MaxUnpool", {"x": ["n", 2, 3, 4]}, {"i": INDICES}, {**SQUARE, "pads": [1, 0, 0, 0]}, ["n", 2, 3, 5]),
    ("MaxUnpool", {"x": [1, 2, 3, 4]}, {"i": INDICES, "s": np.array([1, 2, 7, 9])}, SQUARE, [1, 2, 7, 9]),
    ("GRU", {"x": ["t", 5, 3], "w": None, "r": [2, 12, 4]}, {}, {"direction": "bidirectional"}, ["t", 2, 5, 4]),
    ("LSTM", {"x": ["b", "t", 3], "w": [1, 16, 3], "r": None}, {}, {"layout": 1, "hidden_size": 4}, ["b", "t", 1, 4]),
    ("RNN", {"x": ["t", "b", 3], "w": None, "r": None}, {}, {}, ["t", 1, "b", None]),
    ("Slice", {"a": ["n", 9]}, BACKWARDS, {}, ["n", 5]),
    ("Slice", {"a": ["n", 0]}, BACKWARDS, {}, ["n", 0]),
    ("Squeeze", {"a": ["n", 1, 3]}, {"axes": np.zeros(0, np.int64)}, {}, None),
    ("Squeeze", {"a": [1, 2, 1]}, {"axes": np.zeros(0, np.int64)}, {}, [2]),
    ("PRelu", {"a": ["n", 1, 1], "slope": [5, 3]}, {}, {}, ["n", 5, 3]),
    ("Expand", {"a": ["n", 1]}, {"s": np.array([2, 1, 3])}, {}, [2, "n", 3]),
])  # fmt: skip
def test_shapes(dump: Any, op: str, inputs: Any, constants: Any, attributes: Any, expected: Any) -> None:
    call = helper.make_node(op, [*inputs, *constants], ["y"], **attributes)
    assert infer(dump, [call], inputs, constants)["y"] == ("tensor(float)", expected)


@pytest.mark.parametrize(("opset", "op", "inputs", "attributes", "expected"), [
    (23, "Attention", {"q": ["b", 8, "n", 4], "k": ["b", 2, "m", 4], "v": ["b", 2, "m", 5]}, {}, ["b", 8, "n", 5]),
    (24, "Attention", {"q": ["b", "n", 32], "k": ["b", "m", 8], "v": ["b", "m", 10]},
     {"q_num_heads": 8, "kv_num_heads": 2}, ["b", "n", 40]),
    (24, "TensorScatter", {"past": ["b", 2, "m", 4], "update": ["b", 2, 1, 4]}, {}, ["b", 2, "m", 4]),
])  # fmt: skip
def test_shapes_of_newer_operators(dump: Any, opset: int, op: str, inputs: Any, attributes: Any, expected: Any) -> None:
    graph = helper.make_graph(
        [helper.make_node(op, list(inputs), ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name="y")],
    )
    answer = dump(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]))
    (shape,) = [value["shape"] for value in answer["graph"]["values"] if value["name"] == "y"]
    assert shape == expected


@pytest.mark.parametrize(("op", "inputs", "attributes", "reason"), [
    ("Det", {"x": ["n", 2, 3]}, {}, "square matrices"),
    ("Einsum", {"a": [2, 3], "b": [4, 2]}, {"equation": "ij,jk"},
     "input 1 (Inputs): extents must be equal or 1 to broadcast with [3], got [4]"),
    ("Einsum", {"a": [2, 3]}, {"equation": "ijk"}, "input 0: must have 3 axes for its term"),
    ("Einsum", {"a": [2, 3]}, {"equation": "ij,jk"}, "a term for each of the 1 inputs, got 'ij,jk'"),
    ("ReduceSum", {"a": [2, 3]}, {"axes": [1, -1]}, "attribute axes: must be distinct, got axis 1 twice in"),
    ("ReduceSum", {"a": [2, 3]}, {"axes": [1, 2]}, "attribute axes: must be in [-2, 1] for rank 2, got 2"),
    ("ArgMax", {"a": []}, {"axis": 1}, "attribute axis: there is no axis in a scalar, got 1"),
    ("Add", {"a": [2, 3], "b": [4]}, {}, "input 1 (B): extents must be equal or 1 to broadcast with [2, 3], got [4]"),
    ("Sum", {"a": [2, 1], "b": [3], "c": [4, 2]}, {}, "input 2 (data_0): extents must be equal or 1 to broadcast with"),
    ("MatMul", {"a": [2, 3, 4], "b": [5, 4, 6]}, {}, "input 1 (B): extents must be equal or 1 to broadcast with [2]"),
    ("MatMul", {"a": [2, 3], "b": []}, {}, "input 1 (B): must have at least rank 1, got a scalar"),
    ("Gemm", {"a": [3, 2], "b": [2, 4]}, {"transA": 1},
     "input 1 (B): must have as many rows as input 0 (A) has columns, transposed, [3, 2], got [2, 4]"),
    ("Gemm", {"a": [3, 2], "b": [2]}, {}, "input 1 (B): must have rank 2, got [2]"),
    ("Split", {"a": [4]}, {"split": [1, 3]}, "attribute split: must have one entry per output, 1, got [1, 3]"),
    ("Split", {"a": [4]}, {"axis": 1}, "attribute axis: must be in [-1, 0] for rank 1, got 1"),
    ("Flatten", {"a": [2, 3]}, {"axis": 3}, "attribute axis: must be in [-2, 2] for rank 2, got 3"),
    ("Squeeze", {"a": [2, 1]}, {"axes": [0]}, "attribute axes: axis 0 of input 0 must have extent 1, got [2, 1]"),
    ("Transpose", {"a": [2, 3]}, {"perm": [0]}, "attribute perm: must have 2 entries, got [0]"),
    ("Transpose", {"a": [2, 3]}, {"perm": [0, 5]}, "attribute perm: must be in [-2, 1] for rank 2, got 5"),
    ("Concat", {"a": [2, 3], "b": [3]}, {"axis": 0}, "input 1 (inputs): must have rank 2, got [3]"),
    ("Concat", {"a": [2, 3], "b": [2, 4]}, {"axis": 0}, "input 1 (inputs): must agree with [2, 3] except along axis 0"),
    ("RandomNormal", {}, {"shape": [2, -1]}, "attribute shape: extents must not be negative, got [2, -1]"),
])  # fmt: skip
def test_shapes_that_do_not_fit(dump: Any, op: str, inputs: Any, attributes: Any, reason: str) -> None:
    call = helper.make_node(op, list(inputs), ["y"], name="odd", **attributes)
    ends = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph([call], "g", ends, [onnx.ValueInfoProto(name="y")])
    answer = dump(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)]))
    assert answer["code"] == "InvalidGraph"
    assert reason in answer["error"]
    assert "'odd'" in answer["error"]


@pytest.mark.parametrize(("op", "shape", "constants", "reason"), [
    ("Expand", [2], {1: [3]}, "input 1 (shape): extents must be equal or 1 to broadcast with [2], got [3]"),
    ("Expand", [2], {1: [-3]}, "input 1 (shape): extents must not be negative, got [-3]"),
    ("Reshape", [2, 3], {1: [4]}, "input 1 (shape): must have as many elements as input 0, [2, 3], got [4]"),
    ("Reshape", [2, 3], {1: [-1, -1]}, "input 1 (shape): at most one extent may be -1, got [-1, -1]"),
    ("Reshape", [2], {1: [2, 0]}, "input 1 (shape): an extent of 0 is that of input 0, which has rank 1, got [2, 0]"),
    ("Split", [4], {1: [1, 3]}, "input 1 (split): must have one entry per output, 1, got [1, 3]"),
    ("Squeeze", [2, 1], {1: [2]}, "input 1 (axes): must be in [-2, 1] for rank 2, got 2"),
    ("Slice", [2], {1: [0, 0], 2: [1, 1]}, "input 1 (starts): must have at most one entry per axis of input 0, 1, got"),
    ("Slice", [2], {1: [0], 2: [1], 3: [1]}, "input 3 (axes): must be in [-1, 0] for rank 1, got 1"),
    ("Slice", [2], {1: [0], 2: [1], 3: [0], 4: [0]}, "input 4 (steps): must not be 0, got [0]"),
])  # fmt: skip
def test_constants_that_do_not_fit(dump: Any, op: str, shape: Any, constants: Any, reason: str) -> None:
    names = [f"c{i}" for i in constants]
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *names], ["y"], name="odd")],
        "g",
        [helper.make_tensor_value_info("x", FLOAT, shape)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(np.array(value), f"c{i}") for i, value in constants.items()],
    )
    answer = dump(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    assert answer["code"] == "InvalidGraph"
    assert f"node 'odd' ({op}): {reason}" in answer["error"]


def test_a_shape_that_is_computed_from_shapes(dump: Any) -> None:
    """What exporters write for x.reshape(x.shape[0], -1, x.shape[2] * 2)."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s first", "d0"),
        node("Gather", "s third", "d2"),
        node("Mul", "d2 two", "twice"),
        node("Unsqueeze", "d0 axis", "u0"),
        node("Unsqueeze", "twice axis", "u2"),
        node("Concat", "u0 minus_one u2", "target", axis=0),
        node("Reshape", "x target", "y"),
    ]
    constants = {"first": 0, "third": 2, "two": 2, "axis": [0], "minus_one": [-1]}
    arrays = {name: np.array(value, np.int64) for name, value in constants.items()}
    assert infer(dump, nodes, {"x": [4, 6, 5]}, arrays)["y"] == ("tensor(float)", [4, 3, 10])
    assert infer(dump, nodes, {"x": ["n", 6, 5]}, arrays)["y"] == ("tensor(float)", [None, None, None])


def body(inputs: list[str], outputs: list[str], *nodes: onnx.NodeProto) -> onnx.GraphProto:
    """Return a body whose inputs and outputs declare no types."""
    make = [[onnx.ValueInfoProto(name=name) for name in names] for names in (inputs, outputs)]
    return helper.make_graph(nodes, "body", make[0], make[1])


def test_branches_that_agree_in_part(dump: Any) -> None:
    then_branch = body([], ["t"], node("MatMul", "x w", "t"))
    else_branch = body([], ["e"], node("Identity", "x", "e"))
    call = node("If", "c", "y", then_branch=then_branch, else_branch=else_branch)
    values = infer(dump, [call], {"x": ["n", 4]}, {"c": np.array(True), "w": np.ones((4, 3), np.float32)})
    assert values["y"] == ("tensor(float)", ["n", None])


def test_a_loop_carries_and_collects(dump: Any) -> None:
    loop = body(["i", "go", "v"], ["go2", "v2", "s"], node("Identity", "go", "go2"), node("Add", "v x", "v2"),
                node("Cast", "x", "s", to=INT64))  # fmt: skip
    values = infer(
        dump, [node("Loop", "m c x", "y z", body=loop)], {"x": ["n", 4]}, {"m": np.array(3), "c": np.array(True)}
    )
    assert values["y"][0] == "tensor(float)"
    assert values["z"] == ("tensor(int64)", [None, "n", 4])


def test_a_scan_takes_slices(dump: Any) -> None:
    scan = body(["v", "slice"], ["v2", "s"], node("Add", "v slice", "v2"), node("Identity", "slice", "s"))
    call = node("Scan", "w x", "y z", body=scan, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1])
    values = infer(dump, [call], {"x": ["n", 7]}, {"w": np.float32(0)})
    assert values["z"] == ("tensor(float)", ["n", 7])


@pytest.mark.parametrize(("nodes", "expected"), [
    ([node("SequenceConstruct", "x x", "y")], "seq(tensor(float))"),
    ([node("SequenceEmpty", "", "y", dtype=BOOL)], "seq(tensor(bool))"),
    ([node("SplitToSequence", "x", "s"), node("SequenceAt", "s i", "y")], "tensor(float)"),
    ([node("SplitToSequence", "x", "s"), node("ConcatFromSequence", "s", "y", axis=0)], "tensor(float)"),
    ([node("SequenceConstruct", "x", "s"), node("Optional", "s", "y")], "optional(seq(tensor(float)))"),
    ([node("Optional", "x", "o"), node("OptionalGetElement", "o", "y")], "tensor(float)"),
    ([node("Optional", "x", "o"), node("OptionalHasElement", "o", "y")], "tensor(bool)"),
])  # fmt: skip
def test_types_of_sequences_and_optionals(dump: Any, nodes: list[onnx.NodeProto], expected: str) -> None:
    assert infer(dump, nodes, {"x": [2, 3]}, {"i": np.array(0)})["y"][0] == expected


def test_branches_of_different_types(dump: Any) -> None:
    then_branch = body([], ["t"], node("Cast", "x", "t", to=INT64))
    else_branch = body([], ["e"], node("Identity", "x", "e"))
    call = node("If", "c", "y", then_branch=then_branch, else_branch=else_branch)
    with pytest.raises(AssertionError, match="output 0 must have the same type in both"):
        infer(dump, [call], {"x": [1]}, {"c": np.array(True)})
