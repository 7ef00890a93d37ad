# SPDX-License-Identifier: Apache-2.0
"""Values as a provider sees them in ``GetCapability``: type, producer, consumers, initializer, place in the graph."""

import ctypes as C

import numpy as np
import pytest
from contracts.graph_models import branches, chain, loop
from contracts.harness import E, GraphReader, look_at, model_of, provider_of, session_with, text
from contracts.harness.graph import of_body, of_values
from onnx import TensorProto, helper, numpy_helper

HOST = pytest.mark.host_stricter
NODE = helper.make_node
FLAGS = [
    f"OrtApi.ValueInfo_Is{flag}"
    for flag in ("RequiredGraphInput", "OptionalGraphInput", "GraphOutput", "ConstantInitializer", "FromOuterScope")
]
TYPE, NAME = "OrtApi.GetValueInfoTypeInfo", "OrtApi.GetValueInfoName"
PRODUCER = "OrtApi.ValueInfo_GetValueProducer"
CONSUMERS = ["OrtApi.ValueInfo_GetValueNumConsumers", "OrtApi.ValueInfo_GetValueConsumers"]
INITIALIZER = "OrtApi.ValueInfo_GetInitializerValue"
EXTERNAL = "OrtApi.ValueInfo_GetExternalInitializerInfo"
EXTERNAL_PARTS = [f"OrtApi.ExternalInitializerInfo_Get{part}" for part in ("FilePath", "FileOffset", "ByteSize")]
RELEASE = "OrtApi.ReleaseExternalInitializerInfo"
SENTINEL = 0x1234


# Names and types


@pytest.mark.slot(NAME, TYPE)
def test_types_and_shapes_are_inferred_before_a_provider_looks(probe):
    nodes = [
        NODE("Transpose", ["x"], ["t"], name="transpose"),
        NODE("Shape", ["t"], ["s"], name="shape"),
        NODE("MatMul", ["x", "t"], ["y"], name="matmul"),
    ]
    model = model_of(nodes, {"x": ["n", 3]}, ["y", "s"])
    model.graph.output[1].type.tensor_type.elem_type = TensorProto.INT64
    floats, ints = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
    assert look_at(probe, model, of_values(GraphReader.type_of)) == {
        "x": (floats, ["n", 3]),
        "t": (floats, [3, "n"]),
        "s": (ints, [2]),
        "y": (floats, ["n", "n"]),
    }


@pytest.mark.slot(TYPE)
def test_rank_that_is_not_known_is_no_shape(probe):
    model = model_of([NODE("Relu", ["x"], ["y"], name="relu"), NODE("Neg", ["s"], ["z"])], {"x": None, "s": []}, "yz")
    floats = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
    found = look_at(probe, model, of_values(GraphReader.type_of))
    assert found == {"x": (floats, None), "y": (floats, None), "s": (floats, []), "z": (floats, [])}


@pytest.mark.slot(TYPE)
def test_type_is_lent_once_and_for_all(probe):
    def look(reader, value):
        get = reader.api.get
        return get.GetValueInfoTypeInfo(value) == get.GetValueInfoTypeInfo(value)

    assert all(look_at(probe, chain(), of_values(look)).values())


@pytest.mark.slot(TYPE)
def test_captured_value_has_the_type_of_the_outer_one(probe):
    look = of_body("if", "then_branch", of_values(GraphReader.type_of))
    assert look_at(probe, branches(), look)["x"] == (E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, [2])


@pytest.mark.slot(TYPE)
def test_types_that_are_no_tensors(probe):
    nodes = [
        NODE("SequenceConstruct", ["x"], ["s"], name="sequence"),
        NODE("Optional", ["s"], ["o"], name="optional"),
        NODE("SequenceAt", ["s", "i"], ["y"], name="at"),
        NODE("OptionalHasElement", ["o"], ["has"], name="has"),
    ]
    model = model_of(
        nodes, {"x": [2]}, ["y"], initializers=[numpy_helper.from_array(np.array(0, np.int64), "i")], opset=18
    )
    model.graph.output.append(helper.make_tensor_value_info("has", TensorProto.BOOL, []))

    def look(reader, value):
        info = reader.api.get.GetValueInfoTypeInfo(value)
        tensor = reader.api.get.CastTypeInfoToTensorInfo(info)
        return reader.api.get.GetOnnxTypeFromTypeInfo(info), tensor is not None

    found = look_at(probe, model, of_values(look))
    assert found.pop("o") == (E.ONNX_TYPE_OPTIONAL, False)
    assert found.pop("s") == (E.ONNX_TYPE_SEQUENCE, False)
    assert set(found.values()) == {(E.ONNX_TYPE_TENSOR, True)}


