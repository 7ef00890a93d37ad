# SPDX-License-Identifier: Apache-2.0
"""Handles that a library releases although they are not its own: reported, and good for their owner all the same."""

import ctypes as C

import numpy as np
import pytest
from contracts.graph_models import chain
from contracts.harness import (
    E,
    GraphReader,
    copy_first_input,
    look_at,
    model_of,
    provider_of,
    run_in_child,
    session_with,
)
from onnx import helper

pytestmark = pytest.mark.host_stricter
ONES = np.ones(2, np.float32)


def made(probe, create):
    """Run an op that releases something in `create`."""
    op = probe.op(create=create)
    session = probe.session(probe.one_node_model(op, ["w"], initializers={"w": ONES}), op)
    print(probe.run(session, {})[0].tolist())


def computed(probe, body):
    def compute(api, context):
        body(api, context)
        copy_first_input(api, context)

    print(probe.run_op(probe.op(compute=compute), [ONES])[0].tolist())


def kernel_info(probe):
    def create(api, info):
        api.ReleaseKernelInfo(info)
        print(api.get.KernelInfo_GetInputCount(info))

    made(probe, create)


def memory_info_of_an_allocator(probe):
    def create(api, info):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        memory = C.c_void_p()
        api.ok.AllocatorGetInfo(allocator, C.byref(memory))
        api.ReleaseMemoryInfo(memory)
        print(1 + api.get.MemoryInfoGetId(memory))

    made(probe, create)


def memory_info_of_a_value(probe):
    def body(api, context):
        memory = api.get.GetTensorMemoryInfo(api.get.KernelContext_GetInput(context, 0))
        api.ReleaseMemoryInfo(memory)
        print(1 + api.get.MemoryInfoGetId(memory))

    computed(probe, body)


def constant(probe):
    def create(api, info):
        is_constant, value = C.c_int(), C.c_void_p()
        api.ok.KernelInfoGetConstantInput_tensor(info, 0, C.byref(is_constant), C.byref(value))
        api.ReleaseValue(value)
        print(api.get.IsTensor(value))

    made(probe, create)


def input_and_output(probe):
    def body(api, context):
        value = api.get.KernelContext_GetInput(context, 0)
        api.ReleaseValue(value)
        api.ReleaseValue(api.get.KernelContext_GetOutput(context, 0, (C.c_int64 * 1)(2), 1))
        print(api.get.IsTensor(value))

    computed(probe, body)


def part_of_a_type_info(probe):
    def create(api, info):
        whole = api.get.KernelInfo_GetInputTypeInfo(info, 0)
        part = api.get.CastTypeInfoToTensorInfo(whole)
        api.ReleaseTensorTypeAndShapeInfo(part)
        print(api.get.GetTensorElementType(part))
        api.ReleaseTypeInfo(whole)

    made(probe, create)


def shape_of_an_inference(probe):
    def infer(api, context):
        info = api.get.ShapeInferContext_GetInputTypeShape(context, 0)
        api.ReleaseTensorTypeAndShapeInfo(info)
        seen.append(api.get.GetTensorElementType(info))

    seen = []
    found = probe.run_op(probe.op(infer=infer), [ONES])[0].tolist()
    print(seen[0])
    print(found)


def default_allocator(probe):
    def create(api, info):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        api.ReleaseAllocator(allocator)
        block = api.get.AllocatorAlloc(allocator, 10)
        print(int(block != 0))
        api.ok.AllocatorFree(allocator, block)

    made(probe, create)


def looked_at(probe, release):
    """Release what is reached from the node of a provider's graph."""

    def look(reader, graph):
        (node,) = reader.nodes(graph).values()
        print(release(reader, graph, node))

    model = model_of([helper.make_node("LeakyRelu", ["x"], ["y"])], {"x": [2]}, ["y"])
    look_at(probe, model, look)
    print("[1.0, 1.0]")


