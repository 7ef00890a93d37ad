# SPDX-License-Identifier: Apache-2.0
"""Views: some nodes of a graph as a graph of their own, which the provider releases."""

import ctypes as C

import pytest
from contracts.graph_models import branches, chain
from contracts.harness import E, GraphReader, look_at, model_of, text
from onnx import helper

HOST = pytest.mark.host_stricter
NODE = helper.make_node
NODES = ["OrtApi.Graph_GetNumNodes", "OrtApi.Graph_GetNodes"]
VIEW, RELEASE, PARENT = "OrtApi.Graph_GetGraphView", "OrtApi.ReleaseGraph", "OrtApi.Graph_GetParentNode"
SENTINEL = 0x1234


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
