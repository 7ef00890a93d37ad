# SPDX-License-Identifier: Apache-2.0
"""Names become values: captures, order, initializers, functions, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INPUT, INITIALIZER, NODE, CAPTURE = range(4)


def value(name: str, shape: Any = None, element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def make(
    nodes: list[onnx.NodeProto],
    outputs: list[str],
    inputs: tuple[str, ...] = ("x",),
    initializers: tuple[str, ...] = (),
    imports: dict[str, int] | None = None,
    ir_version: int = 10,
    functions: list[onnx.FunctionProto] | None = None,
) -> onnx.ModelProto:
    """Return a model whose values are all float[2]."""
    graph = helper.make_graph(
        nodes,
        "g",
        [value(name, [2]) for name in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(np.ones(2, np.float32), name) for name in initializers],
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in (imports or {"": 21}).items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, functions=functions or [])


def good(answer: dict[str, Any]) -> dict[str, Any]:
    assert "error" not in answer, answer
    graph: dict[str, Any] = answer["graph"]
    return graph


def by_name(graph: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item for item in graph["values"]}


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """Return a node; `-` stands for an omitted argument."""
    names = [["" if name == "-" else name for name in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, **attributes)


def test_nodes_are_put_in_order_and_otherwise_left_alone(dump: Any) -> None:
    nodes = [node("Add", "b c", "d"), node("Neg", "x", "b"), node("Abs", "x", "unused"), node("Exp", "b", "c")]
    graph = good(dump(make(nodes, ["d"])))
    assert [n["op"] for n in graph["nodes"]] == ["Neg", "Abs", "Exp", "Add"]
    ordered = [node("Abs", "x", "a"), node("Neg", "x", "b"), node("Add", "a b", "c")]
    assert [n["op"] for n in good(dump(make(ordered, ["c"])))["nodes"]] == ["Abs", "Neg", "Add"]


def test_a_cycle_is_named(dump: Any) -> None:
    nodes = [
        node("Relu", "x", "r", name="before"),
        node("Add", "r c", "a", name="first"),
        node("Neg", "a", "b", name="second"),
        node("Abs", "b", "c", name="third"),
        node("Exp", "c", "d", name="after"),
    ]
    answer = dump(make(nodes, ["d"]))
    assert answer["code"] == "InvalidGraph"
    assert "cycle" in answer["error"]
    assert all(name in answer["error"] for name in ("'first'", "'second'", "'third'"))
    assert "before" not in answer["error"]
    assert "after" not in answer["error"]


def test_a_node_that_feeds_itself(dump: Any) -> None:
    answer = dump(make([node("Add", "x a", "a", name="self")], ["a"]))
    assert answer["code"] == "InvalidGraph"
    assert "'self' (Add) -> 'self' (Add)" in answer["error"]


@pytest.mark.parametrize(("model", "reason"), [
    (make([node("Neg", "x", "y"), node("Abs", "x", "y")], ["y"]), "'y' is defined twice"),
    (make([node("Neg", "x", "x")], ["x"]), "'x' is defined twice"),
    (make([node("Neg", "x", "w")], ["w"], initializers=("w",)), "'w' is defined twice"),
    (make([], ["x"], inputs=("x", "x")), "'x' is defined twice"),
    (make([], ["x"], initializers=("w", "w")), "'w' is defined twice"),
    (make([node("Neg", "nothing", "y", name="n")], ["y"]), "node 'n' (Neg): nothing produces its input 'nothing'"),
    (make([], ["nothing"]), "nothing produces its output 'nothing'"),
])  # fmt: skip
def test_broken_names(dump: Any, model: onnx.ModelProto, reason: str) -> None:
    answer = dump(model)
    assert answer["code"] == "InvalidGraph", answer
    assert reason in answer["error"]


def test_outputs_may_be_inputs_or_initializers(dump: Any) -> None:
    graph = good(dump(make([], ["x", "w", "x"], initializers=("w",))))
    assert graph["outputs"] == ["x", "w", "x"]
    assert by_name(graph)["x"]["origin"] == INPUT
    assert by_name(graph)["w"]["origin"] == INITIALIZER


def test_initializers_as_inputs(dump: Any) -> None:
    """From IR version 4 on an initializer that is an input is a default; before, it is a constant."""
    nodes = [node("Add", "x w", "y")]
    new = good(dump(make(nodes, ["y"], inputs=("x", "w"), initializers=("w",), ir_version=4)))
    assert new["inputs"] == ["x", "w"]
    assert by_name(new)["w"]["overridable"]
    old = good(dump(make(nodes, ["y"], inputs=("x", "w"), initializers=("w",), ir_version=3)))
    assert old["inputs"] == ["x"]
    assert not by_name(old)["w"]["overridable"]
    plain = good(dump(make(nodes, ["y"], initializers=("w", "unused"))))
    assert plain["inputs"] == ["x"]
    assert plain["initializers"] == ["w", "unused"]


def branch(output: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    return helper.make_graph(nodes, f"branch of {output}", [], [onnx.ValueInfoProto(name=output)])


def test_captures_go_through_every_level(dump: Any) -> None:
    inner = branch("i", node("Add", "x late", "i"))
    outer = branch("o", node("If", "cond", "o", then_branch=inner, else_branch=branch("j", node("Neg", "w", "j"))))
    nodes = [
        node("If", "cond", "y", then_branch=outer, else_branch=branch("e", node("Abs", "x", "e"))),
        node("Exp", "x", "late"),
        node("Constant", "", "cond", value=helper.make_tensor("t", TensorProto.BOOL, [], [1])),
    ]
    graph = good(dump(make(nodes, ["y"], initializers=("w",))))
    assert [n["op"] for n in graph["nodes"]] == ["Exp", "Constant", "If"]
    top = graph["nodes"][2]
    assert sorted(top["captures"]) == ["cond", "late", "w", "x"]
    bodies = {body["attribute"]: body["graph"] for body in top["subgraphs"]}
    assert sorted(bodies["then_branch"]["captures"]) == ["cond", "late", "w", "x"]
    assert bodies["else_branch"]["captures"] == ["x"]
    nested = {body["attribute"]: body["graph"] for body in bodies["then_branch"]["nodes"][0]["subgraphs"]}
    assert sorted(nested["then_branch"]["captures"]) == ["late", "x"]
    assert nested["else_branch"]["captures"] == ["w"]
    captured = by_name(nested["then_branch"])["late"]
    assert captured["origin"] == CAPTURE
    assert captured["type"] == "tensor(float)"
    assert captured["shape"] == [2]
    assert by_name(graph)["late"]["uses"] == 1


def local(name: str, nodes: list[onnx.NodeProto], **kwargs: Any) -> onnx.FunctionProto:
    return helper.make_function(
        kwargs.pop("domain", "local"),
        name,
        kwargs.pop("inputs", ["a"]),
        kwargs.pop("outputs", ["r"]),
        nodes,
        [helper.make_opsetid(d, v) for d, v in kwargs.pop("imports", {"": 21, "local": 1}).items()],
        **kwargs,
    )


BOTH = {"": 21, "local": 1}


def test_functions_are_inlined_under_their_own_imports(dump: Any) -> None:
    body = [node("ReduceSum", "a", "s", axes=[0], keepdims=1), node("Add", "a s", "r")]
    functions = [local("F", body, imports={"": 11})]
    calls = [
        node("F", "x", "one", domain="local", name="call"),
        node("F", "one", "y", domain="local", name="call"),
    ]
    graph = good(dump(make(calls, ["y"], functions=functions, imports=BOTH)))
    assert [(n["op"], n["since"]) for n in graph["nodes"]] == [("ReduceSum", 11), ("Add", 7)] * 2
    assert [n["name"] for n in graph["nodes"]][:2] == ["call/ReduceSum", "call/Add"]
    names = [item["name"] for item in graph["values"]]
    assert len(set(names)) == len(names)
    assert {"x", "one", "y", "call/s"} <= set(names)
    assert by_name(graph)["y"]["shape"] == [2]


def test_function_values_do_not_collide_with_the_model(dump: Any) -> None:
    functions = [local("F", [node("Neg", "a", "t"), node("Abs", "t", "r")])]
    nodes = [node("Exp", "x", "call/t"), node("F", "call/t", "y", domain="local", name="call")]
    graph = good(dump(make(nodes, ["y"], functions=functions, imports=BOTH)))
    assert [n["op"] for n in graph["nodes"]] == ["Exp", "Neg", "Abs"]
    assert graph["nodes"][1]["inputs"] == ["call/t"]


def test_functions_call_functions_also_in_subgraphs(dump: Any) -> None:
    inner = local("Inner", [node("Neg", "a", "r")])
    outer = local(
        "Outer",
        [
            node("Inner", "a", "n", domain="local"),
            node("If", "c", "r", then_branch=branch("t", node("Inner", "n", "t", domain="local")),
                 else_branch=branch("e", node("Identity", "a", "e"))),
        ],
        inputs=["a", "c"],
    )  # fmt: skip
    cond = node("Constant", "", "cond", value=helper.make_tensor("t", TensorProto.BOOL, [], [1]))
    call = node("Outer", "x cond", "y", domain="local", name="call")
    graph = good(dump(make([cond, call], ["y"], functions=[outer, inner], imports=BOTH)))
    assert [n["op"] for n in graph["nodes"]] == ["Constant", "Neg", "If"]
    bodies = {body["attribute"]: body["graph"] for body in graph["nodes"][2]["subgraphs"]}
    assert [n["op"] for n in bodies["then_branch"]["nodes"]] == ["Neg"]
    assert bodies["else_branch"]["captures"] == ["x"]


def attribute_function() -> onnx.FunctionProto:
    """Return a function that passes attributes on, one with a default, also into a subgraph."""
    concat = node("Concat", "a a", "k")
    concat.attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT))
    flatten = node("Flatten", "k", "t")
    flatten.attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="split", type=onnx.AttributeProto.INT))
    body = branch("t", concat, flatten)
    nodes = [node("If", "c", "r", then_branch=body, else_branch=body)]
    defaults = [helper.make_attribute("split", 0)]
    return local("F", nodes, inputs=["a", "c"], attributes=["axis"], attribute_protos=defaults)


@pytest.mark.parametrize(("given", "axis", "split"), [({"axis": 0}, 0, 0), ({"axis": 0, "split": 1}, 0, 1)])
def test_attribute_references(dump: Any, given: dict[str, int], axis: int, split: int) -> None:
    cond = node("Constant", "", "cond", value=helper.make_tensor("t", TensorProto.BOOL, [], [1]))
    call = node("F", "x cond", "y", domain="local", name="call", **given)
    graph = good(dump(make([cond, call], ["y"], functions=[attribute_function()], imports=BOTH)))
    inner = graph["nodes"][1]["subgraphs"][0]["graph"]["nodes"]
    assert inner[0]["attributes"] == [["axis", "int", axis]]
    assert inner[1]["attributes"] == [["axis", "int", split]]


def test_an_attribute_that_is_not_given_is_left_out(dump: Any) -> None:
    cond = node("Constant", "", "cond", value=helper.make_tensor("t", TensorProto.BOOL, [], [1]))
    call = node("F", "x cond", "y", domain="local", name="call")
    answer = dump(make([cond, call], ["y"], functions=[attribute_function()], imports=BOTH))
    assert answer["code"] == "InvalidGraph"
    assert "(Concat): the attribute 'axis' is required" in answer["error"]


def test_a_function_replaces_an_operator(dump: Any) -> None:
    function = local("Relu", [node("Neg", "a", "r")], domain="")
    graph = good(dump(make([node("Relu", "x", "y")], ["y"], functions=[function])))
    assert [n["op"] for n in graph["nodes"]] == ["Neg"]


def test_overloads(dump: Any) -> None:
    functions = [local("F", [node("Neg", "a", "r")], overload="n"), local("F", [node("Abs", "a", "r")], overload="a")]
    call = node("F", "x", "y", domain="local", overload="a")
    assert [n["op"] for n in good(dump(make([call], ["y"], functions=functions, imports=BOTH)))["nodes"]] == ["Abs"]


def test_a_function_may_pass_its_input_through(dump: Any) -> None:
    function = local("F", [node("Neg", "a", "r")], outputs=["a", "r", "r"])
    call = node("F", "x", "y z z2", domain="local")
    graph = good(dump(make([call], ["y", "z", "z2"], functions=[function], imports=BOTH)))
    assert sorted(n["op"] for n in graph["nodes"]) == ["Identity", "Identity", "Neg"]
    assert {item["shape"][0] for item in graph["values"]} == {2}


def test_omitted_arguments_of_a_function(dump: Any) -> None:
    function = local("F", [node("Clip", "a low high", "r")], inputs=["a", "low", "high"])
    call = node("F", "x - w", "y", domain="local")
    answer = dump(make([call], ["y"], initializers=("w",), functions=[function], imports=BOTH))
    assert good(answer)["nodes"][0]["inputs"] == ["x", "", "w"]


@pytest.mark.parametrize(("functions", "call", "reason"), [
    ([local("F", [node("F", "a", "r", domain="local")])], "F", "function 'local.F' calls itself"),
    ([local("F", [node("G", "a", "r", domain="local")]), local("G", [node("F", "a", "r", domain="local")])], "F",
     "function 'local.F' calls itself"),
    ([local("F", [node("If", "c", "r", then_branch=branch("t", node("F", "a c", "t", domain="local")),
                       else_branch=branch("e", node("Neg", "a", "e")))], inputs=["a", "c"])], "F", "calls itself"),
    ([local("F", [node("Neg", "a", "r")]), local("F", [node("Abs", "a", "r")])], "F", "defined twice"),
    ([local("F", [node("Neg", "a", "r")], inputs=["a"])], "F2", "has 1 inputs and 1 outputs, got 2 and 1"),
    ([local("F", [node("Neg", "a", "r")], imports={"other": 1})], "F", "the function 'F' imports no opset"),
])  # fmt: skip
def test_broken_functions(dump: Any, functions: list[onnx.FunctionProto], call: str, reason: str) -> None:
    calls = {"F": node("F", "x", "y", domain="local"), "F2": node("F", "x x", "y", domain="local")}
    answer = dump(make([calls[call]], ["y"], functions=functions, imports=BOTH))
    assert answer["code"] == "InvalidGraph", answer
    assert reason in answer["error"]