# Producers and consumers


@pytest.mark.slot(PRODUCER)
def test_producer_is_a_node_of_the_graph(probe):
    model = model_of(
        [NODE("Split", ["x"], ["a", "b"], name="split"), NODE("Add", ["b", "W"], ["y"], name="add")],
        {"x": [4]},
        ["y", "a"],
        initializers=[numpy_helper.from_array(np.ones(2, np.float32), "W")],
    )
    assert look_at(probe, model, of_values(GraphReader.producer)) == {
        "x": (None, 0),
        "W": (None, 0),
        "a": ("split", 0),
        "b": ("split", 1),
        "y": ("add", 0),
    }


@pytest.mark.slot(PRODUCER)
def test_index_of_the_output_can_be_left_out(probe):
    def look(reader, value):
        node = C.c_void_p()
        reader.api.ok.ValueInfo_GetValueProducer(value, C.byref(node), None)
        return node.value is not None

    found = look_at(probe, chain(), of_values(look))
    assert found == {"x": False, "W": False, "V": False, "a": True, "b": True, "c": True, "y": True}


@pytest.mark.slot(*CONSUMERS)
def test_each_use_is_a_consumer_and_an_output_is_none(probe):
    nodes = [
        NODE("Neg", ["x"], ["a"], name="neg"),
        NODE("Mul", ["a", "a"], ["b"], name="mul"),
        NODE("Clip", ["b", "", "most"], ["y"], name="clip"),
    ]
    model = model_of(nodes, {"x": [2], "most": []}, ["y", "a"])
    assert look_at(probe, model, of_values(GraphReader.consumers)) == {
        "x": [("neg", 0)],
        "most": [("clip", 2)],
        "a": [("mul", 0), ("mul", 1)],
        "b": [("clip", 0)],
        "y": [],
    }


@pytest.mark.slot(*CONSUMERS, PRODUCER)
def test_use_in_a_body_is_one_of_the_node_around_it(probe):
    found = look_at(probe, branches(), of_values(GraphReader.consumers))
    assert found == {
        "x": [("if", -1), ("neg", 0)],
        "m": [("if", -1)],
        "cond": [("if", 0)],
        "W": [("if", -1)],
        "B": [("if", -1)],
        "y": [],
    }
    inside = lambda look: look_at(probe, branches(), of_body("if", "then_branch", of_values(look)))  # noqa: E731
    uses = {"x": [("then_add", 0)], "W": [("then_add", 1)], "s": [("then_mul", 0)], "T": [("then_mul", 1)], "t": []}
    assert inside(GraphReader.consumers) == uses
    makers = {"x": (None, 0), "W": (None, 0), "T": (None, 0), "s": ("then_add", 0), "t": ("then_mul", 0)}
    assert inside(GraphReader.producer) == makers


@pytest.mark.slot(*CONSUMERS, PRODUCER)
def test_view_knows_its_own_nodes_alone(probe):
    def look(reader, graph):
        view = reader.view(graph, "add")
        values = reader.values(view)
        told = {name: (reader.producer(v), reader.consumers(v)) for name, v in values.items()}
        reader.api.ReleaseGraph(view)
        return told

    assert look_at(probe, chain(), look) == {
        "a": ((None, 0), [("add", 0)]),
        "W": ((None, 0), [("add", 1)]),
        "b": (("add", 0), []),
    }


@pytest.mark.slot(*CONSUMERS)
def test_consumers_need_room_and_keep_their_tail(probe):
    def look(reader, graph):
        value = reader.values(graph)["x"]
        nodes, indices = (C.c_void_p * 3)(*[SENTINEL] * 3), (C.c_int64 * 3)(*[SENTINEL] * 3)
        short = reader.api.code.ValueInfo_GetValueConsumers(value, nodes, indices, 1)
        reader.api.ok.ValueInfo_GetValueConsumers(value, nodes, indices, 3)
        return short, nodes[2], indices[2], sorted(indices[:2])

    assert look_at(probe, branches(), look) == (E.ORT_INVALID_ARGUMENT, SENTINEL, SENTINEL, [-1, 0])


