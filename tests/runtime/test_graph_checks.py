# SPDX-License-Identifier: Apache-2.0
"""What a node may not do, each refusal with the node, the value and the rule; and what is only warned about."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


def make(
    *nodes: onnx.NodeProto,
    imports: dict[str, int] | None = None,
    inputs: dict[str, int] | None = None,
    output: onnx.ValueInfoProto | None = None,
    ir_version: int = 10,
) -> onnx.ModelProto:
    """Return a model with inputs float[2, 3] named x and z, or those given."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, t, [2, 3]) for n, t in (inputs or {"x": FLOAT, "z": FLOAT}).items()],
        [output or onnx.ValueInfoProto(name="y")],
    )
    model = helper.make_model(graph, ir_version=ir_version)
    model.ClearField("opset_import")
    model.opset_import.extend(helper.make_opsetid(d, v) for d, v in ({"": 21} if imports is None else imports).items())
    return model


def node(op: str, *inputs: str, **kwargs: Any) -> onnx.NodeProto:
    return helper.make_node(op, list(inputs), kwargs.pop("outputs", ["y"]), name="n", **kwargs)


MIXED = {"x": FLOAT, "z": DOUBLE}


@pytest.mark.parametrize(("model", "code", "reason"), [
    (make(node("Relu", "x"), imports={}), "InvalidGraph", "imports no opset"),
    (make(node("Relu", "x"), imports={"": 0}), "InvalidGraph", "must be positive, got 0"),
    (make(node("Relu", "x"), imports={"": 999}), "InvalidGraph", "the newest version of the domain 'ai.onnx' that is"),
    (make(node("Relu", "x"), ir_version=0), "InvalidGraph", "the IR version is missing, got 0"),
    (make(node("Relu", "x"), ir_version=99), "InvalidGraph", "the newest known IR version is"),
    (make(node("Relu", "x"), imports={"other": 1}), "InvalidGraph", "no opset of the domain 'ai.onnx'"),
    (make(node("F", "x", domain="d")), "InvalidGraph", "no opset of the domain 'd'"),
    (make(node("F", "x", domain="d"), imports={"d": 3}), "Fail",
     "the operator 'd.F' of version 3 of the domain 'd' is not known; a library with custom operators may be missing"),
    (make(node("Reluu", "x")), "InvalidGraph", "there is no operator 'Reluu' in version 21 of the domain 'ai.onnx'"),
    (make(node("Gelu", "x"), imports={"": 19}), "InvalidGraph", "'Gelu' does not exist in version 19"),
    (make(node("Upsample", "x", "z")), "InvalidGraph", "'Upsample' was removed in version 10"),
    (make(node("Relu", "x", "z")), "InvalidGraph", "at most 1 inputs, got 2"),
    (make(node("Add", "x")), "InvalidGraph", "at least 2 inputs, got 1"),
    (make(node("Add", "", "x")), "InvalidGraph", "input 0 ('A') is omitted and is not optional"),
    (make(node("Add", "x", "")), "InvalidGraph", "input 1 ('B') is omitted and is not optional"),
    (make(node("Concat", "x", "", axis=0)), "InvalidGraph", "input 1 ('inputs') is omitted and is not optional"),
    (make(node("Relu", "x", outputs=["y", "y2"])), "InvalidGraph", "at most 1 outputs, got 2"),
    (make(node("Relu", "x", alpha=1.0)), "InvalidGraph", "has no attribute 'alpha'"),
    (make(node("Concat", "x", "z")), "InvalidGraph", "the attribute 'axis' is required and missing"),
    (make(node("Concat", "x", "z", axis=0.5)), "InvalidGraph", "attribute 'axis' is of kind int, got float"),
    (make(node("Concat", "x", "z", axis=5)), "InvalidGraph", "attribute axis: must be in [-2, 1] for rank 2, got 5"),
    (make(node("Add", "x", "z"), inputs=MIXED), "InvalidGraph", "input 1 ('B') must have the type of input 0 ('A')"),
    (make(node("And", "x", "z")), "InvalidGraph", "input 0 ('A') must be one of tensor(bool), got tensor(float)"),
    (make(node("Cast", "x", to=0), output=helper.make_tensor_value_info("y", FLOAT, None)), "InvalidGraph",
     "attribute 'to' names no element type, got 0"),
    (make(node("MatMul", "x", "z")), "InvalidGraph",
     "input 1 (B): must have as many rows as input 0 (A) has columns, [2, 3], got"),
    (make(node("Transpose", "x", perm=[0, 0])), "InvalidGraph", "attribute perm: must be a permutation, got [0, 0]"),
    (make(node("Relu", "x"), output=helper.make_tensor_value_info("y", INT64, None)), "InvalidGraph",
     "output 'y' is declared as tensor(int64), but it is a tensor(float)"),
    (make(node("Relu", "x"), inputs={"x": 0}), "InvalidGraph", "the input 'x' has no element type"),
])  # fmt: skip
def test_refusals(dump: Any, model: onnx.ModelProto, code: str, reason: str) -> None:
    answer = dump(model)
    assert answer["code"] == code, answer
    assert reason in answer["error"]
    assert "n' (" in answer["error"] or "the model" in answer["error"] or "graph 'g'" in answer["error"]


