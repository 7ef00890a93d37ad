# SPDX-License-Identifier: Apache-2.0
"""Groups that cannot be compiled or run: what fails, with which words, and that all is given back."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.graph_models import branches, chain
from contracts.harness import E, compiling, refused, session_with

HOST = pytest.mark.host_stricter
FUSE, COMPILE, RELEASE_INFOS = (
    "OrtEpApi.EpGraphSupportInfo_AddNodesToFuse",
    "OrtEp.Compile",
    "OrtEp.ReleaseNodeComputeInfos",
)
CREATE, COMPUTE = "OrtNodeComputeInfo.CreateState", "OrtNodeComputeInfo.Compute"
RELEASE = "OrtNodeComputeInfo.ReleaseState"
X = np.array([1, -2], np.float32)
W = np.array([1, 2], np.float32)
TWO = ["neg"], ["mul"]


def member(name, function):
    """Return a ``prepare`` that replaces a member of each info."""
    return lambda ep: setattr(ep, "adjust", lambda info: info.set(name, function))


# Compile.


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
def test_failing_compilation_fails_the_session_and_gives_back_what_it_made(probe):
    def prepare(ep):
        made = ep._compile

        def compile_half(this, graphs, nodes, count, infos, contexts):
            made(this, graphs, nodes, count, infos, contexts)
            C.c_void_p.from_address(infos + 8).value = None
            return probe.status(E.ORT_EP_FAIL, b"no registers left")

        ep.count("Compile", compile_half)

    ep = refused(probe, "EPFail", "no registers left", *TWO, prepare=prepare, model=chain())
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert ep.released == [ep.infos[0].address]


@pytest.mark.slot(COMPILE)
def test_failing_compilation_that_made_nothing_has_nothing_to_give_back(probe):
    def prepare(ep):
        ep.count("Compile", lambda *arguments: probe.status(E.ORT_FAIL, b"not today"))

    ep = refused(probe, "Fail", "not today", *TWO, prepare=prepare, model=chain())
    assert ep.calls_of_log == ["ReleaseEp"]


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
def test_group_without_a_compute_info_fails_the_session(probe):
    def prepare(ep):
        made = ep._compile

        def compile_one(this, graphs, nodes, count, infos, contexts):
            made(this, graphs, nodes, count, infos, contexts)
            C.c_void_p.from_address(infos + 8).value = None

        ep.count("Compile", compile_one)

    ep = refused(probe, "Fail", ".", *TWO, prepare=prepare, model=chain())
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert ep.released == [ep.infos[0].address]


def keep_first(ep):
    """Give the first group's info to all."""
    made = ep._compile

    def compile_same(this, graphs, nodes, count, infos, contexts):
        made(this, graphs, nodes, count, infos, contexts)
        C.c_void_p.from_address(infos + 8).value = ep.infos[0].address

    ep.count("Compile", compile_same)


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
@HOST
def test_one_compute_info_for_two_groups_is_refused_and_given_back_once(probe):
    ep = refused(probe, "Fail", "'ProbeEx.*_1_1'.*another group has", *TWO, prepare=keep_first, model=chain())
    assert ep.released == [ep.infos[0].address]


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
@HOST
def test_one_compute_info_for_groups_of_two_graphs_is_refused_and_given_back_once(probe):
    def prepare(ep):
        made = ep._compile

        def compile_same(this, graphs, nodes, count, infos, contexts):
            made(this, graphs, nodes, count, infos, contexts)
            C.c_void_p.from_address(infos).value = ep.infos[0].address

        ep.count("Compile", compile_same)

    match = "'ProbeEx.*_1_1'.*another group has"
    ep = refused(probe, "Fail", match, ["then_add"], ["else_sub"], model=branches(), prepare=prepare)
    assert ep.calls_of_log.count("Compile") == 2
    assert ep.released == [ep.infos[0].address]


@pytest.mark.slot(COMPILE)
@HOST
def test_context_nodes_are_refused(probe):
    def prepare(ep):
        made = ep._compile

        def give(this, graphs, nodes, count, infos, contexts):
            made(this, graphs, nodes, count, infos, contexts)
            C.c_void_p.from_address(contexts).value = C.c_void_p.from_address(nodes).value

        ep.count("Compile", give)

    ep = refused(
        probe, "NotImplemented", r"OrtEp\.Compile: for group 'Probe.*EPContext", *TWO, prepare=prepare, model=chain()
    )
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]


@pytest.mark.slot(CREATE, COMPUTE, RELEASE)
@HOST
@pytest.mark.parametrize("name", ["CreateState", "Compute", "ReleaseState"])
def test_compute_info_without_a_callback_is_refused(probe, name):
    match = rf"OrtNodeComputeInfo\.{name}: a required callback is missing"
    ep = refused(probe, "Fail", match, *TWO, model=chain(), prepare=member(name, None))
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert ep.released == sorted(info.address for info in ep.infos)


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
@pytest.mark.parametrize("name", ["Compile", "ReleaseNodeComputeInfos"])
def test_provider_that_proposes_groups_must_compile_and_release(probe, name):
    ep = refused(probe, "Fail", ".", *TWO, prepare=lambda ep: ep.set(name, None), model=chain())
    assert "CreateState" not in ep.calls_of_log
    assert ep.log[-1] == ("ReleaseEp", True)


