# SPDX-License-Identifier: Apache-2.0
"""Groups of nodes that cannot run as one step each: what is refused, split, dropped or left out."""

import ctypes as C
import gc
import mmap
import re

import numpy as np
import pytest
from contracts.graph_models import branches, chain, crossed
from contracts.harness import CompilingEp, E, EpFactory, compiling, refused, registered, session_with
from onnx import TensorProto, helper

NODE = helper.make_node
HOST = pytest.mark.host_stricter
FUSE, COMPILE = "OrtEpApi.EpGraphSupportInfo_AddNodesToFuse", "OrtEp.Compile"
X = np.array([1, -2], np.float32)
W = np.array([1, 2], np.float32)


def is_ort(probe):
    return probe.ort.__name__ == "onnxruntime"


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

    how = ("Fail", ".") if is_ort(probe) else ("EPFail", r"node 'add' \(Add\) is proposed twice \(`broken_groups` can")
    ep = refused(probe, *how, prepare=prepare, model=chain())
    assert codes == [0 if is_ort(probe) else E.ORT_INVALID_ARGUMENT]
    assert len(ep.infos) == (2 if is_ort(probe) else 0)
    assert ep.released == sorted(info.address for info in ep.infos)


@pytest.mark.slot(FUSE)
def test_groups_that_feed_each_other_fail_the_session(probe):
    """ORT finds out when it has compiled both."""
    path = r"'a' \(Neg\) -> 'b' \(Relu\) with 'c' \(Relu\) -> 'd' \(Neg\) \(`broken_groups` can"
    how = ("Fail", ".") if is_ort(probe) else ("InvalidGraph", path)
    ep = refused(probe, *how, ["a", "d"], ["b", "c"], model=crossed())
    assert len(ep.infos) == (2 if is_ort(probe) else 0)
    assert ep.released == sorted(info.address for info in ep.infos)


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
    path = (
        r"depends on itself through nodes outside it: 'neg' \(Neg\) -> 'add' \(Add\) -> 'mul' \(Mul\)"
        r" \(`broken_groups` can split or drop such a group\)"
    )
    ep = refused(probe, "InvalidGraph", path, ["neg", "mul"], model=chain())
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


@pytest.mark.slot(FUSE, "OrtApi.Graph_GetGraphView")
def test_node_of_a_graph_and_of_its_view_counts_once(probe):
    codes = []
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            view = ep.reader.view(graph, "add", "mul")
            nodes, again = ep.reader.nodes(graph), ep.reader.nodes(view)
            codes.append(ep.fuse(support, [again["add"], nodes["add"], nodes["mul"]])[0])
            ep.api.ReleaseGraph(view)

        ep.propose = propose
        ep.look = lambda ep, graph, node: list(ep.reader.nodes(graph))
        session_with(probe, chain(), options)
    assert (ep.seen, codes) == ([["add", "mul"]], [0])


@pytest.mark.slot(FUSE)
@HOST
@pytest.mark.parametrize("broken", ["null", "count"])
def test_proposal_that_is_refused_leaves_its_nodes_free(probe, broken):
    codes = []
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            add, mul = (ep.reader.nodes(graph)[name] for name in ("add", "mul"))
            nodes = [add, None] if broken == "null" else [add] * 5
            codes.append(ep.fuse(support, nodes))
            codes.append(ep.fuse(support, [add, mul]))

        ep.propose = propose
        ep.look = lambda ep, graph, node: list(ep.reader.nodes(graph))
        session_with(probe, chain(), options)
    assert [code for code, _ in codes] == [E.ORT_INVALID_ARGUMENT, 0]
    assert {"null": "nodes is null", "count": "num_nodes: the graph has 4 nodes, got 5"}[broken] in codes[0][1]
    assert ep.seen == [["add", "mul"]]


@pytest.mark.slot(FUSE, "OrtApi.Graph_GetGraphView")
@HOST
@pytest.mark.parametrize("slot", ["fuse", "view"])
def test_no_entry_behind_the_nodes_of_the_graph_is_read(probe, slot):
    """The array ends where memory can be read no more."""
    libc = C.CDLL(None)
    libc.mmap.restype, page = C.c_void_p, mmap.PAGESIZE
    libc.mmap.argtypes = [C.c_void_p, C.c_size_t, C.c_int, C.c_int, C.c_int, C.c_long]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    memory = libc.mmap(None, 2 * page, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    assert libc.mprotect(C.c_void_p(memory + page), C.c_size_t(page), 0) == 0
    errors = []
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            last = memory + page - C.sizeof(C.c_void_p)
            C.c_void_p.from_address(last).value = ep.reader.nodes(graph)["add"]
            if slot == "fuse":
                errors.append(ep.ep_api.error.EpGraphSupportInfo_AddNodesToFuse(support, last, 1 << 40, None))
            else:
                errors.append(ep.api.error.Graph_GetGraphView(graph, last, 1 << 40, C.byref(C.c_void_p())))

        ep.propose = propose
        session_with(probe, chain(), options)
    libc.munmap(C.c_void_p(memory), C.c_size_t(2 * page))
    ((code, message),) = errors
    assert code == E.ORT_INVALID_ARGUMENT
    assert re.search(rf"num_nodes: the graph.* has 4 nodes, got {1 << 40}$", message), message


@pytest.mark.slot(FUSE)
@HOST
@pytest.mark.parametrize(("group", "what"), [("split", "output 's'"), ("length", "input 's'")])
def test_group_with_a_sequence_at_its_boundary_is_refused(probe, group, what):
    match = rf"GetCapability: group 'ProbeEx.*': its {what} must be a tensor, got seq\(tensor\(float\)\)"
    ep = refused(probe, "NotImplemented", match, [group], model=sequences())
    assert ep.calls_of_log == ["ReleaseEp"]


@pytest.mark.slot(FUSE, COMPILE)
def test_group_with_a_sequence_inside_runs(probe):
    with compiling(probe, ["split", "length"]) as (ep, options):
        ep.adjust = lambda info: setattr(info.program, "run", lambda inputs: [np.array(4, np.int64)])
        session = session_with(probe, sequences(), options)
        assert probe.run(session, {"x": np.ones(4, np.float32)})[0] == 4
        del session


def sequences():
    """Return a model that counts the elements of a sequence."""
    nodes = [
        NODE("SplitToSequence", ["x"], ["s"], name="split"),
        NODE("SequenceLength", ["s"], ["n"], name="length"),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, element, shape)]
        for name, element, shape in (("x", TensorProto.FLOAT, [4]), ("n", TensorProto.INT64, []))
    )
    return helper.make_model(
        helper.make_graph(nodes, "graph", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
