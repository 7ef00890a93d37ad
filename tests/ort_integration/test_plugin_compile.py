# SPDX-License-Identifier: Apache-2.0
"""The plugin's provider in compile mode in the real ONNX Runtime: which nodes become one, and what crosses the border.

What holds in both modes is in test_plugin_ep.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_plugin
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from plugin_ep import CPU, EP_NAME, STRING, Host, model_of

F32 = np.float32
X = np.array([[-1.5, 0, 2], [3, -4, -0.25]], F32)


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host("onnxruntime", "compile")
    with made.registered():
        yield made


def node(op_type: str, inputs: list[str], output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], name=f"make_{output}", **attributes)


def test_a_whole_model_is_one_group(host: Host) -> None:
    nodes = [node("MatMul", ["x", "w"], "m"), node("Add", ["m", "b"], "a"), node("Tanh", ["a"], "y"),
             node("ReduceMax", ["x"], "z", keepdims=0)]  # fmt: skip
    rng = np.random.default_rng(1)
    weights = {"w": rng.standard_normal((3, 5), F32), "b": rng.standard_normal(5, F32)}
    model = model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, ["n", 5]), "z": (F32, [])}, weights)
    session = host.session(model, optimize=False)
    assert host.groups(session) == [["Add", "MatMul", "ReduceMax", "Tanh"]]
    y, z = session.run(None, {"x": X})
    np.testing.assert_allclose(y, np.tanh(X.astype(np.float64) @ weights["w"] + weights["b"]), rtol=1e-6)
    assert z == 3


def test_nodes_that_wait_for_others_are_a_group_of_their_own(host: Host) -> None:
    """Exp is left to ONNX Runtime: Add waits for it, the others do not."""
    nodes = [node("Neg", ["x"], "n"), node("Exp", ["n"], "e"), node("Abs", ["x"], "a"), node("Mul", ["n", "a"], "z"),
             node("Add", ["e", "z"], "y")]  # fmt: skip
    model = model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, ["n", 3]), "z": (F32, ["n", 3])})
    session = host.session(model, {"operators": "Neg,Abs,Mul,Add"}, optimize=False)
    assert host.groups(session) == [["Abs", "Mul", "Neg"], ["Add"]]
    assert host.assignments(session)[CPU] == ["Exp"]
    y, z = session.run(["y", "z"], {"x": X})
    np.testing.assert_array_equal(z, -X * abs(X))
    np.testing.assert_allclose(y, np.exp(-X) + z, rtol=1e-6)


def test_groups_never_wait_for_each_other_in_a_circle(host: Host) -> None:
    """Two chains that cross: each has one node for ONNX Runtime in its middle, and each reads the other's start."""
    nodes = [node("Neg", ["x"], "a1"), node("Exp", ["a1"], "a2"), node("Add", ["a2", "b1"], "y"),
             node("Abs", ["x"], "b1"), node("Exp", ["b1"], "b2"), node("Mul", ["b2", "a2"], "z")]  # fmt: skip
    model = model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, ["n", 3]), "z": (F32, ["n", 3])})
    session = host.session(model, {"operators": "Neg,Abs,Mul,Add"}, optimize=False)
    assert host.groups(session) == [["Abs", "Neg"], ["Add", "Mul"]]
    y, z = session.run(["y", "z"], {"x": X})
    np.testing.assert_allclose(y, np.exp(-X) + abs(X), rtol=1e-6)
    np.testing.assert_allclose(z, np.exp(abs(X)) * np.exp(-X), rtol=1e-6)


def test_weights_that_others_use_too(host: Host) -> None:
    nodes = [node("Add", ["x", "w"], "a"), node("Exp", ["w"], "e"), node("Mul", ["a", "e"], "y")]
    w = np.array([1, 2, 3], F32)
    session = host.session(
        model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, ["n", 3])}, {"w": w}), {"operators": "Add,Mul"}, False
    )
    assert host.groups(session) == [["Add", "Mul"]]
    for _ in range(3):
        np.testing.assert_allclose(session.run(None, {"x": X})[0], (X + w) * np.exp(w), rtol=1e-6)