def graph(probe):
    def release(reader, graph, node):
        reader.api.ReleaseGraph(graph)
        return reader.api.get.Graph_GetNumNodes(graph)

    looked_at(probe, release)


def type_of_a_value(probe):
    def release(reader, graph, node):
        value = reader.values(graph)["x"]
        reader.api.ReleaseTypeInfo(reader.api.get.GetValueInfoTypeInfo(value))
        return len(reader.type_of(value)[1])

    looked_at(probe, release)


def attribute_of_a_node(probe):
    def release(reader, graph, node):
        reader.api.ReleaseOpAttr(reader.attributes(node)["alpha"])
        return len(reader.attributes(node))

    looked_at(probe, release)


def initializer(probe):
    def look(reader, graph):
        value = reader.api.get.ValueInfo_GetInitializerValue(reader.values(graph)["V"])
        reader.api.ReleaseValue(value)
        print(reader.api.get.IsTensor(value))

    look_at(probe, chain(), look)
    print("[1.0, 1.0]")


@pytest.mark.parametrize("checked", ["0", "1"], ids=["normal", "checked"])
@pytest.mark.parametrize(
    ("body", "slot"),
    [
        pytest.param(body, slot, marks=pytest.mark.slot(f"OrtApi.{slot}"), id=body.__name__)
        for body, slot in (
            (kernel_info, "ReleaseKernelInfo"),
            (memory_info_of_an_allocator, "ReleaseMemoryInfo"),
            (memory_info_of_a_value, "ReleaseMemoryInfo"),
            (constant, "ReleaseValue"),
            (input_and_output, "ReleaseValue"),
            (part_of_a_type_info, "ReleaseTensorTypeAndShapeInfo"),
            (shape_of_an_inference, "ReleaseTensorTypeAndShapeInfo"),
            (default_allocator, "ReleaseAllocator"),
            (graph, "ReleaseGraph"),
            (type_of_a_value, "ReleaseTypeInfo"),
            (attribute_of_a_node, "ReleaseOpAttr"),
            (initializer, "ReleaseValue"),
        )
    ],
)
def test_release_of_what_is_borrowed(module_name, monkeypatch, body, slot, checked):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", checked)
    ended = run_in_child(module_name, body)
    assert ended.stdout.splitlines() == ["1", "[1.0, 1.0]"], ended.stderr
    assert ended.returncode == 0
    assert slot in ended.stderr
    assert "finding: " in ended.stderr


def keeps_what_it_looked_at(probe):
    """Use handles of a graph after the call that lent them."""
    api, kept = probe.api, {}

    def look(ep, graph, support):
        reader = GraphReader(api)
        node, value = reader.nodes(graph)["leaky"], reader.values(graph)["V"]
        kept["Graph_GetNumNodes"], kept["Node_GetId"], kept["ValueInfo_GetValueNumConsumers"] = graph, node, value
        kept["OpAttr_GetType"] = reader.attributes(node)["alpha"]
        kept["GetOnnxTypeFromTypeInfo"] = api.get.GetValueInfoTypeInfo(value)
        kept["IsTensor"] = api.get.ValueInfo_GetInitializerValue(value)

    def use(this):
        for slot, handle in kept.items():
            print(slot, getattr(api.code, slot)(handle, C.byref(C.c_size_t())))

    with provider_of(probe, look, prepare=lambda ep: ep.count("OnSessionInitializationEnd", use)) as (_, options):
        session_with(probe, chain(), options)


@pytest.mark.slot("OrtEp.GetCapability")
def test_graph_is_good_for_the_call_that_lends_it(module_name, monkeypatch):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", "1")
    ended = run_in_child(module_name, keeps_what_it_looked_at)
    answers = dict(line.split() for line in ended.stdout.splitlines())
    assert len(answers) == 6, ended.stderr
    assert set(answers.values()) == {str(E.ORT_INVALID_ARGUMENT)}
    for slot in answers:
        assert f"out_of_phase: {slot}" in ended.stderr, slot
