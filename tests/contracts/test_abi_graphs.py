# SPDX-License-Identifier: Apache-2.0
"""Graphs as a provider sees them in ``GetCapability``: boundaries, nodes, bodies and views."""

import ctypes as C

import onnx
import pytest
from contracts.graph_models import branches, chain, loop
from contracts.harness import E, GraphReader, during_capability, look_at, model_of, provider_of, session_with, text
from onnx import helper

HOST = pytest.mark.host_stricter
NODE = helper.make_node
INPUTS = ["OrtApi.Graph_GetNumInputs", "OrtApi.Graph_GetInputs"]
OUTPUTS = ["OrtApi.Graph_GetNumOutputs", "OrtApi.Graph_GetOutputs"]
INITIALIZERS = ["OrtApi.Graph_GetNumInitializers", "OrtApi.Graph_GetInitializers"]
NODES = ["OrtApi.Graph_GetNumNodes", "OrtApi.Graph_GetNodes"]
SETS = ["OrtApi.Graph_GetNumOperatorSets", "OrtApi.Graph_GetOperatorSets"]
VIEW, RELEASE, PARENT = "OrtApi.Graph_GetGraphView", "OrtApi.ReleaseGraph", "OrtApi.Graph_GetParentNode"
SENTINEL = 0x1234


# What a graph says of itself


@pytest.mark.slot("OrtApi.Graph_GetName", "OrtApi.Graph_GetOnnxIRVersion", "OrtApi.Graph_GetModelPath")
def test_name_version_and_no_path_of_a_model_from_memory(probe):
    def look(reader, graph):
        get = reader.api.get
        return (
            text(get.Graph_GetName(graph)),
            get.Graph_GetOnnxIRVersion(graph),
            text(get.Graph_GetModelPath(graph)),
        )

    assert look_at(probe, chain(ir_version=7), look) == ("graph", 7, "")


