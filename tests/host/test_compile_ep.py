# SPDX-License-Identifier: Apache-2.0
"""A library that compiles pairs of Mul and Add: what it takes, what it computes, and what is left when it ends."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from fixture_eps import FAULTS, EpFixture, model_of, taken, tensors
from onnx import helper

NODE = helper.make_node
RNG = np.random.default_rng(0)
W, B = RNG.standard_normal((2, 3)).astype(np.float32)
CALLBACKS = ["OrtEp.Compile", "OrtNodeComputeInfo.CreateState", "OrtNodeComputeInfo.Compute"]
RELEASES = ["OrtNodeComputeInfo.ReleaseState", "OrtEp.ReleaseNodeComputeInfos"]


@pytest.fixture(scope="module")
def library():
    """Return the library, which stays loaded so that its counters do."""
    made = EpFixture(ort, "compile_ep")
    with made.registered("keeps"):
        pass
    return made


def pair(count=1, shape=("n", 3), opset=17):
    """Return x * W + B, applied several times, with Relu between, which nobody compiles."""
    nodes, value = [], "x"
    for i in range(count):
        nodes.append(NODE("Mul", [value, "W"], [f"m{i}"], name=f"mul{i}"))
        nodes.append(NODE("Add", [f"m{i}", "B"], [f"a{i}"], name=f"add{i}"))
        nodes.append(NODE("Relu", [f"a{i}"], [value := "y" if i == count - 1 else f"r{i}"], name=f"relu{i}"))
    return model_of(nodes, tensors("x", shape=list(shape)), tensors("y"), {"W": W, "B": B}, opset)


def expected(x, count=1):
    for _ in range(count):
        x = np.maximum(x * W + B, np.float32(0))
    return x


@pytest.mark.parametrize("name", ["keeps", "drops"])
def test_pairs_are_taken_and_everything_else_is_not(library, name):
    x = RNG.standard_normal((4, 3)).astype(np.float32)
    counted = [*CALLBACKS, *RELEASES]
    with library.registered(name) as devices, library.counting(*counted) as calls:
        session = library.session(pair(3), (devices[name], {}))
        assert taken(session, name) == {f"{op}{i}" for op in ("mul", "add") for i in range(3)}
        rows = {row.name: row.partition for row in session.node_assignments()}
        assert [rows[f"mul{i}"] for i in range(3)] == [rows[f"add{i}"] for i in range(3)] == [0, 1, 2]
        assert rows["relu0"] == -1
        for _ in range(2):
            np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x, 3), rtol=1e-5)
        del session
        gc.collect()
    assert calls == dict(zip(counted, [1, 3, 6, 3, 1], strict=True))


@pytest.mark.parametrize("name", ["keeps", "drops"])
def test_shapes_may_change_from_run_to_run(library, name):
    with library.registered(name) as devices:
        session = library.session(pair(2), (devices[name], {}))
        for rows in (1, 7, 0, 3, 0, 64, 1):
            x = RNG.standard_normal((rows, 3)).astype(np.float32)
            np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x, 2), rtol=1e-5)
        del session


def test_ranks_may_change_from_run_to_run(library):
    nodes = [NODE("Mul", ["x", "W"], ["m"], name="mul"), NODE("Add", ["m", "B"], ["y"], name="add")]
    model = model_of(nodes, tensors("x"), tensors("y"), {"W": W, "B": B})
    with library.registered("drops") as devices:
        session = library.session(model, (devices["drops"], {}))
        for shape in [(3,), (2, 3), (2, 0, 3), (), (2, 1, 2, 1)]:
            x = RNG.standard_normal(shape).astype(np.float32)
            np.testing.assert_allclose(session.run(None, {"x": x})[0], x * W + B, rtol=1e-5)
        del session


def test_operands_of_either_side_and_feeds_as_all_three(library):
    nodes = [NODE("Mul", ["u", "x"], ["m"], name="mul"), NODE("Add", ["v", "m"], ["y"], name="add")]
    feeds = {
        name: RNG.standard_normal(shape).astype(np.float32)
        for name, shape in zip("uxv", [(2, 1), (3,), ()], strict=True)
    }
    with library.registered("keeps") as devices:
        session = library.session(model_of(nodes, tensors("uxv"), tensors("y")), (devices["keeps"], {}))
        assert taken(session, "keeps") == {"mul", "add"}
        np.testing.assert_allclose(session.run(None, feeds)[0], feeds["v"] + feeds["u"] * feeds["x"], rtol=1e-5)
        del session


@pytest.mark.parametrize("name", ["keeps", "drops"])
def test_runs_of_eight_threads(library, name):
    with library.registered(name) as devices:
        session = library.session(pair(4), (devices[name], {}))

        def work(session, number):
            rng = np.random.default_rng(number)
            for _ in range(25):
                x = rng.standard_normal((rng.integers(0, 40), 3)).astype(np.float32)
                np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x, 4), rtol=1e-4, atol=1e-5)
            return True

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, [session] * 8, range(8)))
        del session


@pytest.mark.parametrize("name", ["keeps", "drops"])
@pytest.mark.parametrize("source", ["file", "external"])
def test_weights_in_a_file(library, name, source, tmp_path):
    x = RNG.standard_normal((2, 3)).astype(np.float32)
    where = (
        {"save_as_external_data": True, "size_threshold": 0, "location": "weights.bin"} if source == "external" else {}
    )
    onnx.save(pair(2), tmp_path / "m.onnx", **where)
    options = ort.SessionOptions()
    with library.registered(name) as devices:
        options.add_provider_for_devices(devices[name], {})
        session = ort.InferenceSession(tmp_path / "m.onnx", options)
        assert len(taken(session, name)) == 4
        np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x, 2), rtol=1e-5)
        del session, options


def test_initializer_that_can_be_fed_is_an_input_also_where_constants_are_dropped(library):
    model = pair()
    model.graph.input.append(helper.make_tensor_value_info("B", onnx.TensorProto.FLOAT, [3]))
    x, other = RNG.standard_normal((2, 2, 3)).astype(np.float32)
    with library.registered("drops") as devices:
        session = library.session(model, (devices["drops"], {}))
        np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x), rtol=1e-5)
        np.testing.assert_allclose(
            session.run(None, {"x": x, "B": other[0]})[0], np.maximum(x * W + other[0], 0), rtol=1e-5
        )
        del session


def branch(name, operand):
    """Return a body that computes x * operand + B, both from outside."""
    nodes = [
        NODE("Mul", ["x", operand], [f"{name}_m"], name=f"{name}_mul"),
        NODE("Add", [f"{name}_m", "B"], [name], name=f"{name}_add"),
    ]
    return helper.make_graph(nodes, name, [], tensors([name]))


@pytest.mark.parametrize("name", ["keeps", "drops"])
def test_pairs_in_branches_use_values_of_the_graph_around(library, name):
    node = NODE("If", ["c"], ["y"], name="if", then_branch=branch("then", "W"), else_branch=branch("other", "h"))
    half = NODE("Sub", ["x", "W"], ["h"], name="half")
    inputs = tensors("x", shape=["n", 3]) + tensors("c", bool, [])
    model = model_of([half, node], inputs, tensors("y"), {"W": W, "B": B})
    x = RNG.standard_normal((2, 3)).astype(np.float32)
    with library.registered(name) as devices:
        session = library.session(model, (devices[name], {}))
        assert taken(session, name) == {"then_mul", "then_add", "other_mul", "other_add"}
        for condition, want in ((True, x * W + B), (False, x * (x - W) + B)):
            got = session.run(None, {"x": x, "c": np.array(condition)})[0]
            np.testing.assert_allclose(got, want, rtol=1e-5)
        del session


def test_many_groups_between_native_nodes_and_kernels_of_another_library(library):
    kernels = EpFixture(ort, "kernel_ep")
    x = RNG.standard_normal((5, 3)).astype(np.float32) / 4
    with library.registered("drops") as devices, kernels.registered("kernels") as others:
        session = library.session(pair(100), (devices["drops"], {}), (others["kernels"], {"every": "2"}))
        owners = {row.provider for row in session.node_assignments()}
        assert owners == {"drops", "kernels", "CPUExecutionProvider"}
        assert len(taken(session, "drops")) == 200
        assert len(taken(session, "kernels")) == 50
        np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x, 100), rtol=1e-4, atol=1e-5)
        del session


def test_what_an_earlier_library_has_is_in_no_group(library):
    kernels = EpFixture(ort, "kernel_ep")
    with library.registered("keeps") as devices, kernels.registered("kernels") as others:
        session = library.session(pair(2), (others["kernels"], {"nodes": "mul1"}), (devices["keeps"], {}))
        assert taken(session, "keeps") == {"mul0", "add0"}
        del session


def test_sessions_come_and_go(library):
    x = RNG.standard_normal((2, 3)).astype(np.float32)
    with library.registered("keeps", "drops") as devices:
        sessions = []
        for i in range(50):
            sessions.append(library.session(pair(3), (devices["keeps" if i % 2 else "drops"], {})))
            np.testing.assert_allclose(sessions[i % len(sessions)].run(None, {"x": x})[0], expected(x, 3), rtol=1e-5)
            if len(sessions) > 3:
                sessions.pop(i % 4)
        sessions.clear()


def test_session_tells_its_groups(library):
    node = NODE("If", ["c"], ["y"], name="if", then_branch=branch("then", "W"), else_branch=branch("other", "h"))
    nodes = [NODE("Sub", ["x", "W"], ["h"], name="half"), node, *pair().graph.node[:2]]
    inputs = tensors("x", shape=["n", 3]) + tensors("c", bool, [])
    model = model_of(nodes, inputs, tensors(["y", "a0"]), {"W": W, "B": B})
    with library.registered("keeps", "drops") as devices:
        for name in ("keeps", "drops"):
            session = library.session(model, (devices[name], {}))
            found = {
                (p.graph, tuple(p.outputs)): (p.index, p.nodes, p.inputs, p.constants) for p in session.partitions()
            }
            dropped = name == "drops"
            assert found == {
                ("#1.then_branch", ("then",)): (0, [0, 1], ["x"], ["W", "B"])
                if dropped
                else (0, [0, 1], ["x", "W", "B"], []),
                ("#1.else_branch", ("other",)): (0, [0, 1], ["x", "h"], ["B"])
                if dropped
                else (0, [0, 1], ["x", "h", "B"], []),
                ("", ("a0",)): (0, [2, 3], ["x"], ["W", "B"]) if dropped else (0, [2, 3], ["x", "W", "B"], []),
            }
            assert session.partitions()[-1].graph == ""
            assert {(p.provider, p.library) for p in session.partitions()} == {(name, library.path)}
            kernels = {row.kernel for row in session.node_assignments() if row.partition >= 0}
            assert kernels == {p.name for p in session.partitions()}
            del session


def test_explain_tells_groups(library, tmp_path):
    onnx.save(pair(2), tmp_path / "m.onnx")

    def explain(*more):
        command = [
            sys.executable,
            "-m",
            "onnx_light_ort_host",
            "explain",
            tmp_path / "m.onnx",
            "--ep",
            library.path,
            *more,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    *_, header, _, first, second = explain("--svg", tmp_path / "m.svg").splitlines()
    assert header.split() == ["group", "graph", "provider", "nodes", "receives", "makes", "compiled", "with"]
    assert first.split()[:2] == ["0", "main"]
    assert first.split()[3:] == ["mul0,", "add0", "x,", "W,", "B", "a0"]
    assert second.split()[3:] == ["mul1,", "add1", "r0,", "W,", "B", "a1"]
    assert "\u2192 a0" in (tmp_path / "m.svg").read_text(encoding="utf-8")
    groups = json.loads(explain("--groups", "--json"))
    assert [(group["inputs"], group["outputs"]) for group in groups] == [
        (["x", "W", "B"], ["a0"]),
        (["r0", "W", "B"], ["a1"]),
    ]


# Failures.


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("nth", [1, 2])
def test_state_that_goes_wrong_leaves_nothing(library, fault, nth):
    with library.registered("keeps") as devices:
        before = library.balance()
        with library.failing("OrtNodeComputeInfo.CreateState", fault, nth):
            error = library.error_of(library.session, pair(3), (devices["keeps"], {}))
        kind = ort.EPFail if fault == "status" else ort.RuntimeException
        assert isinstance(error, kind), error
        words = ["keeps_keeps_", f"_{nth - 1}_{nth - 1}'", library.path]
        assert [word for word in words if word not in str(error)] == [], error
        gc.collect()
        assert library.balance() == before


@pytest.mark.parametrize("fault", FAULTS)
def test_compilation_that_goes_wrong_leaves_nothing(library, fault):
    with library.registered("keeps") as devices:
        before = library.balance()
        with library.failing("OrtEp.Compile", fault):
            error = library.error_of(library.session, pair(3), (devices["keeps"], {}))
        assert isinstance(error, ort.EPFail if fault == "status" else ort.RuntimeException), error
        assert [word for word in ("'keeps'", library.path, "OrtEp.Compile") if word not in str(error)] == [], error
        gc.collect()
        assert library.balance() == before


@pytest.mark.parametrize("fault", FAULTS)
def test_run_that_goes_wrong_is_told_and_the_next_one_works(library, fault):
    x = RNG.standard_normal((2, 3)).astype(np.float32)
    with library.registered("keeps") as devices:
        session = library.session(pair(3), (devices["keeps"], {}))
        with library.failing("OrtNodeComputeInfo.Compute", fault, 2):
            error = library.error_of(session.run, None, {"x": x})
        assert isinstance(error, ort.EPFail if fault == "status" else ort.RuntimeException), error
        assert [word for word in ("_1_1", library.path) if word not in str(error)] == [], error
        np.testing.assert_allclose(session.run(None, {"x": x})[0], expected(x, 3), rtol=1e-5)
        del session


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "status"])
@pytest.mark.parametrize("callback", RELEASES)
def test_release_that_throws_is_logged(library, callback, fault, capfd):
    with library.registered("keeps") as devices:
        session = library.session(pair(2), (devices["keeps"], {}))
        with library.failing(callback, fault):
            del session
            gc.collect()
        assert f"{callback}: the callback threw" in capfd.readouterr().err


@pytest.mark.parametrize("fault", FAULTS)
def test_capability_that_goes_wrong_fails_the_session(library, fault):
    with library.registered("keeps") as devices:
        before = library.balance()
        with library.failing("OrtEp.GetCapability", fault):
            error = library.error_of(library.session, pair(), (devices["keeps"], {}))
        assert isinstance(error, ort.EPFail if fault == "status" else ort.RuntimeException), error
        assert [word for word in ("'keeps'", library.path, "OrtEp.GetCapability") if word not in str(error)] == [], (
            error
        )
        gc.collect()
        assert library.balance() == before
