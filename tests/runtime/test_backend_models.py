# SPDX-License-Identifier: Apache-2.0
"""Every single-node model of onnx's own backend tests builds, and inference agrees with what the model declares."""

from __future__ import annotations

import warnings
from typing import Any

import onnx
import pytest
from onnx.backend.test.case import node as node_cases

# What no model of the backend tests may use for a refusal: everything else is an error of ours.
UNSUPPORTED = ("sparse", "no such element type is known")


@pytest.fixture(scope="module")
def models() -> list[tuple[str, onnx.ModelProto]]:
    """The models of the backend node tests with their names. Making them takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases overflow on purpose while they compute what to expect
        cases = node_cases.collect_testcases(None)
    return [(case.name, case.model) for case in cases if case.model is not None]


def type_string(proto: onnx.TypeProto) -> str:
    """Write a type as ONNX writes it."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        name = onnx.TensorProto.DataType.Name(proto.tensor_type.elem_type).lower()
        return f"tensor({name})"
    if kind == "sequence_type":
        return f"seq({type_string(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_string(proto.optional_type.elem_type)})"
    if kind == "map_type":
        key = onnx.TensorProto.DataType.Name(proto.map_type.key_type).lower()
        return f"map({key},{type_string(proto.map_type.value_type)})"
    raise ValueError(f"type of kind {kind}")


def declared_extents(proto: onnx.TypeProto) -> list[int | None] | None:
    """Return the extents of a tensor type, None for those that are not numbers; None if there is no shape."""
    if proto.WhichOneof("value") != "tensor_type" or not proto.tensor_type.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else None for d in proto.tensor_type.shape.dim]


def contradicts(ours: list[Any] | None, theirs: list[int | None] | None) -> bool:
    """Tell whether two shapes state different things."""
    if ours is None or theirs is None:
        return False
    if len(ours) != len(theirs):
        return True
    return any(isinstance(a, int) and b is not None and a != b for a, b in zip(ours, theirs, strict=True))


# The operators with native kernels: their shapes must be as well known as onnx's own inference knows them.
PRECISE = frozenset(
    (
        *("Identity", "Cast", "Constant", "Shape", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Concat"),
        *("Slice", "Gather", "Add", "Sub", "Mul", "Div", "Pow", "Neg", "Abs", "Sqrt", "Exp", "Log", "Erf", "Relu"),
        *("Sigmoid", "Tanh", "Softmax", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Where"),
        *("ReduceSum", "ReduceMean", "ReduceMax", "MatMul", "Gemm", "Conv", "MaxPool", "GlobalAveragePool"),
        *("BatchNormalization", "LayerNormalization"),
    )
)


def find_difference(dump: Any, model: onnx.ModelProto) -> str:
    """Return what is wrong with what the runtime makes of a model, or "".

    The declared types of the outputs are taken away first, so that they must follow from the inputs.
    """
    declared = {}
    for output in model.graph.output:
        declared[output.name] = onnx.TypeProto()
        declared[output.name].CopyFrom(output.type)
    for output in model.graph.output:
        output.ClearField("type")
    answer = dump(model)
    if "error" in answer:
        known = answer["code"] == "NotImplemented" and any(reason in answer["error"] for reason in UNSUPPORTED)
        return "" if known else f"{answer['code']}: {answer['error']}"
    values = {value["name"]: value for value in answer["graph"]["values"]}
    for output, type_proto in declared.items():
        ours = values[output]
        if ours["type"] != type_string(type_proto):
            return f"{output} is {ours['type']}, declared {type_string(type_proto)}"
        if contradicts(ours["shape"], declared_extents(type_proto)):
            return f"{output} has the shape {ours['shape']}, declared {declared_extents(type_proto)}"
    return ""


def test_every_model_builds_with_the_declared_types(dump: Any, models: list[tuple[str, onnx.ModelProto]]) -> None:
    assert len(models) > 1500
    differences = [f"{name}: {wrong}" for name, model in models if (wrong := find_difference(dump, model))]
    assert not differences, "\n".join(differences)


def test_shapes_are_as_precise_as_those_of_onnx(dump: Any, models: list[tuple[str, onnx.ModelProto]]) -> None:
    seen = set()
    for name, original in models:
        operators = {node.op_type for node in original.graph.node}
        if not operators <= PRECISE:
            continue
        model = onnx.ModelProto()
        model.CopyFrom(original)
        for output in model.graph.output:
            output.ClearField("type")
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        ours = {value["name"]: value["shape"] for value in dump(model)["graph"]["values"]}
        for info in [*inferred.graph.output, *inferred.graph.value_info]:
            extents = declared_extents(info.type)
            if extents is None:
                continue
            assert ours[info.name] is not None, f"{name}: {info.name} should be {extents}"
            known = [b if b is not None else a for a, b in zip(ours[info.name], extents, strict=True)]
            assert ours[info.name] == known, f"{name}: {info.name}"
        seen |= operators
    assert seen == PRECISE
