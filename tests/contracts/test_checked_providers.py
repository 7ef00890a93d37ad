# SPDX-License-Identifier: Apache-2.0
"""Checked mode and providers: handles of graphs that are used too late, constants that are written."""

import ctypes as C
import re

import numpy as np
import pytest
from contracts.graph_models import branches, chain
from contracts.harness import E, compiling, run_in_child, session_with, text

pytestmark = [pytest.mark.host_stricter, pytest.mark.slot()]
X = np.array([1, -2], np.float32)


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", "1")


def findings(ended):
    return re.findall(r"finding: (\w+): ([\w.]+): (.*)", ended.stderr)


def handles_of(ep, graph):
    """Return a graph, a node and a value of it, each with a slot that answers from the object itself."""
    node, value = ep.reader.nodes(graph)["add"], ep.reader.values(graph)["b"]
    return {"Graph_GetNumNodes": graph, "Node_GetId": node, "ValueInfo_GetValueNumConsumers": value}


def use(ep, kept):
    for slot, handle in kept.items():
        print(slot, getattr(ep.api.code, slot)(handle, C.byref(C.c_size_t())))


def nodes_of_an_earlier_session(probe):
    """What lies where they lay is as like them as can be."""
    kept = {}
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            if not kept:
                kept.update(handles_of(ep, graph))
            if ep.calls.count("GetCapability") > 5:
                use(ep, kept)

        ep.propose = propose
        for _ in range(6):
            session_with(probe, chain(), options)


def support_of_an_earlier_graph(probe):
    kept = []
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            kept.append(support)
            if len(kept) == 3:
                print("EpGraphSupportInfo_AddNodesToFuse", ep.fuse(kept[0], list(ep.reader.nodes(graph).values()))[0])

        ep.propose = propose
        session_with(probe, branches(), options)


def state_context_of_an_earlier_group(probe):
    kept = []

    def adjust(info):
        def create(this, context, out):
            kept.append(context)
            if len(kept) == 2:
                name = text(info.ep.ep_api.NodeComputeContext_NodeName(kept[0]))
                print("NodeComputeContext_NodeName", len(name or ""))

        info.set("CreateState", create)

    with compiling(probe, ["neg"], ["mul"], prepare=lambda ep: setattr(ep, "adjust", adjust)) as (_ep, options):
        session_with(probe, chain(), options)


def view_after_the_call(probe):
    """The provider has not released it, but its graph is gone."""
    kept = {}
    with compiling(probe, ["add", "mul"]) as (ep, options):

        def look(ep, graph, node):
            kept["view"] = ep.reader.view(graph, "add")
            kept["handles"] = handles_of(ep, kept["view"])

        def use_and_release(this):
            use(ep, kept["handles"])
            ep.api.ReleaseGraph(kept["view"])

        ep.look = look
        ep.count("OnSessionInitializationEnd", use_and_release)
        session_with(probe, chain(), options)


def body_of_a_view_after_the_call(probe):
    kept = {}
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            if "if" not in ep.reader.nodes(graph):
                return
            kept["view"] = ep.reader.view(graph, "if")
            kept["body"] = ep.reader.subgraphs(ep.reader.nodes(kept["view"])["if"])["then_branch"]
            kept["node"] = ep.reader.nodes(kept["body"])["then_add"]

        def use_and_release(this):
            use(ep, {"Graph_GetNumNodes": kept["body"], "Node_GetId": kept["node"]})
            ep.api.ReleaseGraph(kept["view"])

        ep.propose = propose
        ep.count("OnSessionInitializationEnd", use_and_release)
        session_with(probe, branches(), options)


@pytest.mark.parametrize(
    "function",
    [
        nodes_of_an_earlier_session,
        support_of_an_earlier_graph,
        state_context_of_an_earlier_group,
        view_after_the_call,
        body_of_a_view_after_the_call,
    ],
)
def test_handle_that_is_used_too_late_is_found(module_name, function):
    ended = run_in_child(module_name, function)
    assert ended.returncode == 0, ended.stderr
    answers = dict(line.split() for line in ended.stdout.splitlines())
    assert answers, ended.stderr
    nothing = "0" if "NodeComputeContext_NodeName" in answers else str(E.ORT_INVALID_ARGUMENT)  # its text is empty
    assert set(answers.values()) == {nothing}
    assert [(rule, slot) for rule, slot, _ in findings(ended)] == [("out_of_phase", slot) for slot in answers]


def write(ep, values):
    """Write into the constant V."""
    tensor, data = ep.api.get.ValueInfo_GetInitializerValue(values["V"]), C.c_void_p()
    ep.api.ok.GetTensorMutableData(tensor, C.byref(data))
    C.c_float.from_address(data.value).value += 1
    return data.value


def constant_written_while_it_is_asked(probe):
    with compiling(probe) as (ep, options):
        ep.propose = lambda graph, support: write(ep, ep.reader.values(graph)) and None
        refused(probe, options)


def constant_written_while_it_compiles(probe):
    with compiling(probe, ["add", "mul"]) as (ep, options):
        ep.look = lambda ep, graph, node: write(ep, ep.reader.values(graph))
        refused(probe, options)


def refused(probe, options):
    try:
        session_with(probe, chain(), options)
    except probe.exception("Fail") as error:
        print(error)


def dropped_constant_written_in_a_run(probe):
    with compiling(probe, ["add", "mul"], drop=True) as (ep, options):
        addresses = []

        def look(ep, graph, node):
            data = C.c_void_p()
            tensor = ep.api.get.ValueInfo_GetInitializerValue(ep.reader.values(graph)["V"])
            ep.api.ok.GetTensorMutableData(tensor, C.byref(data))
            addresses.append(data.value)

        def adjust(info):
            def compute(this, state, context):
                C.c_float.from_address(addresses[0]).value += 1
                return info._Compute(this, state, context)

            info.set("Compute", compute)

        ep.look, ep.adjust = look, adjust
        session = session_with(probe, chain(), options)
        try:
            probe.run(session, {"x": X})
        except probe.exception("Fail") as error:
            print(error)
        del session


@pytest.mark.parametrize(
    ("function", "callback"),
    [
        (constant_written_while_it_is_asked, "OrtEp.GetCapability"),
        (constant_written_while_it_compiles, "OrtEp.Compile"),
        (dropped_constant_written_in_a_run, "OrtNodeComputeInfo.Compute"),
    ],
)
def test_constant_that_is_written_is_found(module_name, function, callback):
    ended = run_in_child(module_name, function)
    assert ended.returncode == 0, ended.stderr
    ((rule, where, sentence),) = findings(ended)
    assert (rule, where) == ("input_written", callback)
    assert "'ProbeExecutionProvider'" in sentence
    assert "the provider changed the constant 'V'" in sentence
    assert f"{callback}: input_written: the provider changed the constant 'V'" in ended.stdout
