# SPDX-License-Identifier: Apache-2.0
"""What `SessionOptions.broken_groups` makes of groups that cannot be, and what the host settles without being asked."""

import gc

import numpy as np
import pytest
from contracts.graph_models import branches, chain, crossed
from contracts.harness import CompilingEp, EpFactory, compiling, model_of, registered, session_with
from onnx import TensorProto, helper

NODE = helper.make_node
FUSE, COMPILE = "OrtEpApi.EpGraphSupportInfo_AddNodesToFuse", "OrtEp.Compile"
pytestmark = [pytest.mark.host_stricter, pytest.mark.slot(FUSE, COMPILE)]
X = np.array([1, -2], np.float32)
W = np.array([1, 2], np.float32)
WARNING = 2


def groups_of(session):
    """Return the names of the nodes of each group, in the order of the graph."""
    names = {row.index: row.name for row in session.node_assignments() if not row.graph}
    return [[names[node] for node in group.nodes] for group in session.partitions() if not group.graph]


def mended(probe, model, policy, *groups, feeds=None):
    """Return the groups that are made of those that a provider proposes, and the outputs of a run."""
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            nodes = ep.reader.nodes(graph)
            for group in groups:
                code, message = ep.fuse(support, [nodes[name] for name in group])
                assert code == 0, message

        ep.propose = propose
        options.broken_groups = policy
        options.log_severity_level = WARNING
        session = session_with(probe, model, options)
        found = groups_of(session), probe.run(session, feeds or {"x": X})
        del session
    return found


def test_nodes_of_a_dropped_group_say_so(probe):
    with compiling(probe, ["neg", "mul"]) as (_ep, options):
        options.broken_groups = "drop"
        session = session_with(probe, chain(), options)
        reasons = {row.name: row.reason for row in session.node_assignments()}
        del session
    left_out = "ProbeExecutionProvider: proposed the node in a group that was left out"
    assert {name for name, reason in reasons.items() if left_out in reason} == {"neg", "mul"}
    assert "did not propose the node" in reasons["add"]


@pytest.mark.parametrize(
    ("policy", "groups", "words"),
    [
        ("split", [["neg", "add"], ["mul"]], "goes on without nodes of others: 'add' (Add) is in 'Probe"),
        ("drop", [["neg", "add"]], "is dropped, for it shares nodes of others: 'add' (Add) is in 'Probe"),
    ],
)
def test_groups_that_overlap(probe, capfd, policy, groups, words):
    found, outputs = mended(probe, chain(), policy, ["neg", "add"], ["add", "mul"])
    assert found == groups
    np.testing.assert_array_equal(outputs[1], W - X)
    (line,) = [line for line in capfd.readouterr().err.splitlines() if words in line]
    assert "_1_1'" in line


@pytest.mark.parametrize(
    ("policy", "groups", "words"),
    [
        ("split", [["a", "d"], ["c"], ["b"]], "is split into 2: "),
        ("drop", [["a", "d"]], "is dropped: "),
    ],
)
def test_groups_that_feed_each_other(probe, capfd, policy, groups, words):
    found, outputs = mended(probe, crossed(), policy, ["a", "d"], ["b", "c"])
    assert found == groups
    np.testing.assert_array_equal(outputs, [np.maximum(-X, 0), -np.maximum(X, 0)])
    path = "'c' (Relu) -> 'd' (Neg) with 'a' (Neg) -> 'b' (Relu); its nodes: 'b' (Relu), 'c' (Relu)"
    (line,) = [line for line in capfd.readouterr().err.splitlines() if words + path in line]
    assert "_1_1'" in line


@pytest.mark.parametrize("policy", ["auto", "refuse", "split", "drop"])
def test_group_around_hidden_nodes_is_split(probe, capfd, policy):
    """The provider sees neither the nodes with strings nor that what it makes comes back through them."""
    nodes = [
        NODE("Relu", ["x"], ["r"], name="relu"),
        NODE("Cast", ["r"], ["s"], name="to_text", to=TensorProto.STRING),
        NODE("Cast", ["s"], ["b"], name="to_float", to=TensorProto.FLOAT),
        NODE("Add", ["r", "b"], ["y"], name="add"),
    ]
    found, outputs = mended(probe, model_of(nodes, {"x": [2]}, ["y"]), policy, ["relu", "add"])
    assert found == [["relu"], ["add"]]
    np.testing.assert_array_equal(outputs[0], 2 * np.maximum(X, 0))
    words = "is split into 2 around nodes that the provider was not shown: 'to_text' (Cast), 'to_float' (Cast)"
    lines = [line for line in capfd.readouterr().err.splitlines() if words in line]
    assert len(lines) == 1
    assert "execution provider ProbeExecutionProvider: partition 'Probe" in lines[0]
    assert "its nodes: 'relu' (Relu), 'add' (Add)" in lines[0]


def test_node_that_is_in_a_group_and_alone_goes_with_the_group(probe):
    with compiling(probe) as (ep, options):

        def propose(graph, support):
            nodes = ep.reader.nodes(graph)
            ep.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, nodes["add"])
            ep.fuse(support, [nodes["add"], nodes["mul"]])

        ep.propose = propose
        options.broken_groups = "drop"
        session = session_with(probe, chain(), options)
        assert groups_of(session) == [["add", "mul"]]
        del session


def test_nodes_in_bodies_that_a_later_provider_takes_whole_are_told(probe, capfd):
    eps = []
    for name, groups in (("First", [["then_add"]]), ("Second", [["else_sub"], ["if"]])):
        eps.append(CompilingEp(EpFactory(probe, ep_name=name), groups))
        eps[-1].factory.give(eps[-1])
    eps[1].adjust = lambda info: setattr(info.program, "run", lambda inputs: [X * np.float32(7)])
    options = probe.ort.SessionOptions()
    options.log_severity_level = WARNING
    with registered(probe, *(ep.factory for ep in eps)) as devices:
        for ep in eps:
            options.add_provider_for_devices([d for d in devices if d.ep_name == ep.factory.name], {})
        session = session_with(probe, branches(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X, "cond": np.array(True)})[0], 7 * X)
        (row,) = [row for row in session.node_assignments() if row.name == "if"]
        assert row.provider == "Second"
        assert "compiled by the provider; takes with it 'then_add' (Add) of First" in row.reason
        del session, devices, options
        gc.collect()
    (line,) = [line for line in capfd.readouterr().err.splitlines() if "takes with it" in line]
    assert "execution provider Second: node 'if' (If) (Second_Second_" in line
    assert "takes with it what is in its bodies: 'then_add' (Add) of First" in line
    assert "else_sub" not in line
    assert "CreateState" not in eps[0].calls_of_log
    assert eps[0].released == [eps[0].infos[0].address]