def test_a_default_that_is_fed_is_no_constant(host: Host) -> None:
    model = onnx.load_from_string(
        model_of([node("Add", ["x", "w"], "s"), node("Relu", ["s"], "y")], {"x": (F32, [3]), "w": (F32, [3])},
                 {"y": (F32, [3])}, {"w": np.array([1, 2, 3], F32)})
    )  # fmt: skip
    session = host.session(model.SerializeToString())
    assert host.groups(session) == [["Add", "Relu"]]
    x, w = np.array([1, -9, 1], F32), np.array([10, 20, 30], F32)
    assert session.run(None, {"x": x})[0].tolist() == [2, 0, 4]
    assert session.run(None, {"x": x, "w": w})[0].tolist() == [11, 11, 31]
    assert session.run(None, {"x": x})[0].tolist() == [2, 0, 4]


def test_weights_in_a_file_around_the_body_that_uses_them(tmp_path: Path, host: Host) -> None:
    """Groups in bodies could not read them, but nodes in bodies are taken one by one."""
    w = np.arange(600, dtype=F32).reshape(200, 3)
    body = helper.make_graph(
        [node("MatMul", ["v", "w"], "m"), node("Neg", ["m"], "t")],
        "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )  # fmt: skip
    other = helper.make_graph(
        [node("ReduceSum", ["v"], "e")], "else", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)]
    )
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=other)]
    model = onnx.load_from_string(
        model_of(nodes, {"c": (np.bool_, []), "v": (F32, [2, 200])}, {"y": (F32, None)}, {"w": w})
    )
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    options = host.options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), options)
    assert host.groups(session) == [["MatMul"], ["Neg"], ["ReduceSum"]]
    v = np.ones((2, 200), F32)
    np.testing.assert_allclose(session.run(None, {"c": np.array(True), "v": v})[0], -(v @ w))
    np.testing.assert_allclose(session.run(None, {"c": np.array(False), "v": v})[0], [[400]])


def test_nothing_is_copied_at_the_border(host: Host) -> None:
    """The operator that tells what was copied is a custom operator of the same library."""
    options = onnxruntime.SessionOptions()
    onnx_light_ort_plugin.register(options, ["Relu"])
    count = helper.make_node("CopyCounts", [], ["y"], domain="onnx_light")
    counts = onnxruntime.InferenceSession(model_of([count], {}, {"y": (np.int64, [3])}), options, providers=[CPU])
    nodes = [node("Neg", ["x"], "n"), node("Reshape", ["n", "s"], "r"), node("Exp", ["r"], "y"),
             node("Identity", ["n"], "z")]  # fmt: skip
    session = host.session(
        model_of(nodes, {"x": (F32, ["n", 3])}, dict.fromkeys("yz", (F32, None)), {"s": np.array([-1])}), optimize=False
    )
    assert host.groups(session) == [["Exp", "Identity", "Neg", "Reshape"]]
    before = counts.run(None, {})[0]
    y, z = session.run(None, {"x": X})
    np.testing.assert_allclose(y, np.exp(-X.reshape(-1)), rtol=1e-6)
    np.testing.assert_array_equal(z, -X)
    assert (counts.run(None, {})[0] - before).tolist() == [0, 0, 0]


@pytest.mark.parametrize("wrong", [[2], [2, 1], [None, None, 3]])
def test_extents_other_than_the_model_says(host: Host, wrong: list[int | None]) -> None:
    """ONNX Runtime does not compare what its own nodes make with what the model says of it."""
    model = onnx.load_from_string(
        model_of(
            [node("Exp", ["x"], "e"), node("MatMul", ["e", "w"], "m"), node("Neg", ["m"], "y")],
            {"x": (F32, ["n", 2])},
            {"y": (F32, None)},
            {"w": np.array([[1, 2, 3], [4, 5, 6]], F32)},
        )
    )
    model.graph.value_info.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, wrong))
    session = host.session(model.SerializeToString(), {"operators": "MatMul,Neg"}, optimize=False)
    right = np.array([-5, -7, -9], F32)

    def check(rows: int) -> None:
        np.testing.assert_allclose(session.run(None, {"x": np.zeros((rows, 2), F32)})[0], np.tile(right, (rows, 1)))

    for rows in (2, 3, 0, 1, 2):
        check(rows)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, [3, 2, 5, 1] * 8))


