# SPDX-License-Identifier: Apache-2.0
"""Nodes as a provider sees them in ``GetCapability``: what they are called, what they read, their attributes."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.graph_models import branches, chain, loop
from contracts.harness import (
    E,
    Ep,
    EpFactory,
    GraphReader,
    Kernel,
    look_at,
    model_of,
    provider_of,
    registered,
    session_with,
    text,
)
from onnx import TensorProto, helper

HOST = pytest.mark.host_stricter
NODE = helper.make_node
IMPLICIT = ["OrtApi.Node_GetNumImplicitInputs", "OrtApi.Node_GetImplicitInputs"]
ARGUMENTS = [f"OrtApi.Node_Get{what}" for what in ("NumInputs", "Inputs", "NumOutputs", "Outputs")]
ATTRIBUTES = ["OrtApi.Node_GetNumAttributes", "OrtApi.Node_GetAttributes"]
BY_NAME = "OrtApi.Node_GetAttributeByName"
SUBGRAPHS = ["OrtApi.Node_GetNumSubgraphs", "OrtApi.Node_GetSubgraphs"]
SENTINEL = 0x1234


def at_node(probe, model, name, look):
    """Return what ``look(reader, node)`` gives for one node of the main graph."""
    return look_at(probe, model, lambda reader, graph: look(reader, reader.nodes(graph)[name]))


def one(op_type, inputs=("x",), outputs=("y",), opset=17, **attributes):
    """Return a model of one node called ``node``."""
    node = NODE(op_type, list(inputs), list(outputs), name="node", **attributes)
    return model_of([node], dict.fromkeys(filter(None, inputs)), [o for o in outputs if o], opset=opset)


# What a node is


@pytest.mark.slot("OrtApi.Node_GetName", "OrtApi.Node_GetOperatorType", "OrtApi.Node_GetDomain", "OrtApi.Node_GetId")
def test_name_operator_domain_and_id(probe):
    def look(reader, graph):
        get = reader.api.get
        return {
            get.Node_GetId(node): (name, text(get.Node_GetOperatorType(node)), text(get.Node_GetDomain(node)))
            for name, node in reader.nodes(graph).items()
        }

    nodes = [
        NODE("Neg", ["x"], ["a"], name="first", domain="ai.onnx"),
        NODE("Relu", ["a"], ["b"]),
        NODE("Binarizer", ["b"], ["y"], name="last", domain="ai.onnx.ml", threshold=0.5),
    ]
    model = model_of(nodes, {"x": [2]}, ["y"], **{"ai.onnx.ml": 3})
    assert look_at(probe, model, look) == {
        0: ("first", "Neg", ""),
        1: ("", "Relu", ""),
        2: ("last", "Binarizer", "ai.onnx.ml"),
    }


@pytest.mark.slot("OrtApi.Node_GetSinceVersion")
@pytest.mark.parametrize(
    ("op_type", "inputs", "opset", "since"),
    [("Add", "xx", 17, 14), ("Sqrt", "x", 17, 13), ("Sqrt", "x", 12, 6), ("Conv", "xw", 18, 11), ("Relu", "x", 13, 13)],
)
def test_since_version_is_that_of_the_schema(probe, op_type, inputs, opset, since):
    model = one(op_type, inputs, opset=opset)
    assert at_node(probe, model, "node", lambda reader, node: reader.api.get.Node_GetSinceVersion(node)) == since


@pytest.mark.slot("OrtApi.Node_GetGraph", "OrtApi.Node_GetId")
def test_node_knows_its_graph_and_ids_start_anew_in_bodies(probe):
    def look(reader, graph):
        ids = []
        for body in (graph, *reader.subgraphs(reader.nodes(graph)["if"]).values()):
            nodes = reader.nodes(body)
            assert all(reader.api.get.Node_GetGraph(node) == body for node in nodes.values())
            ids.append({name: reader.api.get.Node_GetId(node) for name, node in nodes.items()})
        return sorted(ids, key=str)

    assert look_at(probe, branches(), look) == [{"else_sub": 0}, {"neg": 0, "if": 1}, {"then_add": 0, "then_mul": 1}]


@pytest.mark.slot("OrtApi.Node_GetDomain", "OrtApi.Node_GetSinceVersion", "OrtApi.Node_GetNumAttributes", BY_NAME)
def test_node_of_a_custom_operator(probe):
    op = probe.op()
    model = probe.one_node_model(op, attributes={"i": 7, "label": "text"})
    seen = []

    def look(ep, graph, support):
        reader, get = GraphReader(ep.api), ep.api.get
        (node,) = reader.nodes(graph).values()
        missing = ep.api.code.Node_GetAttributeByName(node, b"nothing", C.byref(C.c_void_p()))
        is_custom = text(get.Node_GetDomain(node)) == op.domain
        seen.append((is_custom, get.Node_GetSinceVersion(node), all_attributes(reader, node), missing))

    with provider_of(probe, look) as (_, options):
        session_with(probe, model, probe.register(op, options=options))
    assert seen[-1] == (True, 1, {"i": 7, "label": "text"}, E.ORT_NOT_FOUND)


# Whose a node is


@pytest.mark.slot("OrtApi.Node_GetEpName")
def test_node_that_nobody_has_belongs_to_nobody(probe):
    def look(reader, graph):
        return {text(reader.api.get.Node_GetEpName(node)) for node in reader.nodes(graph).values()}

    assert look_at(probe, chain(), look) == {""}


@pytest.mark.slot("OrtApi.Node_GetEpName")
def test_node_of_another_provider_says_whose_it_is(probe):
    first, second = (EpFactory(probe, f"{which}ExecutionProvider") for which in ("First", "Second"))
    taker = Ep(first, lambda ep, graph, support: ep.take_what_has_kernels(graph, support))
    taker.use_kernels(Kernel(taker, "Neg", 13, 13, {"T": [E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT]}))
    seen = []

    def watch(ep, graph, support):
        nodes = GraphReader(ep.api).nodes(graph)
        seen.append({name: text(ep.api.get.Node_GetEpName(node)) for name, node in nodes.items()})

    first.give(taker)
    second.give(Ep(second, watch))
    with registered(probe, first, second) as devices:
        options = probe.ort.SessionOptions()
        for device in devices:
            options.add_provider_for_devices([device], {})
        session = session_with(probe, chain(), options)
        del device, devices, options, session
        gc.collect()
    assert seen[-1] == {"neg": "FirstExecutionProvider", "add": "", "mul": "", "leaky": ""}


# Arguments


@pytest.mark.slot(*ARGUMENTS)
@pytest.mark.parametrize(
    ("model", "inputs", "outputs"),
    [
        (one("Clip", ["x", "", "most"]), ["x", None, "most"], ["y"]),
        (one("Clip", ["x"]), ["x"], ["y"]),
        (one("Split", ["x"], ["a", "", "c"], opset=18, num_outputs=3), ["x"], ["a", None, "c"]),
        (one("Mul", ["x", "x"]), ["x", "x"], ["y"]),
    ],
    ids=["omitted_input", "short", "omitted_output", "repeated"],
)
def test_arguments_stand_at_their_places(probe, model, inputs, outputs):
    def look(reader, node):
        return reader.names("Node_GetInputs", node), reader.names("Node_GetOutputs", node)

    assert at_node(probe, model, "node", look) == (inputs, outputs)


@pytest.mark.slot(*ARGUMENTS)
def test_same_value_is_the_same_handle_in_a_graph(probe):
    def look(reader, graph):
        nodes = reader.nodes(graph)
        (made,) = reader.entries("Node_GetOutputs", nodes["neg"])
        read = reader.entries("Node_GetInputs", nodes["add"])[0]
        return made == read

    assert look_at(probe, chain(), look)


@pytest.mark.slot(*IMPLICIT)
def test_what_bodies_capture_is_implicit_input(probe):
    def look(reader, graph):
        return {
            name: (reader.names("Node_GetInputs", node), set(reader.names("Node_GetImplicitInputs", node)))
            for name, node in reader.nodes(graph).items()
        }

    assert look_at(probe, branches(), look) == {"neg": (["x"], set()), "if": (["cond"], {"x", "m", "W", "B"})}
    assert look_at(probe, loop(), look) == {"loop": (["n", None, "x"], {"W"})}


# Attributes


def read(reader, attribute):
    """Return the content of an attribute; None for a kind that cannot be read as bytes."""
    kind = reader.api.get.OpAttr_GetType(attribute)
    types = {
        E.ORT_OP_ATTR_INT: np.int64,
        E.ORT_OP_ATTR_INTS: np.int64,
        E.ORT_OP_ATTR_FLOAT: np.float32,
        E.ORT_OP_ATTR_FLOATS: np.float32,
    }
    if kind in (E.ORT_OP_ATTR_GRAPH, E.ORT_OP_ATTR_TENSOR):
        return {E.ORT_OP_ATTR_GRAPH: "graph", E.ORT_OP_ATTR_TENSOR: "tensor"}[kind]
    buffer, needed = C.create_string_buffer(256), C.c_size_t()
    reader.api.ok.ReadOpAttr(attribute, kind, buffer, 256, C.byref(needed))
    content = buffer.raw[: needed.value]
    if kind not in types:
        return content.decode()
    numbers = np.frombuffer(content, types[kind]).tolist()
    return numbers[0] if kind in (E.ORT_OP_ATTR_INT, E.ORT_OP_ATTR_FLOAT) else numbers


def all_attributes(reader, node):
    """Return name and content of every attribute."""
    return {name: read(reader, attribute) for name, attribute in reader.attributes(node).items()}


RESIZE = {  # defaults of version 18
    "antialias": 0,
    "coordinate_transformation_mode": "half_pixel",
    "cubic_coeff_a": -0.75,
    "exclude_outside": 0,
    "extrapolation_value": 0.0,
    "keep_aspect_ratio_policy": "stretch",
    "mode": "nearest",
    "nearest_mode": "round_prefer_floor",
}


@pytest.mark.slot(*ATTRIBUTES)
@pytest.mark.parametrize(
    ("model", "attributes"),
    [
        (one("LeakyRelu", alpha=0.5), {"alpha": 0.5}),
        (one("LeakyRelu"), {"alpha": np.float32(0.01)}),
        (one("Relu"), {}),
        (one("Conv", "xw"), {"auto_pad": "NOTSET", "group": 1}),
        (one("Conv", "xw", group=2, strides=[2, 1]), {"auto_pad": "NOTSET", "group": 2, "strides": [2, 1]}),
        (one("Split", ["x"], ["y", "z"], opset=18, num_outputs=2), {"axis": 0, "num_outputs": 2}),
        (one("Resize", ["x", "", "scales"], opset=18), RESIZE),
    ],
    ids=["written", "default", "none", "defaults", "written_lists", "both", "resize"],
)
def test_attributes_are_those_written_and_the_defaults(probe, model, attributes):
    assert at_node(probe, model, "node", all_attributes) == attributes


@pytest.mark.slot(*ATTRIBUTES, "OrtApi.OpAttr_GetType")
def test_subgraphs_are_attributes_of_kind_graph(probe):
    assert at_node(probe, branches(), "if", all_attributes) == {"then_branch": "graph", "else_branch": "graph"}


@pytest.mark.slot(BY_NAME)
def test_attribute_by_name_is_the_one_of_the_list(probe):
    def look(reader, node):
        found = reader.api.get.Node_GetAttributeByName(node, b"group")
        return found == reader.attributes(node)["group"], read(reader, found)

    assert at_node(probe, one("Conv", "xw", group=2), "node", look) == (True, 2)


@pytest.mark.slot(BY_NAME)
@pytest.mark.parametrize(("name", "code"), [("pads", 0), ("strides", 0), ("nothing", E.ORT_NOT_FOUND)])
def test_attribute_that_is_not_there_is_null(probe, name, code):
    def look(reader, node):
        found = C.c_void_p(SENTINEL)
        return reader.api.code.Node_GetAttributeByName(node, name.encode(), C.byref(found)), found.value

    assert at_node(probe, one("Conv", "xw"), "node", look) == (code, None)


@pytest.mark.slot("OrtApi.OpAttr_GetType", BY_NAME)
def test_kind_without_a_number_is_refused(probe):
    def look(reader, graph):
        attribute = reader.api.get.Node_GetAttributeByName(reader.nodes(graph)["optional"], b"type")
        kind = C.c_int(SENTINEL)
        return reader.api.code.OpAttr_GetType(attribute, C.byref(kind)), kind.value

    element = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    nodes = [
        NODE("Optional", [], ["o"], name="optional", type=element),
        NODE("OptionalHasElement", ["o"], ["has"], name="has"),
        NODE("Cast", ["has"], ["y"], name="cast", to=TensorProto.FLOAT),
    ]
    assert look_at(probe, model_of(nodes, {}, ["y"]), look) == (E.ORT_INVALID_ARGUMENT, SENTINEL)


@pytest.mark.slot("OrtApi.OpAttr_GetTensorAttributeAsOrtValue", *ATTRIBUTES)
def test_tensor_attribute_is_a_value(probe):
    fill = helper.make_tensor("value", TensorProto.FLOAT, [1], [2.5])

    def look(reader, node):
        value = reader.api.get.OpAttr_GetTensorAttributeAsOrtValue(reader.attributes(node)["value"])
        data = C.c_float.from_address(reader.api.get.GetTensorMutableData(value)).value
        reader.api.ReleaseValue(value)
        return data

    model = one("ConstantOfShape", ["x"], value=fill)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    assert at_node(probe, model, "node", look) == 2.5


# Subgraphs


@pytest.mark.slot(*SUBGRAPHS)
def test_subgraphs_come_with_the_names_of_their_attributes(probe):
    def look(reader, graph):
        node = reader.nodes(graph)["if"]
        named = reader.subgraphs(node)
        assert set(reader.entries("Node_GetSubgraphs", node, None)) == set(named.values())
        assert named == reader.subgraphs(node)
        return {name: [*reader.nodes(body)] for name, body in named.items()}

    expected = {"then_branch": ["then_add", "then_mul"], "else_branch": ["else_sub"]}
    assert look_at(probe, branches(), look) == expected


@pytest.mark.slot(*SUBGRAPHS)
def test_node_without_subgraphs(probe):
    assert at_node(probe, one("Relu"), "node", lambda reader, node: reader.subgraphs(node)) == {}


# Array getters

FILLED = ["Inputs", "Outputs", "ImplicitInputs", "Attributes", "Subgraphs"]


@pytest.mark.slot(*ARGUMENTS, *IMPLICIT, *ATTRIBUTES, *SUBGRAPHS)
@pytest.mark.parametrize("part", FILLED)
def test_array_needs_room_and_keeps_its_tail(probe, part):
    def look(reader, node):
        count = getattr(reader.api.get, f"Node_GetNum{part}")(node)
        more = [None] if part == "Subgraphs" else []
        fill = getattr(reader.api.code, f"Node_Get{part}")
        room = (C.c_void_p * (count + 2))(*[SENTINEL] * (count + 2))
        codes = fill(node, room, count - 1, *more), fill(node, None, 0, *more), fill(node, room, count + 2, *more)
        assert count > 0
        assert all(entry not in (None, SENTINEL) for entry in room[:count])
        assert room[count:] == [SENTINEL] * 2
        return codes

    assert at_node(probe, branches(), "if", look) == (E.ORT_INVALID_ARGUMENT, E.ORT_INVALID_ARGUMENT, 0)


@pytest.mark.slot(*ARGUMENTS, *IMPLICIT, *ATTRIBUTES, *SUBGRAPHS)
@HOST
@pytest.mark.parametrize("part", FILLED)
def test_array_that_is_null_or_too_short_leaves_all_as_it_was(probe, part):
    def look(reader, node):
        count = getattr(reader.api.get, f"Node_GetNum{part}")(node)
        more = [None] if part == "Subgraphs" else []
        fill = getattr(reader.api.code, f"Node_Get{part}")
        room = (C.c_void_p * count)(*[SENTINEL] * count)
        codes = fill(node, room, count - 1, *more), fill(node, None, count, *more)
        assert list(room) == [SENTINEL] * count
        return codes

    assert at_node(probe, branches(), "if", look) == (E.ORT_INVALID_ARGUMENT,) * 2
