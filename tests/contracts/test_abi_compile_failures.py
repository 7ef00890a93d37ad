# SPDX-License-Identifier: Apache-2.0
"""Groups that cannot be compiled or run: what fails, with which words, and that all is given back."""

import ctypes as C
import gc

import numpy as np
import pytest
from contracts.graph_models import branches, chain
from contracts.harness import CompilingEp, E, EpFactory, compiling, model_of, registered, session_with
from onnx import helper

NODE = helper.make_node
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


def fails(probe, exception, match, *groups, model=None, prepare=None):
    """Insist that a session is refused, and return the provider after its end."""
    with compiling(probe, *groups, prepare=prepare) as (ep, options):
        with pytest.raises(probe.exception(exception), match=match):
            session_with(probe, model or chain(), options)
        gc.collect()
    return ep


def is_ort(probe):
    return probe.ort.__name__ == "onnxruntime"


def released(ep):
    """Return the infos that were given back, sorted."""
    return sorted(info for name, infos in ep.log if name == "ReleaseNodeComputeInfos" for info in infos)


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

    ep = fails(probe, "EPFail", "no registers left", *TWO, prepare=prepare)
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert released(ep) == [ep.infos[0].address]


@pytest.mark.slot(COMPILE)
def test_failing_compilation_that_made_nothing_has_nothing_to_give_back(probe):
    def prepare(ep):
        ep.count("Compile", lambda *arguments: probe.status(E.ORT_FAIL, b"not today"))

    ep = fails(probe, "Fail", "not today", *TWO, prepare=prepare)
    assert ep.calls_of_log == ["ReleaseEp"]


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
def test_group_without_a_compute_info_fails_the_session(probe):
    def prepare(ep):
        made = ep._compile

        def compile_one(this, graphs, nodes, count, infos, contexts):
            made(this, graphs, nodes, count, infos, contexts)
            C.c_void_p.from_address(infos + 8).value = None

        ep.count("Compile", compile_one)

    ep = fails(probe, "Fail", ".", *TWO, prepare=prepare)
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert released(ep) == [ep.infos[0].address]


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
    ep = fails(probe, "Fail", "'ProbeEx.*_1_1'.*another group has", *TWO, prepare=keep_first)
    assert released(ep) == [ep.infos[0].address]


@pytest.mark.slot(COMPILE)
@HOST
def test_context_nodes_are_refused(probe):
    def prepare(ep):
        made = ep._compile

        def give(this, graphs, nodes, count, infos, contexts):
            made(this, graphs, nodes, count, infos, contexts)
            C.c_void_p.from_address(contexts).value = C.c_void_p.from_address(nodes).value

        ep.count("Compile", give)

    ep = fails(probe, "NotImplemented", r"OrtEp\.Compile: for group 'Probe.*EPContext", *TWO, prepare=prepare)
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]