def test_strings_cross_the_border(host: Host) -> None:
    nodes = [node("StringConcat", ["x", "x"], "t"), node("StringConcat", ["t", "s"], "y")]
    model = model_of(nodes, {"x": (STRING, ["n"])}, {"y": (STRING, ["n"])}, {"s": np.array(["!"], object)}, opset=20)
    session = host.session(model)
    assert host.groups(session) == [["StringConcat", "StringConcat"]]
    x = np.array(["", "größer", "a" * 100], object)
    assert session.run(None, {"x": x})[0].tolist() == ["!", "größergrößer!", "a" * 200 + "!"]
    assert session.run(None, {"x": x[:0]})[0].tolist() == []


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_of_onnx_runtime_change_nothing(host: Host, threads: int) -> None:
    nodes = [node("MatMul", ["x", "w"], "m"), node("Softmax", ["m"], "s"), node("Transpose", ["s"], "y")]
    rng = np.random.default_rng(2)
    w, x = rng.standard_normal((96, 200), F32), rng.standard_normal((150, 96), F32)
    model = model_of(nodes, {"x": (F32, ["n", 96])}, {"y": (F32, None)}, {"w": w})

    def result(threads: int) -> np.ndarray:
        options = host.options()
        options.intra_op_num_threads = threads
        return onnxruntime.InferenceSession(model, options).run(None, {"x": x})[0]

    np.testing.assert_array_equal(result(threads), result(1))
    logits = x.astype(np.float64) @ w
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    np.testing.assert_allclose(result(threads), (shifted / shifted.sum(1, keepdims=True)).T, rtol=2e-4, atol=1e-9)


def test_an_error_names_the_group_and_the_node(host: Host) -> None:
    nodes = [node("Neg", ["x"], "n"), node("Reshape", ["n", "s"], "y")]
    session = host.session(model_of(nodes, {"x": (F32, [6]), "s": (np.int64, [1])}, {"y": (F32, None)}))
    expected = rf"{EP_NAME}: group '{EP_NAME}.*': node 'make_y' \(Reshape\): input 1 \(shape\): must have as many elem"
    with pytest.raises(InvalidArgument, match=expected):
        session.run(None, {"x": np.ones(6, F32), "s": np.array([5])})
    np.testing.assert_array_equal(session.run(None, {"x": np.ones(6, F32), "s": np.array([6])})[0], -np.ones(6, F32))


def test_compiling_can_be_forbidden(host: Host) -> None:
    options = host.options()
    options.add_session_config_entry("session.disable_model_compile", "1")
    model = model_of([node("Neg", ["x"], "y")], {"x": (F32, [3])}, {"y": (F32, [3])})
    with pytest.raises(Exception, match="User disabled EP compilation"):
        onnxruntime.InferenceSession(model, options)


@pytest.mark.parametrize("nested", [False, True])
def test_bodies_of_nodes_that_onnx_runtime_inlines(host: Host, nested: bool) -> None:
    """It would not find the domain of groups in there: bodies have no groups."""
    make = helper.make_tensor_value_info
    inner = [node("Neg", ["i"], "n"), node("Abs", ["n"], "o")]
    if nested:
        branches = {
            branch: helper.make_graph([node("Neg", ["i"], "n"), node("Abs", ["n"], "b")], branch, [],
                                      [make("b", TensorProto.FLOAT, None)])
            for branch in ("then_branch", "else_branch")
        }  # fmt: skip
        inner = [node("ReduceSum", ["i"], "s", keepdims=0), node("Cast", ["s"], "c", to=TensorProto.BOOL),
                 node("If", ["c"], "o", **branches)]  # fmt: skip
    body = helper.make_graph(inner, "body", [make("i", TensorProto.FLOAT, [3])], [make("o", TensorProto.FLOAT, [3])])
    nodes = [helper.make_node("SequenceConstruct", ["x", "x"], ["l"]),
             helper.make_node("SequenceMap", ["l"], ["m"], body=body),
             helper.make_node("ConcatFromSequence", ["m"], ["y"], axis=0)]  # fmt: skip
    session = host.session(model_of(nodes, {"x": (F32, [3])}, {"y": (F32, None)}))
    x = np.array([1, -2, 3], F32)
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.abs(np.concatenate([x, x])))