@pytest.mark.slot("OrtApi.Graph_GetModelPath")
def test_path_is_the_one_that_the_application_gave(probe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(branches(), "m.onnx")
    seen = []

    def look(ep, graph, support):
        reader = GraphReader(ep.api)
        bodies = [b for node in reader.nodes(graph).values() for b in reader.subgraphs(node).values()]
        seen.extend(text(ep.api.get.Graph_GetModelPath(g)) for g in (graph, *bodies))

    with provider_of(probe, look) as (_, options):
        session_with(probe, "m.onnx", options)
    assert len(seen) >= 5
    assert set(seen) == {"m.onnx"}


@pytest.mark.slot(*SETS)
def test_operator_sets_are_sorted_and_hold_the_imports(probe):
    def look(reader, graph):
        count = reader.api.get.Graph_GetNumOperatorSets(graph)
        domains, versions = (C.c_void_p * (count + 1))(), (C.c_int64 * (count + 1))()
        domains[count], versions[count] = SENTINEL, SENTINEL
        reader.api.ok.Graph_GetOperatorSets(graph, domains, versions, count + 1)
        assert (domains[count], versions[count]) == (SENTINEL, SENTINEL)
        return [(text(d), v) for d, v in zip(domains[:count], versions[:count], strict=True)]

    model = chain()
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    found = look_at(probe, model, look)
    assert found == sorted(found)
    assert found[0] == ("", 17)
    assert ("ai.onnx.ml", 3) in found


@pytest.mark.slot(*SETS)
def test_operator_sets_need_room(probe):
    def look(reader, graph):
        count = reader.api.get.Graph_GetNumOperatorSets(graph)
        domains, versions = (C.c_void_p * count)(), (C.c_int64 * count)()
        return reader.api.code.Graph_GetOperatorSets(graph, domains, versions, count - 1)

    assert look_at(probe, chain(), look) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(*SETS)
@HOST
def test_operator_sets_need_the_array_of_versions(probe):
    def look(reader, graph):
        count = reader.api.get.Graph_GetNumOperatorSets(graph)
        return reader.api.code.Graph_GetOperatorSets(graph, (C.c_void_p * count)(), None, count)

    assert look_at(probe, chain(), look) == E.ORT_INVALID_ARGUMENT


# Inputs, outputs, initializers


@pytest.mark.slot(*INPUTS, *OUTPUTS, *INITIALIZERS)
def test_inputs_hold_those_with_a_default_and_initializers_all(probe):
    assert look_at(probe, chain(), GraphReader.boundary) == (["W", "x"], ["y", "b"], {"W", "V"})


@pytest.mark.slot(*INPUTS, *INITIALIZERS)
def test_before_ir_version_4_initializers_are_inputs(probe):
    inputs, outputs, initializers = look_at(probe, chain(ir_version=3), GraphReader.boundary)
    assert sorted(inputs) == ["V", "W", "x"]  # the host lists the initializers last
    assert (outputs, initializers) == (["y", "b"], {"W", "V"})


@pytest.mark.slot(*INPUTS)
@HOST
def test_before_ir_version_4_initializers_come_after_what_is_fed(probe):
    assert look_at(probe, chain(ir_version=3), GraphReader.boundary)[0] == ["x", "W", "V"]


@pytest.mark.slot(*NODES, *INITIALIZERS)
def test_constant_nodes_are_initializers(probe):
    nodes = [
        NODE("Constant", [], ["k"], name="k", value_float=2.5),
        NODE("Constant", [], ["v"], name="v", value_ints=[7, 8]),
        NODE("Mul", ["x", "k"], ["y"], name="mul"),
        NODE("Reshape", ["y", "v"], ["z"], name="reshape"),
    ]

    def look(reader, graph):
        values = reader.values(graph)
        told = {name: (reader.flags(values[name]), reader.producer(values[name])) for name in ("k", "v")}
        return [*reader.nodes(graph)], reader.boundary(graph), told

    names, boundary, told = look_at(probe, model_of(nodes, {"x": [7, 8]}, ["z"]), look)
    assert names == ["mul", "reshape"]
    assert boundary == (["x"], ["z"], {"k", "v"})
    assert told == {name: ({"constant"}, (None, 0)) for name in ("k", "v")}


# Nodes


@pytest.mark.slot(*NODES)
def test_nodes_are_in_an_order_in_which_they_can_run(probe):
    model = model_of(
        [
            NODE("Relu", ["x"], ["lone"], name="lone"),
            NODE("Split", ["x"], ["a", "b"], name="split"),
            NODE("Neg", ["b"], ["n"], name="neg"),
            NODE("Add", ["a", "n"], ["y"], name="add"),
        ],
        {"x": [2]},
        ["y", "lone"],
    )
    order = look_at(probe, model, lambda reader, graph: [*reader.nodes(graph)])
    assert sorted(order) == ["add", "lone", "neg", "split"]
    assert order.index("split") < order.index("neg") < order.index("add")


# Array getters

ARRAYS = ["Inputs", "Outputs", "Initializers", "Nodes"]


@pytest.mark.slot(*INPUTS, *OUTPUTS, *INITIALIZERS, *NODES)
@pytest.mark.parametrize("part", ARRAYS)
def test_array_needs_room_and_keeps_its_tail(probe, part):
    def look(reader, graph):
        count = getattr(reader.api.get, f"Graph_GetNum{part}")(graph)
        fill = getattr(reader.api.code, f"Graph_Get{part}")
        room = (C.c_void_p * (count + 2))(*[SENTINEL] * (count + 2))
        codes = fill(graph, room, count - 1), fill(graph, None, 0), fill(graph, room, count + 2)
        assert all(entry not in (None, SENTINEL) for entry in room[:count])
        assert room[count:] == [SENTINEL] * 2
        return codes

    assert look_at(probe, chain(), look) == (E.ORT_INVALID_ARGUMENT, E.ORT_INVALID_ARGUMENT, 0)


@pytest.mark.slot(*INPUTS, *OUTPUTS, *INITIALIZERS, *NODES, *SETS)
@HOST
@pytest.mark.parametrize("part", [*ARRAYS, "OperatorSets"])
def test_array_that_is_null_or_too_short_leaves_all_as_it_was(probe, part):
    def look(reader, graph):
        count = getattr(reader.api.get, f"Graph_GetNum{part}")(graph)
        room = (C.c_void_p * count)(*[SENTINEL] * count)
        more = [(C.c_int64 * count)()] if part == "OperatorSets" else []
        fill = getattr(reader.api.code, f"Graph_Get{part}")
        codes = fill(graph, room, *more, count - 1), fill(graph, None, *more, count)
        assert list(room) == [SENTINEL] * count
        return codes

    assert look_at(probe, chain(), look) == (E.ORT_INVALID_ARGUMENT,) * 2


# Bodies


@pytest.mark.slot(*INPUTS, *OUTPUTS, *INITIALIZERS, PARENT, "OrtApi.Graph_GetOnnxIRVersion", "OrtApi.Graph_GetName")
def test_bodies_are_graphs_with_boundaries_of_their_own(probe):
    def look(reader, graph):
        node = reader.nodes(graph)["if"]
        get, bodies = reader.api.get, reader.subgraphs(node)
        assert get.Graph_GetParentNode(graph) is None
        assert all(get.Graph_GetParentNode(body) == node for body in bodies.values())
        assert {get.Graph_GetOnnxIRVersion(body) for body in bodies.values()} == {8}
        return {name: (text(get.Graph_GetName(body)), reader.boundary(body)) for name, body in bodies.items()}

    assert look_at(probe, branches(), look) == {
        "then_branch": ("then", ([], ["t"], {"T"})),
        "else_branch": ("else", ([], ["e"], set())),
    }


@pytest.mark.slot(*INPUTS, *OUTPUTS)
def test_inputs_of_a_loop_body_are_its_formal_ones(probe):
    def look(reader, graph):
        return reader.boundary(reader.subgraphs(reader.nodes(graph)["loop"])["body"])

    assert look_at(probe, loop(), look) == (["i", "go", "v"], ["on", "w"], set())


@pytest.mark.slot(PARENT, "OrtApi.Node_GetGraph", "OrtApi.Node_GetNumSubgraphs")
def test_bodies_are_asked_about_first_and_their_node_stands_alone(probe):
    def look(ep, graph):
        reader = GraphReader(ep.api)
        parent = ep.api.get.Graph_GetParentNode(graph)
        if parent is None:
            return text(ep.api.get.Graph_GetName(graph)), None
        said = (
            text(ep.api.get.Node_GetOperatorType(parent)),
            ep.api.get.Node_GetGraph(parent),
            ep.api.get.Node_GetNumSubgraphs(parent),
            reader.names("Node_GetInputs", parent),
            sorted(reader.names("Node_GetImplicitInputs", parent)),
        )
        return text(ep.api.get.Graph_GetName(graph)), said

    seen = during_capability(probe, branches(), look)
    parent = ("If", None, 2, ["cond"], ["B", "W", "m", "x"])
    assert sorted(seen[:2]) == [("else", parent), ("then", parent)]
    assert seen[2:] == [("graph", None)]


# Views


def in_view(probe, model, names, look=GraphReader.boundary, inside=None):
    """Return what ``look(reader, view)`` gives for a view of some nodes, of a body if ``inside`` names its node."""

    def make(reader, graph):
        source = reader.subgraphs(reader.nodes(graph)[inside[0]])[inside[1]] if inside else graph
        view = reader.view(source, *names)
        try:
            return look(reader, view)
        finally:
            reader.api.ReleaseGraph(view)

    return look_at(probe, model, make)


@pytest.mark.slot(VIEW, RELEASE)
@pytest.mark.parametrize(
    ("names", "boundary"),
    [
        (["neg"], (["x"], ["a"], set())),
        (["neg", "add"], (["W", "x"], ["b"], {"W"})),
        (["add", "mul"], (["W", "a"], ["b", "c"], {"W", "V"})),
        (["mul", "leaky"], (["b"], ["y"], {"V"})),
        (["leaky", "mul", "mul"], (["b"], ["y"], {"V"})),
    ],
)
def test_view_takes_what_crosses_its_border(probe, names, boundary):
    found = in_view(probe, chain(), names)
    assert (sorted(found[0]), *found[1:]) == boundary


@pytest.mark.slot(VIEW)
def test_inputs_of_a_view_are_in_the_order_of_first_use_or_of_the_graph(probe):
    nodes = [
        NODE("Neg", ["p"], ["t"], name="neg"),
        NODE("Relu", ["p"], ["u"], name="relu"),
        NODE("Sum", ["u", "t", "r", "q"], ["y"], name="sum"),
    ]
    model = model_of(nodes, {name: [2] for name in "abpqr"}, ["y"])
    # First used: u 0, t 1, r 2, q 3; inputs of the graph: q 3, r 4.
    assert in_view(probe, model, ["sum"])[0] == ["u", "t", "q", "r"]


@pytest.mark.slot(VIEW)
def test_outputs_of_a_view_are_in_the_order_of_the_call(probe):
    model = model_of(
        [NODE("Neg", ["x"], ["a"], name="neg"), NODE("Relu", ["a"], ["b"], name="relu")], {"x": [2]}, ["a", "b"]
    )
    assert in_view(probe, model, ["relu", "neg"])[:2] == (["x"], ["b", "a"])


@pytest.mark.slot(VIEW, PARENT, "OrtApi.Graph_GetName", *NODES, "OrtApi.Node_GetGraph")
def test_view_has_nodes_of_its_own_with_the_ids_of_the_graph(probe):
    def look(reader, graph):
        get, view = reader.api.get, reader.view(graph, "add", "mul")
        ids, theirs = ({n: get.Node_GetId(h) for n, h in reader.nodes(g).items()} for g in (graph, view))
        assert theirs == {name: ids[name] for name in ("add", "mul")}
        assert all(get.Node_GetGraph(node) == view for node in reader.nodes(view).values())
        said = text(get.Graph_GetName(view)), get.Graph_GetParentNode(view)
        reader.api.ReleaseGraph(view)
        return said

    assert look_at(probe, chain(), look) == ("sub_graph", None)


@pytest.mark.slot(VIEW)
def test_captures_of_a_node_are_inputs_of_its_view(probe):
    inputs, outputs, initializers = in_view(probe, branches(), ["if"])
    assert sorted(inputs) == ["B", "cond", "m", "x"]
    assert (outputs, initializers) == (["y"], {"W", "B"})


@pytest.mark.slot(VIEW)
def test_omitted_arguments_are_no_inputs_of_a_view(probe):
    model = model_of([NODE("Clip", ["x", "", "most"], ["y"], name="clip")], {"x": [2], "most": []}, ["y"])
    assert in_view(probe, model, ["clip"]) == (["x", "most"], ["y"], set())


@pytest.mark.slot(VIEW)
def test_view_of_nodes_of_a_body(probe):
    found = in_view(probe, branches(), ["then_add", "then_mul"], inside=("if", "then_branch"))
    assert found == (["x"], ["t"], {"T"})


@pytest.mark.slot(VIEW)
def test_view_of_nothing_is_refused(probe):
    def look(reader, graph):
        made = C.c_void_p(SENTINEL)
        nodes = (C.c_void_p * 1)(next(iter(reader.nodes(graph).values())))
        return reader.api.code.Graph_GetGraphView(graph, nodes, 0, C.byref(made))

    assert look_at(probe, chain(), look) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(VIEW)
@HOST
def test_view_of_a_node_of_another_graph_is_refused(probe):
    def look(reader, graph):
        (body, *_) = reader.subgraphs(reader.nodes(graph)["if"]).values()
        made = C.c_void_p(SENTINEL)
        node = (C.c_void_p * 1)(next(iter(reader.nodes(body).values())))
        code, message = reader.api.error.Graph_GetGraphView(graph, node, 1, C.byref(made))
        assert made.value == SENTINEL
        return code, message

    code, message = look_at(probe, branches(), look)
    assert code == E.ORT_INVALID_ARGUMENT
    assert "then_add" in message or "else_sub" in message


@pytest.mark.slot(RELEASE)
def test_releasing_no_graph_does_nothing(api):
    api.ReleaseGraph(None)


@pytest.mark.slot(RELEASE)
@HOST
@pytest.mark.finds("release_of_borrowed")
def test_a_borrowed_graph_is_not_released(probe):
    def look(reader, graph):
        reader.api.ReleaseGraph(graph)
        return text(reader.api.get.Graph_GetName(graph))

    assert look_at(probe, chain(), look) == "graph"