@pytest.mark.slot(PRODUCER, *CONSUMERS, *FLAGS, INITIALIZER, TYPE)
def test_values_of_a_node_that_stands_alone_have_name_and_type(probe):
    seen = []

    def capability(ep, graph, support):
        parent = ep.api.get.Graph_GetParentNode(graph)
        if parent is None:
            return
        reader = GraphReader(ep.api)
        slots = ("Node_GetInputs", "Node_GetOutputs", "Node_GetImplicitInputs")
        for value in [v for slot in slots for v in reader.entries(slot, parent)]:
            out, index, count = C.c_void_p(SENTINEL), C.c_size_t(SENTINEL), C.c_size_t()
            codes = (
                ep.api.code.ValueInfo_GetValueProducer(value, C.byref(out), C.byref(index)),
                ep.api.code.ValueInfo_GetValueNumConsumers(value, C.byref(count)),
                ep.api.code.ValueInfo_GetValueConsumers(value, (C.c_void_p * 9)(), (C.c_int64 * 9)(), 9),
            )
            assert index.value == SENTINEL
            initializer = ep.api.get.ValueInfo_GetInitializerValue(value)
            seen.append((reader.name(value), codes, reader.flags(value), initializer, reader.type_of(value)[1]))

    with provider_of(probe, capability) as (_, options):
        session_with(probe, branches(), options)
    codes = (E.ORT_NOT_FOUND, E.ORT_FAIL, E.ORT_FAIL)
    shapes = {"cond": [], "y": [2], "x": [2], "m": [2], "W": [2], "B": [2]}
    assert sorted(map(str, seen)) == sorted(str((n, codes, set(), None, s)) for n, s in shapes.items() for _ in "12")


# The place in the graph


@pytest.mark.slot(*FLAGS)
def test_flags_of_the_main_graph(probe):
    assert look_at(probe, chain(), of_values(GraphReader.flags)) == {
        "x": {"required"},
        "W": {"optional"},
        "V": {"constant"},
        "a": set(),
        "b": {"output"},
        "c": set(),
        "y": {"output"},
    }


@pytest.mark.slot(*FLAGS)
def test_before_ir_version_4_every_initializer_is_constant(probe):
    found = look_at(probe, chain(ir_version=3), of_values(GraphReader.flags))
    assert {name: found[name] for name in "xWV"} == {"x": {"required"}, "W": {"constant"}, "V": {"constant"}}


@pytest.mark.slot(*FLAGS)
def test_flags_in_bodies_look_through_to_the_outer_graph(probe):
    for model, node, attribute, expected in (
        (branches(), "if", "then_branch", {"x": {"outer"}, "W": {"outer", "constant"}, "T": {"constant"}}),
        (branches(), "if", "else_branch", {"m": {"outer"}, "B": {"outer", "optional"}, "e": {"output"}}),
        (loop(), "loop", "body", {"i": {"required"}, "v": {"required"}, "W": {"outer", "constant"}, "w": {"output"}}),
    ):
        found = look_at(probe, model, of_body(node, attribute, of_values(GraphReader.flags)))
        assert {name: found[name] for name in expected} == expected


@pytest.mark.slot(*FLAGS)
def test_flags_of_a_view_are_about_its_border(probe):
    def look(reader, graph):
        view = reader.view(graph, "add", "mul")
        told = {name: reader.flags(value) for name, value in reader.values(view).items()}
        reader.api.ReleaseGraph(view)
        return told

    expected = {"a": {"required"}, "W": {"optional"}, "V": {"constant"}, "b": {"output"}, "c": {"output"}}
    assert look_at(probe, chain(), look) == expected


# Functions of the model


@pytest.mark.slot(PRODUCER, "OrtApi.Graph_GetNodes")
def test_functions_of_the_model_are_inlined(probe):
    double = helper.make_function(
        "mine", "Double", ["v"], ["w"], [NODE("Add", ["v", "v"], ["w"], name="inner")], [helper.make_opsetid("", 17)]
    )
    model = model_of([NODE("Double", ["x"], ["y"], name="call", domain="mine")], {"x": [2]}, ["y"], mine=1)
    model.functions.append(double)

    def look(reader, graph):
        (node,) = reader.entries("Graph_GetNodes", graph)
        made = C.c_void_p()
        reader.api.ok.ValueInfo_GetValueProducer(reader.values(graph)["y"], C.byref(made), None)
        return text(reader.api.get.Node_GetOperatorType(node)), reader.boundary(graph), made.value == node

    assert look_at(probe, model, look) == ("Add", (["x"], ["y"], set()), True)
