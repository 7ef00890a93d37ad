# SPDX-License-Identifier: Apache-2.0
"""What a provider may say while it is asked about a graph, and what comes of it."""

import contextlib
import ctypes as C
import gc

import numpy as np
import pytest
from contracts.harness import E, Ep, EpFactory, Kernel, model_of, provider_of, registered, session_with
from onnx import TensorProto, helper

ADD, LOOK_UP = "OrtEpApi.EpGraphSupportInfo_AddSingleNode", "OrtEpApi.EpGraphSupportInfo_LookUpKernel"
RELU = helper.make_node("Relu", ["x"], ["y"], name="the_relu")


def relu(*names):
    """Return a model of Relus in a row."""
    ends = ["x", *(f"v{i}" for i in range(1, len(names))), "y"]
    nodes = [helper.make_node("Relu", [ends[i]], [ends[i + 1]], name=name) for i, name in enumerate(names)]
    return model_of(nodes, {"x": [2]}, ["y"])


def branches():
    """Return a model of an If with a Relu in each branch."""
    bodies = {
        branch: helper.make_graph(
            [helper.make_node("Relu", ["x"], [branch])],
            branch,
            [],
            [helper.make_tensor_value_info(branch, TensorProto.FLOAT, None)],
        )
        for branch in ("then_branch", "else_branch")
    }
    model = model_of([helper.make_node("If", ["c"], ["y"], **bodies)], {"c": [], "x": [2]}, ["y"])
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.BOOL
    return model


def with_a_kernel(kernels):
    """Return a preparation that gives a provider a Relu and lists the kernel."""

    def prepare(ep):
        kernels.append(Kernel(ep, "Relu", 14, 14))
        ep.use_kernels(kernels[-1])

    return prepare


@contextlib.contextmanager
def two_providers(probe, *answers):
    """Yield providers `First` and `Second` with a kernel for Relu each, and options that select them in this order."""
    eps, options = [], probe.ort.SessionOptions()
    options.log_severity_level = 4
    for name, answer in zip(("First", "Second"), answers, strict=True):
        factory = EpFactory(probe, ep_name=name)
        eps.append(Ep(factory, answer))
        with_a_kernel([])(eps[-1])
        factory.give(eps[-1])
    with registered(probe, *(ep.factory for ep in eps)) as devices:
        for ep in eps:
            options.add_provider_for_devices([d for d in devices if d.ep_name == ep.factory.name], {})
        try:
            yield eps, options
        finally:
            del devices, options
            gc.collect()


@pytest.mark.slot(ADD)
@pytest.mark.parametrize("missing", ["support", "node"])
def test_proposal_checks_its_pointers(probe, missing):
    codes = []

    def capability(ep, graph, support):
        arguments = {"support": support, "node": ep.nodes(graph)[0]}
        arguments[missing] = None
        codes.append(ep.ep_api.code.EpGraphSupportInfo_AddSingleNode(*arguments.values()))

    with provider_of(probe, capability) as (_, options):
        session_with(probe, relu("a"), options)
    assert codes == [E.ORT_INVALID_ARGUMENT]


@pytest.mark.slot(LOOK_UP)
def test_looking_a_kernel_up_takes_nothing(probe):
    kernels, found = [], []

    def capability(ep, graph, support):
        found.extend(ep.ep_api.get.EpGraphSupportInfo_LookUpKernel(support, node) for node in ep.nodes(graph))

    with provider_of(probe, capability, prepare=with_a_kernel(kernels)) as (_, options):
        session = session_with(probe, relu("a"), options)
        np.testing.assert_array_equal(probe.run(session, {"x": np.array([-1, 2], np.float32)})[0], [0, 2])
        del session
    assert [bool(definition) for definition in found] == [True]
    assert kernels[0].made == []


@pytest.mark.slot(ADD)
def test_some_nodes_of_many_are_taken(probe):
    kernels = []

    def capability(ep, graph, support):
        for node in ep.nodes(graph)[1:]:
            ep.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, node)

    with provider_of(probe, capability, prepare=with_a_kernel(kernels)) as (_, options):
        session = session_with(probe, relu("a", "b", "c"), options)
        probe.run(session, {"x": np.zeros(2, np.float32)})
        del session
    assert len(kernels[0].made) == len(kernels[0].released) == 2


@pytest.mark.slot(LOOK_UP, ADD)
def test_node_that_another_provider_has_is_not_found(probe):
    found = []

    def first(ep, graph, support):
        ep.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, ep.nodes(graph)[0])

    def second(ep, graph, support):
        found.extend(bool(ep.ep_api.get.EpGraphSupportInfo_LookUpKernel(support, node)) for node in ep.nodes(graph))

    with two_providers(probe, first, second) as (_, options):
        session_with(probe, relu("a", "b"), options)
    assert found == [False, True]


@pytest.mark.slot(ADD)
def test_node_of_a_view_stands_for_the_node_of_the_graph(probe):
    kernels, found = [], []

    def capability(ep, graph, support):
        one = (C.c_void_p * 1)(ep.nodes(graph)[1])
        view = ep.api.get.Graph_GetGraphView(graph, one, 1)
        (node,) = ep.nodes(view)
        found.append(bool(ep.ep_api.get.EpGraphSupportInfo_LookUpKernel(support, node)))
        ep.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, node)
        ep.api.ReleaseGraph(view)

    with provider_of(probe, capability, prepare=with_a_kernel(kernels)) as (_, options):
        session_with(probe, relu("a", "b"), options)
    assert found == [True]
    assert len(kernels[0].made) == 1


@pytest.mark.slot(ADD)
@pytest.mark.host_stricter
def test_node_of_another_graph_is_an_error_that_cannot_be_ignored(probe):
    """ORT takes the node of that position in the graph that it asks about."""
    kept = []

    def capability(ep, graph, support):
        if ep.api.get.Graph_GetParentNode(graph):
            return
        (node,) = ep.nodes(graph)
        graphs, parents = (C.c_void_p * 2)(), (C.c_void_p * 2)()
        ep.api.ok.Node_GetSubgraphs(node, graphs, 2, parents)
        inner = ep.nodes(graphs[0])[0]
        kept.append(ep.ep_api.error.EpGraphSupportInfo_AddSingleNode(support, inner))

    with (
        provider_of(probe, capability, prepare=with_a_kernel([])) as (_, options),
        pytest.raises(probe.exception("EPFail"), match="is not of the graph that was asked about"),
    ):
        session_with(probe, branches(), options)
    assert [code for code, _ in kept] == [E.ORT_INVALID_ARGUMENT]
    assert "(Relu)" in kept[0][1]