@pytest.mark.slot(CREATE, COMPUTE, RELEASE)
@HOST
@pytest.mark.parametrize("name", ["CreateState", "Compute", "ReleaseState"])
def test_compute_info_without_a_callback_is_refused(probe, name):
    ep = fails(
        probe, "Fail", rf"OrtNodeComputeInfo\.{name}: a required callback is missing", *TWO, prepare=member(name, None)
    )
    assert ep.calls_of_log == ["Compile", "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert released(ep) == sorted(info.address for info in ep.infos)


@pytest.mark.slot(COMPILE, RELEASE_INFOS)
@pytest.mark.parametrize("name", ["Compile", "ReleaseNodeComputeInfos"])
def test_provider_that_proposes_groups_must_compile_and_release(probe, name):
    ep = fails(probe, "Fail", ".", *TWO, prepare=lambda ep: ep.set(name, None))
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

    ep = fails(probe, "Fail", ".", *TWO, prepare=prepare)
    expected = ["Compile", "CreateState", "ReleaseState", "ReleaseNodeComputeInfos", "ReleaseEp"]
    # Nodes get their states in the order of the graph, groups are compiled in that of the proposals.
    assert ep.calls_of_log == expected
    assert released(ep) == sorted(info.address for info in ep.infos)


@pytest.mark.slot(CREATE)
@HOST
def test_failing_state_has_the_codes_and_words_of_its_provider(probe):
    """ORT says "create state failed", code FAIL."""
    refuse = member("CreateState", lambda this, context, out: probe.status(E.ORT_EP_FAIL, b"no room for it"))
    fails(probe, "EPFail", r"Probe.*_0_0'.*no room for it", ["neg"], prepare=refuse)


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

    ep = fails(probe, "Fail", "never ready", *TWO, prepare=prepare)
    assert ep.calls_of_log.count("CreateState") == ep.calls_of_log.count("ReleaseState") == 2
    assert ep.calls_of_log[-2:] == ["ReleaseNodeComputeInfos", "ReleaseEp"]


@pytest.mark.slot(RELEASE_INFOS)
def test_infos_of_all_graphs_are_given_back_at_once(probe):
    with compiling(probe, ["then_add"], ["else_sub"], ["neg"]) as (ep, options):
        session_with(probe, branches(), options)
    assert [call for call in ep.log if call[0] == "Compile"] == [("Compile", 1)] * 3
    assert ep.calls_of_log.count("ReleaseNodeComputeInfos") == 1
    assert ep.calls_of_log[-5:] == [*["ReleaseState"] * 3, "ReleaseNodeComputeInfos", "ReleaseEp"]
    assert released(ep) == sorted(info.address for info in ep.infos)


# Groups that cannot be.


@pytest.mark.slot(FUSE)
def test_groups_that_overlap_fail_the_session(probe):
    """ORT finds out when it has compiled both."""
    codes = []

    def prepare(ep):
        def propose(graph, support):
            nodes = ep.reader.nodes(graph)
            ep.fuse(support, [nodes["neg"], nodes["add"]])
            codes.append(ep.fuse(support, [nodes["add"], nodes["mul"]])[0])

        ep.propose = propose

    how = ("Fail", ".") if is_ort(probe) else ("EPFail", r"node 'add' \(Add\) is proposed twice")
    ep = fails(probe, *how, prepare=prepare)
    assert codes == [0 if is_ort(probe) else E.ORT_INVALID_ARGUMENT]
    assert len(ep.infos) == (2 if is_ort(probe) else 0)
    assert released(ep) == sorted(info.address for info in ep.infos)


def crossed():
    """Return a model where a feeds b and c feeds d."""
    nodes = [
        NODE("Neg", ["x"], ["p"], name="a"),
        NODE("Relu", ["p"], ["q"], name="b"),
        NODE("Relu", ["x"], ["r"], name="c"),
        NODE("Neg", ["r"], ["s"], name="d"),
    ]
    return model_of(nodes, {"x": [2]}, ["q", "s"])


@pytest.mark.slot(FUSE)
def test_groups_that_feed_each_other_fail_the_session(probe):
    """ORT finds out when it has compiled both."""
    path = r"'a' \(Neg\) -> 'b' \(Relu\) with 'c' \(Relu\) -> 'd' \(Neg\)"
    how = ("Fail", ".") if is_ort(probe) else ("InvalidGraph", path)
    ep = fails(probe, *how, ["a", "d"], ["b", "c"], model=crossed())
    assert len(ep.infos) == (2 if is_ort(probe) else 0)
    assert released(ep) == sorted(info.address for info in ep.infos)


@pytest.mark.slot(FUSE)
def test_group_that_depends_on_itself_may_be_dropped(probe):
    with compiling(probe, ["neg", "mul"]) as (ep, options):
        if hasattr(options, "broken_groups"):
            options.broken_groups = "drop"  # what ONNX Runtime does always
        session = session_with(probe, chain(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[1], W - X)
        del session
    assert ep.calls_of_log == ["ReleaseEp"]


@pytest.mark.slot(FUSE)
@HOST
def test_group_that_depends_on_itself_is_refused_with_the_path(probe):
    path = r"depends on itself through nodes outside it: 'neg' \(Neg\) -> 'add' \(Add\) -> 'mul' \(Mul\)"
    ep = fails(probe, "InvalidGraph", path, ["neg", "mul"])
    assert ep.calls_of_log == ["ReleaseEp"]


@pytest.mark.slot(FUSE, COMPILE)
@HOST
def test_group_that_depends_on_itself_may_be_split(probe):
    with compiling(probe, ["neg", "mul"]) as (ep, options):
        options.broken_groups = "split"
        session = session_with(probe, chain(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[1], W - X)
        assert [row.name for row in session.node_assignments() if row.partition >= 0] == ["neg", "mul"]
        del session
    assert [info.program.nodes[0][0] for info in ep.infos] == ["Neg", "Mul"]


@pytest.mark.slot(FUSE)
@HOST
def test_node_of_another_graph_cannot_be_fused(probe):
    codes = []

    def propose(graph, support):
        if ep.api.get.Graph_GetParentNode(graph) is None:
            nodes = ep.reader.nodes(graph)
            inner = ep.reader.nodes(ep.reader.subgraphs(nodes["if"])["then_branch"])["then_add"]
            codes.append(ep.fuse(support, [nodes["neg"], inner]))

    with compiling(probe) as (ep, options):
        ep.propose = propose
        with pytest.raises(
            probe.exception("EPFail"), match=r"'then_add' \(Add\) is not of the graph that was asked about"
        ):
            session_with(probe, branches(), options)
        gc.collect()
    assert codes[0][0] == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(FUSE)
def test_group_with_a_node_of_an_earlier_provider_is_left_out_whole(probe):
    eps = []
    for name, groups in (("First", [["neg"]]), ("Second", [["neg", "add"], ["mul"]])):
        eps.append(CompilingEp(EpFactory(probe, ep_name=name), groups))
        eps[-1].factory.give(eps[-1])
    options = probe.ort.SessionOptions()
    options.log_severity_level = 4
    with registered(probe, *(ep.factory for ep in eps)) as devices:
        for ep in eps:
            options.add_provider_for_devices([d for d in devices if d.ep_name == ep.factory.name], {})
        eps[1].propose = lambda graph, support: second(eps[1], graph, support)
        session = session_with(probe, chain(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[1], W - X)
        del session, devices, options
        gc.collect()
    assert [[info.program.nodes[0][0] for info in ep.infos] for ep in eps] == [["Neg"], ["Mul"]]


def second(ep, graph, support):
    """Propose the first two nodes as one group and the third as another, whoever has them."""
    nodes = list(ep.reader.nodes(graph).values())
    ep.fuse(support, nodes[:2])
    ep.fuse(support, nodes[2:3])


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
