# SPDX-License-Identifier: Apache-2.0
"""Groups of nodes that a provider compiles: how they are proposed, what it is shown of them, and how they run."""

import ctypes as C
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from contracts.graph_models import branches, chain, loop, tensor
from contracts.harness import E, compiling, model_of, session_with, text
from onnx import TensorProto, helper

NODE = helper.make_node
FUSE, COMPILE = "OrtEpApi.EpGraphSupportInfo_AddNodesToFuse", "OrtEp.Compile"
CREATE, COMPUTE = "OrtNodeComputeInfo.CreateState", "OrtNodeComputeInfo.Compute"
RELEASE = "OrtNodeComputeInfo.ReleaseState"
X = np.array([1, -2], np.float32)
W, V, T, B = (np.array(v, np.float32) for v in ([1, 2], [3, 4], [3, 3], [5, 6]))
CHAIN = {"b": W - X, "c": (W - X) * V}


def leaky(x):
    """Return LeakyRelu of the default slope."""
    return np.where(x < 0, np.float32(0.01) * x, x)


def boundary(ep, graph, node):
    """Return the names of a group's inputs, outputs and initializers."""
    return ep.reader.boundary(graph)


def seen_of(probe, model, *groups, look=boundary, drop=None):
    """Return what ``look(ep, graph, fused_node)`` gives for each group of a model, in order."""
    with compiling(probe, *groups, drop=drop) as (ep, options):
        ep.look = look
        session_with(probe, model, options)
    return ep.seen


def run(probe, model, feeds, *groups, drop=None, prepare=None):
    """Return the outputs of a model whose groups are compiled."""
    with compiling(probe, *groups, drop=drop, prepare=prepare) as (_ep, options):
        session = session_with(probe, model, options)
        outputs = probe.run(session, feeds)
        del session
    return outputs


@pytest.mark.slot(FUSE, COMPILE, CREATE, COMPUTE, RELEASE, "OrtEp.ReleaseNodeComputeInfos")
def test_group_runs_as_one_step(probe):
    with compiling(probe, ["add", "mul"]) as (ep, options):
        session = session_with(probe, chain(), options)
        for _ in range(3):
            y, b = probe.run(session, {"x": X})
            np.testing.assert_array_equal(b, CHAIN["b"])
            np.testing.assert_array_equal(y, leaky(CHAIN["c"]))
        del session
    (info,) = ep.infos
    name = info.program.node_name
    assert ep.log == [
        ("Compile", 1), ("CreateState", name), ("ReleaseState", name), ("ReleaseNodeComputeInfos", [info.address]),
        ("ReleaseEp", True),
    ]  # fmt: skip


@pytest.mark.slot(FUSE)
def test_order_in_which_nodes_are_named_does_not_matter(probe):
    orders = ["neg", "add", "mul"], ["mul", "neg", "add"]
    shown = [
        seen_of(probe, chain(), order, look=lambda ep, graph, node: list(ep.reader.nodes(graph))) for order in orders
    ]
    assert shown == [[["neg", "add", "mul"]]] * 2


@pytest.mark.slot(FUSE)
def test_node_that_is_repeated_in_a_group_counts_once(probe):
    codes = []
    with compiling(probe, ["add", "mul"]) as (ep, options):
        ep.propose = lambda graph, support: codes.append(ep.fuse(support, [ep.reader.nodes(graph)["add"]] * 3)[0])
        ep.look = lambda ep, graph, node: list(ep.reader.nodes(graph))
        session_with(probe, chain(), options)
    assert (ep.seen, codes) == ([["add"]], [0])


@pytest.mark.slot(FUSE)
@pytest.mark.parametrize("broken", ["support", "nodes", "count"])
def test_proposal_checks_its_arguments(probe, broken):
    codes = []

    def propose(graph, support):
        nodes = list(ep.reader.nodes(graph).values())
        if broken == "support":
            codes.append(ep.fuse(None, nodes)[0])
        elif broken == "nodes":
            codes.append(ep.ep_api.code.EpGraphSupportInfo_AddNodesToFuse(support, None, 1, None))
        else:
            codes.append(ep.fuse(support, [])[0])

    with compiling(probe) as (ep, options):
        ep.propose = propose
        session_with(probe, chain(), options)
    assert codes == [E.ORT_INVALID_ARGUMENT]
    assert ep.log == [("ReleaseEp", True)]