def test_an_attribute_given_twice(dump: Any) -> None:
    twice = node("Concat", "x", "z", axis=0)
    twice.attribute.append(helper.make_attribute("axis", 1))
    answer = dump(make(twice))
    assert answer["code"] == "InvalidGraph"
    assert "attribute 'axis' is given twice" in answer["error"]


def test_a_reference_outside_a_function(dump: Any) -> None:
    refers = node("Concat", "x", "z")
    refers.attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="k", type=onnx.AttributeProto.INT))
    answer = dump(make(refers))
    assert answer["code"] == "InvalidGraph"
    assert "refers to 'k'" in answer["error"]


@pytest.mark.parametrize(("opset", "since"), [(6, 6), (12, 6), (13, 13), (14, 14), (21, 14)])
def test_the_import_selects_the_version(dump: Any, opset: int, since: int) -> None:
    assert dump(make(node("Relu", "x"), imports={"": opset}))["graph"]["nodes"][0]["since"] == since


def test_the_other_spelling_of_the_domain(dump: Any) -> None:
    answer = dump(make(node("Relu", "x", domain="ai.onnx"), imports={"ai.onnx": 21}))
    assert answer["graph"]["nodes"][0]["domain"] == ""
    assert answer["graph"]["nodes"][0]["since"] == 14


@pytest.mark.parametrize("first", ["", "ai.onnx"])
@pytest.mark.parametrize("second", ["", "ai.onnx"])
def test_a_domain_has_one_version(dump: Any, first: str, second: str) -> None:
    model = make(node("Relu", "x"), imports={first: 13})
    again = model.opset_import.add(domain=second, version=13)
    assert dump(model)["graph"]["nodes"][0]["since"] == 13
    again.version = 21
    answer = dump(model)
    assert answer["code"] == "InvalidGraph"
    assert answer["error"].endswith("opset_import: the domain 'ai.onnx' must have one version, got 13 and 21")


def test_a_domain_has_one_version_in_a_function(dump: Any) -> None:
    model = make(node("F", "x", domain="d"), imports={"": 21, "d": 1})
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("e", 1), helper.make_opsetid("e", 2)]
    body = [helper.make_node("Neg", ["a"], ["b"])]
    model.functions.append(helper.make_function("d", "F", ["a"], ["b"], body, imports))
    assert "functions[0].opset_import: the domain 'e' must have one version, got 1 and 2" in dump(model)["error"]


def test_an_unused_import_does_not_matter(dump: Any) -> None:
    assert "graph" in dump(make(node("Relu", "x"), imports={"": 21, "somebody": 7}))


def test_a_wrong_shape_is_warned_about(dump: Any) -> None:
    answer = dump(make(node("Relu", "x"), output=helper.make_tensor_value_info("y", FLOAT, [2, 4])))
    assert answer["graph"]["values"][-1]["shape"] == [2, None]
    assert "declared with the shape [2, 4], but inference finds [2, 3]" in answer["warnings"][0]


def test_declared_symbols_are_kept_and_numbers_win(dump: Any) -> None:
    declared = helper.make_tensor_value_info("y", FLOAT, ["rows", "columns"])
    answer = dump(make(node("Relu", "x"), output=declared))
    assert answer["graph"]["values"][-1]["shape"] == [2, 3]
    assert not answer["warnings"]


def test_an_old_model_without_imports(dump: Any) -> None:
    answer = dump(make(node("Relu", "x", consumed_inputs=[0]), imports={}, ir_version=1))
    assert answer["graph"]["nodes"][0]["since"] == 1


def test_what_does_not_concern_inference_is_passed_over(dump: Any) -> None:
    model = make(node("Relu", "x"))
    model.training_info.add().initialization.name = "training"
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="nothing")
    model.graph.metadata_props.add(key="a", value="b")
    assert "graph" in dump(model)


def test_sparse_initializers_are_refused_by_name(dump: Any) -> None:
    model = make(node("Relu", "x"))
    values = helper.make_tensor("few", FLOAT, [1], [3.0])
    model.graph.sparse_initializer.append(
        helper.make_sparse_tensor(values, helper.make_tensor("where", onnx.TensorProto.INT64, [1], [2]), [5])
    )
    answer = dump(model)
    assert answer["code"] == "NotImplemented"
    assert "graph.sparse_initializer[0]: 'few': sparse initializers are not supported" in answer["error"]
