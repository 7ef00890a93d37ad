# SPDX-License-Identifier: Apache-2.0
"""Graphs as a provider sees them in ``GetCapability``: boundaries, nodes, bodies and views."""

import ctypes as C
import threading
from concurrent.futures import ThreadPoolExecutor

import onnx
import pytest
from contracts.graph_models import branches, chain, loop
from contracts.harness import E, GraphReader, during_capability, look_at, model_of, provider_of, session_with, text
from onnx import TensorProto, helper

HOST = pytest.mark.host_stricter
NODE = helper.make_node
INPUTS = ["OrtApi.Graph_GetNumInputs", "OrtApi.Graph_GetInputs"]
OUTPUTS = ["OrtApi.Graph_GetNumOutputs", "OrtApi.Graph_GetOutputs"]
INITIALIZERS = ["OrtApi.Graph_GetNumInitializers", "OrtApi.Graph_GetInitializers"]
NODES = ["OrtApi.Graph_GetNumNodes", "OrtApi.Graph_GetNodes"]
SETS = ["OrtApi.Graph_GetNumOperatorSets", "OrtApi.Graph_GetOperatorSets"]
PARENT = "OrtApi.Graph_GetParentNode"
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
@HOST
def test_operator_sets_hold_that_of_onnx_also_if_only_functions_import_it(probe):
    def look(reader, graph):
        count = reader.api.get.Graph_GetNumOperatorSets(graph)
        domains, versions = (C.c_void_p * count)(), (C.c_int64 * count)()
        reader.api.ok.Graph_GetOperatorSets(graph, domains, versions, count)
        return {text(d): v for d, v in zip(domains, versions, strict=True)}

    double = helper.make_function(
        "mine", "Double", ["v"], ["w"], [NODE("Add", ["v", "v"], ["w"])], [helper.make_opsetid("", 17)]
    )
    model = model_of([NODE("Double", ["x"], ["y"], domain="mine")], {"x": [2]}, ["y"], mine=1)
    model.functions.append(double)
    del model.opset_import[0]
    found = look_at(probe, model, look)
    assert found == {"": 14, "mine": 1}  # the version of Add; ONNX Runtime gives the newest that it knows


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


@pytest.mark.slot("OrtEp.GetCapability")
def test_graph_of_constants_alone_is_not_asked_about(probe):
    def branch(name, value):
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, [])
        return helper.make_graph([NODE("Constant", [], [name], value_float=value)], f"of_{name}", [], [output])

    node = NODE("If", ["cond"], ["y"], name="if", then_branch=branch("one", 1.0), else_branch=branch("two", 2.0))
    model = model_of([node], {"cond": []}, ["y"])
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.BOOL
    names = during_capability(probe, model, lambda ep, graph: text(ep.api.get.Graph_GetName(graph)))
    assert names == ["graph"]


# Threads


@pytest.mark.slot(*INPUTS, *NODES, "OrtApi.Node_GetAttributes", "OrtApi.GetValueInfoTypeInfo")
def test_several_threads_may_look_at_once(probe):
    def everything(reader, graph):
        get, values, nodes = reader.api.get, reader.values(graph), reader.nodes(graph)
        handles = [get.GetValueInfoTypeInfo(value) for value in values.values()]
        handles += [get.ValueInfo_GetInitializerValue(value) for value in values.values()]
        handles += [attribute for node in nodes.values() for attribute in reader.attributes(node).values()]
        bodies = [body for node in nodes.values() for body in reader.subgraphs(node).values()]
        return [*values.values(), *handles, *bodies, *(everything(reader, body) for body in bodies)]

    start = threading.Barrier(8)

    def at_once(reader, graph):
        start.wait()
        return everything(reader, graph)

    def look(reader, graph):
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: at_once(reader, graph), range(8)))

    first, *others = look_at(probe, branches(), look)
    assert all(other == first for other in others)