@pytest.mark.slot(FUSE, COMPILE)
def test_several_groups_are_compiled_in_one_call(probe):
    with compiling(probe, ["mul"], ["neg"]) as (ep, options):
        session = session_with(probe, chain(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[1], CHAIN["b"])
        del session
    assert [program.nodes[0][0] for program in (info.program for info in ep.infos)] == ["Mul", "Neg"]
    assert ep.log[0] == ("Compile", 2)
    assert sorted(ep.log[-2][1]) == sorted(info.address for info in ep.infos)
    assert ep.calls_of_log.count("ReleaseNodeComputeInfos") == 1
    assert len({info.program.node_name for info in ep.infos}) == 2


# What the provider is shown.


@pytest.mark.slot(COMPILE, "OrtApi.Node_GetName", "OrtApi.Node_GetOperatorType", "OrtApi.Node_GetDomain")
@pytest.mark.slot("OrtApi.Node_GetSinceVersion", "OrtApi.Node_GetEpName", "OrtApi.Node_GetGraph")
def test_the_node_that_a_group_becomes(probe):
    def look(ep, graph, node):
        get = ep.api.get
        arrays = ("Attributes", "ImplicitInputs")
        return (
            *(text(getattr(get, f"Node_Get{part}")(node)) for part in ("Name", "OperatorType", "Domain", "EpName")),
            text(get.Graph_GetName(graph)),
            get.Node_GetSinceVersion(node),
            get.Node_GetGraph(node),
            [getattr(get, f"Node_GetNum{part}")(node) for part in (*arrays, "Subgraphs")],
        )

    ((name, op_type, domain, ep_name, graph, since, owner, counts),) = seen_of(
        probe, chain(), ["add", "mul"], look=look
    )
    ep = "ProbeExecutionProvider"
    assert re.fullmatch(rf"{ep}_{ep}_\d+_0_0", name)
    assert (op_type, graph) == (name[len(ep) + 1 : -2],) * 2
    assert (domain, ep_name, since, owner, counts) == (ep, ep, 1, None, [0, 0, 0])


@pytest.mark.slot(COMPILE, "OrtApi.ValueInfo_GetValueProducer")
@pytest.mark.slot("OrtApi.ValueInfo_GetValueNumConsumers", "OrtApi.ValueInfo_GetInitializerValue")
def test_values_of_that_node_have_a_name_and_a_type_alone(probe):
    def look(ep, graph, node):
        code, found = ep.api.code, {}
        for value in (*ep.reader.entries("Node_GetInputs", node), *ep.reader.entries("Node_GetOutputs", node)):
            pointer, index, count = C.c_void_p(), C.c_size_t(), C.c_size_t()
            codes = [
                code.ValueInfo_GetValueProducer(value, C.byref(pointer), C.byref(index)),
                code.ValueInfo_GetValueNumConsumers(value, C.byref(count)),
            ]
            initializer = ep.api.get.ValueInfo_GetInitializerValue(value)
            found[ep.reader.name(value)] = ep.reader.type_of(value)[0], ep.reader.flags(value), codes, initializer
        return found

    (seen,) = seen_of(probe, chain(), ["add", "mul"], look=look)
    assert list(seen) == ["a", "W", "V", "b", "c"]
    nothing = TensorProto.FLOAT, set(), [E.ORT_NOT_FOUND, E.ORT_FAIL], None
    assert list(seen.values()) == [nothing] * 5


@pytest.mark.slot(COMPILE, "OrtApi.Node_GetInputs", "OrtApi.Node_GetOutputs")
@pytest.mark.parametrize("drop", [None, False, True])
def test_boundary_of_a_group_is_that_of_its_node(probe, drop):
    def look(ep, graph, node):
        return ep.reader.boundary(graph), *(ep.reader.names(f"Node_Get{part}", node) for part in ("Inputs", "Outputs"))

    (((inputs, outputs, initializers), *of_node),) = seen_of(probe, chain(), ["add", "mul"], look=look, drop=drop)
    assert [inputs, outputs] == of_node == [["a", "W"] + ([] if drop else ["V"]), ["b", "c"]]
    assert initializers == {"W", "V"}


@pytest.mark.slot(COMPILE, COMPUTE)
@pytest.mark.parametrize("drop", [False, True])
def test_constants_can_be_read_and_run_whether_dropped_or_not(probe, drop):
    constants = []
    y, _ = run(
        probe, chain(), {"x": X, "W": V}, ["add", "mul"], drop=drop,
        prepare=lambda ep: setattr(ep, "adjust", lambda info: constants.append(info.program.constants)),
    )  # fmt: skip
    np.testing.assert_array_equal(y, leaky((V - X) * V))
    assert [{name: value.tolist() for name, value in found.items()} for found in constants] == [{"V": [3, 4]}]


@pytest.mark.slot(COMPILE, FUSE)
def test_boundary_order(probe):
    """Inputs are in the order of first use, constants at their place; outputs in the order in which they are made."""
    nodes = [
        NODE("Add", ["u", "C"], ["a"], name="one"),
        NODE("Mul", ["x", "a"], ["b"], name="two"),
        NODE("Sub", ["b", "u"], ["c"], name="three"),
        NODE("Add", ["c", "D"], ["d"], name="four"),
        NODE("Neg", ["b"], ["e"], name="outside"),
    ]
    model = model_of(nodes, {"x": [2], "u": [2]}, ["e", "d", "a"], initializers=[tensor("C", 1, 1), tensor("D", 2, 2)])
    group = ["one", "two", "three", "four"]
    assert seen_of(probe, model, group) == [(["u", "C", "x", "D"], ["a", "b", "d"], {"C", "D"})]
    assert seen_of(probe, model, group, drop=True) == [(["u", "x"], ["a", "b", "d"], {"C", "D"})]


@pytest.mark.slot(COMPILE)
@pytest.mark.parametrize("drop", [False, True])
def test_output_of_a_constant_node_is_a_constant(probe, drop):
    nodes = [
        NODE("Constant", [], ["k"], name="constant", value=tensor("", 7, 8)),
        NODE("Add", ["x", "k"], ["a"], name="add"),
        NODE("Neg", ["a"], ["y"], name="neg"),
    ]
    model = model_of(nodes, {"x": [2]}, ["y"])
    assert seen_of(probe, model, ["add", "neg"], drop=drop) == [(["x"] if drop else ["x", "k"], ["y"], {"k"})]
    np.testing.assert_array_equal(
        run(probe, model, {"x": X}, ["add", "neg"], drop=drop)[0], -(X + np.array([7, 8], np.float32))
    )


@pytest.mark.slot(COMPILE)
def test_omitted_argument_is_no_input(probe):
    nodes = [NODE("Clip", ["x", "", "M"], ["a"], name="clip"), NODE("Neg", ["a"], ["y"], name="neg")]
    limit = helper.make_tensor("M", TensorProto.FLOAT, [], [0.5])
    model = model_of(nodes, {"x": [2]}, ["y"], initializers=[limit])
    assert seen_of(probe, model, ["clip", "neg"]) == [(["x", "M"], ["y"], {"M"})]


# Control flow.


@pytest.mark.slot(COMPILE)
@pytest.mark.parametrize("drop", [False, True])
def test_group_in_a_body_gets_what_the_body_captures(probe, drop):
    seen = seen_of(probe, branches(), ["then_add", "then_mul"], ["else_sub"], look=values, drop=drop)
    by_outputs = {tuple(outputs): (inputs, outer) for inputs, outputs, outer in seen}
    assert by_outputs == {
        ("t",): (["x"] if drop else ["x", "W", "T"], {"x", "W"}),
        ("e",): (["m", "B"], {"m", "B"}),
    }


def values(ep, graph, node):
    """Return the inputs and outputs of a group, and what it has from outer graphs."""
    inputs, outputs, _ = ep.reader.boundary(graph)
    return inputs, outputs, {n for n, v in ep.reader.values(graph).items() if "outer" in ep.reader.flags(v)}


@pytest.mark.slot(COMPILE, COMPUTE)
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize(("cond", "want"), [(True, (X + W) * T), (False, -X - B)])
def test_group_in_a_branch_runs(probe, cond, want, drop):
    feeds = {"x": X, "B": B, "cond": np.array(cond)}
    groups = ["then_add", "then_mul"], ["else_sub"]
    np.testing.assert_array_equal(run(probe, branches(), feeds, *groups, drop=drop)[0], want)


@pytest.mark.slot(COMPILE, COMPUTE)
@pytest.mark.parametrize("drop", [False, True])
def test_group_in_a_loop_runs_each_time(probe, drop):
    np.testing.assert_array_equal(run(probe, loop(), {"x": X}, ["body_add"], drop=drop)[0], X + 3 * W)


@pytest.mark.slot(COMPILE, COMPUTE)
def test_control_flow_that_is_taken_whole_has_its_captures_as_inputs(probe):
    def look(ep, graph, node):
        (subgraphs,) = [ep.reader.subgraphs(n) for name, n in ep.reader.nodes(graph).items() if name == "if"]
        return ep.reader.boundary(graph)[:2], {name: list(ep.reader.nodes(g)) for name, g in subgraphs.items()}

    def compute(info):
        names = info.program.inputs
        info.program.run = lambda inputs: [dict(zip(names, inputs, strict=True))["m"] * np.float32(2)]

    def prepare(ep):
        ep.look, ep.adjust = look, compute

    with compiling(probe, ["if"], prepare=prepare) as (ep, options):
        session = session_with(probe, branches(), options)
        got = probe.run(session, {"x": X, "B": B, "cond": np.array(False)})
        del session
    (((inputs, outputs), subgraphs),) = ep.seen
    assert inputs[0] == "cond"
    assert sorted(inputs[1:]) == ["B", "W", "m", "x"]
    assert outputs == ["y"]
    assert subgraphs == {"then_branch": ["then_add", "then_mul"], "else_branch": ["else_sub"]}
    np.testing.assert_array_equal(got[0], -2 * X)


# Running.


@pytest.mark.slot("OrtEpApi.NodeComputeContext_NodeName", CREATE)
def test_state_is_made_for_the_node_once(probe):
    with compiling(probe, ["neg"], ["mul"]) as (ep, options):
        session = session_with(probe, chain(), options)
        assert sorted(name for call, name in ep.log if call == "CreateState") == sorted(
            info.program.node_name for info in ep.infos
        )
        probe.run(session, {"x": X})
        assert ep.calls_of_log.count("CreateState") == 2
        del session


@pytest.mark.slot(CREATE, COMPUTE, RELEASE)
def test_null_is_a_state_that_is_never_released(probe):
    with compiling(probe, ["add", "mul"]) as (ep, options):
        ep.adjust = lambda info: setattr(info, "state", None)
        session = session_with(probe, chain(), options)
        np.testing.assert_array_equal(probe.run(session, {"x": X})[1], CHAIN["b"])
        del session
    assert ep.calls_of_log == ["Compile", "CreateState", "ReleaseNodeComputeInfos", "ReleaseEp"]


@pytest.mark.slot(COMPUTE)
def test_shapes_may_change_from_run_to_run(probe):
    nodes = [NODE("Add", ["x", "x"], ["a"], name="add"), NODE("Neg", ["a"], ["y"], name="neg")]
    with compiling(probe, ["add", "neg"]) as (_ep, options):
        session = session_with(probe, model_of(nodes, {"x": ["n", "m"]}, ["y"]), options)
        for shape in ([1, 2], [0, 3], [5, 1], [0, 0], [1, 2]):
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            np.testing.assert_array_equal(probe.run(session, {"x": x})[0], -2 * x)
        del session


@pytest.mark.slot(COMPUTE)
def test_group_runs_on_several_threads(probe):
    with compiling(probe, ["add", "mul"]) as (_ep, options):
        session = session_with(probe, chain(), options)
        with ThreadPoolExecutor(4) as pool:
            runs = [pool.submit(probe.run, session, {"x": X * np.float32(k)}) for k in range(40)]
        for k, done in enumerate(runs):
            np.testing.assert_array_equal(done.result()[1], W - X * np.float32(k))
        del session


@pytest.mark.slot(COMPUTE, COMPILE)
def test_two_sessions_have_groups_of_their_own(probe):
    with compiling(probe, ["add", "mul"]) as (ep, options):
        first, second = (session_with(probe, chain(), options) for _ in range(2))
        for session in (first, second, first):
            np.testing.assert_array_equal(probe.run(session, {"x": X})[1], CHAIN["b"])
        del first, second, session
    assert ep.calls_of_log.count("ReleaseState") == ep.calls_of_log.count("CreateState") == 2
    released = [address for call, infos in ep.log if call == "ReleaseNodeComputeInfos" for address in infos]
    assert sorted(released) == sorted(info.address for info in ep.infos)