@pytest.mark.slot(FUSE)
def test_application_may_forbid_compilation(probe):
    with compiling(probe, *TWO) as (ep, options):
        options.add_session_config_entry("session.disable_model_compile", "1")
        with pytest.raises(probe.exception("ModelRequiresCompilation")):
            session_with(probe, chain(), options)
        gc.collect()
    assert ep.calls_of_log == ["ReleaseEp"]


# States and runs.


@pytest.mark.slot(CREATE, RELEASE, RELEASE_INFOS)
def test_failing_state_fails_the_session_and_releases_the_states_before(probe):
    def prepare(ep):
        def adjust(info):
            if len(ep.infos) == 2:
                info.set("CreateState", lambda this, context, out: probe.status(E.ORT_FAIL, b"no room for it"))

        ep.adjust = adjust

    ep = refused(probe, "Fail", ".", *TWO, prepare=prepare, model=chain())
    expected = ["Compile", "CreateState", "ReleaseState", "ReleaseNodeComputeInfos", "ReleaseEp"]
    # Nodes get their states in the order of the graph, groups are compiled in that of the proposals.
    assert ep.calls_of_log == expected
    assert ep.released == sorted(info.address for info in ep.infos)


@pytest.mark.slot(CREATE)
@HOST
def test_failing_state_has_the_codes_and_words_of_its_provider(probe):
    """ORT says "create state failed", code FAIL."""
    refuse = member("CreateState", lambda this, context, out: probe.status(E.ORT_EP_FAIL, b"no room for it"))
    refused(probe, "EPFail", r"Probe.*_0_0'.*no room for it", ["neg"], prepare=refuse, model=chain())


@pytest.mark.slot(COMPUTE)
def test_failing_group_fails_the_run_and_not_the_session(probe):
    broken = [True]

    def adjust(info):
        def compute(this, state, context):
            if broken[0]:
                return probe.status(E.ORT_INVALID_ARGUMENT, b"too hot")
            return info._Compute(this, state, context)

        info.set("Compute", compute)

    with compiling(probe, ["add", "mul"], prepare=lambda ep: setattr(ep, "adjust", adjust)) as (ep, options):
        session = session_with(probe, chain(), options)
        with pytest.raises(probe.exception("InvalidArgument"), match=r"(?s)ProbeExecutionProvider_.*too hot"):
            probe.run(session, {"x": X})
        broken[0] = False
        np.testing.assert_array_equal(probe.run(session, {"x": X})[1], W - X)
        del session
    assert ep.calls_of_log.count("ReleaseState") == 1


@pytest.mark.slot(COMPUTE)
@pytest.mark.finds("output_missing")
@HOST
def test_group_that_makes_no_output_fails_the_run(probe):
    nothing = member("Compute", lambda this, state, context: None)
    with compiling(probe, ["add", "mul"], prepare=nothing) as (_ep, options):
        session = session_with(probe, chain(), options)
        with pytest.raises(probe.exception("Fail"), match=r"output 0 \('b'\) was never produced"):
            probe.run(session, {"x": X})
        del session


@pytest.mark.slot(RELEASE, RELEASE_INFOS, "OrtEp.OnSessionInitializationEnd")
def test_session_that_fails_at_the_end_gives_everything_back(probe):
    def prepare(ep):
        ep.count("OnSessionInitializationEnd", lambda this: probe.status(E.ORT_FAIL, b"never ready"))

    ep = refused(probe, "Fail", "never ready", *TWO, prepare=prepare, model=chain())
    assert ep.calls_of_log.count("CreateState") == ep.calls_of_log.count("ReleaseState") == 2
    assert ep.calls_of_log[-2:] == ["ReleaseNodeComputeInfos", "ReleaseEp"]


@pytest.mark.slot(RELEASE_INFOS)
def test_infos_of_all_graphs_are_given_back_at_once(probe):
    with compiling(probe, ["then_add"], ["else_sub"], ["neg"]) as (ep, options):
        session_with(probe, branches(), options)
    assert [call for call in ep.log if call[0] == "Compile"] == [("Compile", 1)] * 3
    assert ep.calls_of_log.count("ReleaseNodeComputeInfos") == 1
    assert ep.calls_of_log[-5:] == [*["ReleaseState"] * 3, "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert ep.released == sorted(info.address for info in ep.infos)


@pytest.mark.slot("OrtEpApi.SessionOptionsGetWeightlessSourceModelBuffer")
def test_no_weightless_model_is_there(probe):
    seen = []
    with compiling(probe, *TWO) as (ep, options):

        def create(this, hardware, metadata, count, session_options, logger, out):
            data, length = C.c_void_p(1), C.c_size_t(1)
            ep.ep_api.ok.SessionOptionsGetWeightlessSourceModelBuffer(session_options, C.byref(data), C.byref(length))
            seen.append((data.value, length.value))
            C.c_void_p.from_address(out).value = ep.address

        ep.factory.count("CreateEp", create)
        session_with(probe, chain(), options)
    assert seen == [(None, 0)]
