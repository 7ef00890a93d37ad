# SPDX-License-Identifier: Apache-2.0
"""The plugin's execution provider in the real ONNX Runtime, in both modes: who takes which node, and what comes out."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx_light_ort_plugin
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from plugin_ep import CPU, EP_NAME, STRING, Host, model_of

F32 = np.float32


@pytest.fixture(scope="module", params=["kernel", "compile"])
def host(request: pytest.FixtureRequest) -> Host:
    return Host("onnxruntime", request.param)


@pytest.fixture
def registered(host: Host) -> Iterator[Host]:
    with host.registered():
        yield host


def relu_chain(opset: int = 17) -> bytes:
    nodes = [
        helper.make_node("Neg", ["x"], ["n"], name="neg"),
        helper.make_node("Relu", ["n"], ["y"], name="relu"),
    ]
    return model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, ["n", 3])}, opset=opset)


X = np.array([[-1.5, 0, 2], [3, -4, -0.25]], F32)


def test_the_device_says_who_it_is(registered: Host) -> None:
    (device,) = registered.devices()
    assert device.ep_vendor == "onnx-light-ort"
    assert device.device.type == onnxruntime.OrtHardwareDeviceType.CPU
    assert device.ep_metadata["version"] == onnx_light_ort_plugin.__version__


def test_selected_by_device_it_takes_what_it_has_kernels_for(registered: Host) -> None:
    session = registered.session(relu_chain())
    assert registered.assignments(session) == {EP_NAME: ["Neg", "Relu"]}
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(-X, 0))


def test_selected_by_name_it_takes_the_same(registered: Host) -> None:
    session = onnxruntime.InferenceSession(relu_chain(), providers=[EP_NAME])
    assert session.get_providers() == [EP_NAME, CPU]
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = onnxruntime.InferenceSession(relu_chain(), options, providers=[EP_NAME])
    assert registered.assignments(session) == {EP_NAME: ["Neg", "Relu"]}
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(-X, 0))


def test_what_draws_in_training_leaves_its_input_alone(registered: Host) -> None:
    """Other kernels of Dropout give a view of their input, which a host then takes for the output of all."""
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Dropout", ["a", "ratio", "training"], ["d"], seed=1),
        helper.make_node("Neg", ["d"], ["y"]),
        helper.make_node("ReduceSum", ["y"], ["s"], keepdims=0),
        helper.make_node("Mul", ["s", "zero"], ["nothing"]),
        helper.make_node("Add", ["a", "nothing"], ["z"]),  # reads the input of Dropout after it
    ]
    model = model_of(
        nodes,
        {"x": (F32, [8]), "training": (np.bool_, [])},
        {"y": (F32, None), "z": (F32, None)},
        {"ratio": F32(0.5), "zero": F32(0)},
    )
    x = np.arange(1, 9, dtype=F32)
    # Without ONNX Runtime's optimizers, which take Dropout out.
    y, z = registered.session(model, optimize=False).run(None, {"x": x, "training": np.array(True)})
    assert set((y / -x).tolist()) == {0, 2}
    np.testing.assert_array_equal(z, np.arange(1, 9))


def test_a_mixed_model_leaves_the_rest_to_onnx_runtime(registered: Host) -> None:
    nodes = [
        helper.make_node("StringConcat", ["x", "x"], ["t"]),
        helper.make_node("RegexFullMatch", ["t"], ["m"], pattern="a*"),
        helper.make_node("Not", ["m"], ["y"]),
    ]
    session = registered.session(model_of(nodes, {"x": (str, ["n"])}, {"y": (np.bool_, ["n"])}, opset=20))
    assert registered.assignments(session) == {EP_NAME: ["Not", "StringConcat"], CPU: ["RegexFullMatch"]}
    assert session.run(None, {"x": np.array(["a", "b"], object)})[0].tolist() == [False, True]


@pytest.mark.parametrize(
    ("op_type", "opset", "attributes", "more", "expected"),
    [
        ("Relu", 6, {}, {}, np.maximum(X, 0)),
        ("Relu", 13, {}, {}, np.maximum(X, 0)),
        ("Relu", 14, {}, {}, np.maximum(X, 0)),
        ("Clip", 6, {"min": -1.0, "max": 1.0}, {}, X.clip(-1, 1)),
        ("Clip", 11, {}, {"lo": np.array(-1, F32), "hi": np.array(1, F32)}, X.clip(-1, 1)),
        ("Squeeze", 11, {"axes": [0]}, {}, X),
        ("Squeeze", 13, {}, {"axes": np.array([0])}, X),
        ("ReduceSum", 11, {"axes": [1], "keepdims": 0}, {}, X.sum(1)),
        ("ReduceSum", 13, {"keepdims": 0}, {"axes": np.array([1])}, X.sum(1)),
        # Over all axes from the given one before 13, over one axis from there on.
        ("Softmax", 11, {"axis": 0}, {}, np.exp(X) / np.exp(X).sum()),
        ("Softmax", 13, {"axis": 0}, {}, np.exp(X) / np.exp(X).sum(0)),
    ],
)
def test_each_version_of_an_operator_has_its_own_meaning(
    registered: Host, op_type: str, opset: int, attributes: dict, more: dict, expected: np.ndarray
) -> None:
    x = X[np.newaxis] if op_type == "Squeeze" else X
    node = helper.make_node(op_type, ["x", *more], ["y"], **attributes)
    model = model_of([node], {"x": (F32, list(x.shape))}, {"y": (F32, None)}, more, opset)
    session = registered.session(model)
    assert registered.assignments(session) == {EP_NAME: [op_type]}
    np.testing.assert_allclose(session.run(None, {"x": x})[0], expected, rtol=1e-6)


def random_constant() -> bytes:
    """Dropout of a constant draws random numbers in each run, which is left to ONNX Runtime."""
    nodes = [
        helper.make_node("Dropout", ["c", "ratio", "train"], ["d"], name="drop"),
        helper.make_node("Add", ["d", "x"], ["y"]),
    ]
    weights = {"c": np.ones(4, F32), "ratio": np.array(0.5, F32), "train": np.array(True)}
    return model_of(nodes, {"x": (F32, [4])}, {"y": (F32, [4])}, weights)


def test_what_a_kernel_declines_is_not_claimed(registered: Host) -> None:
    session = registered.session(random_constant(), optimize=False)
    assert registered.assignments(session) == {CPU: ["Dropout"], EP_NAME: ["Add"]}


def test_why_a_node_is_left_is_logged(registered: Host, capfd: pytest.CaptureFixture[str]) -> None:
    options = registered.options()
    options.log_severity_level = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    onnxruntime.InferenceSession(random_constant(), options)
    assert f"{EP_NAME} leaves node 'drop' (Dropout): random dropout of a constant" in capfd.readouterr().err


def test_views_inside_a_graph_are_not_copied(registered: Host) -> None:
    """The operator that tells what was copied is a custom operator of the same library."""
    options = onnxruntime.SessionOptions()
    onnx_light_ort_plugin.register(options, ["Relu"])
    count = helper.make_node("CopyCounts", [], ["y"], domain="onnx_light")
    counts = onnxruntime.InferenceSession(model_of([count], {}, {"y": (np.int64, [3])}), options, providers=[CPU])
    nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Reshape", ["n", "s"], ["r"]),
             helper.make_node("Exp", ["r"], ["y"])]  # fmt: skip
    session = registered.session(
        model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, None)}, {"s": np.array([-1])}), optimize=False
    )
    assert registered.assignments(session) == {EP_NAME: ["Exp", "Neg", "Reshape"]}
    before = counts.run(None, {})[0]
    np.testing.assert_allclose(session.run(None, {"x": X})[0], np.exp(-X.reshape(-1)), rtol=1e-6)
    assert (counts.run(None, {})[0] - before).tolist() == [0, 0, 0]


def branches() -> bytes:
    then = helper.make_graph(
        [helper.make_node("Add", ["x", "one"], ["t"])],
        "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Mul", ["x", "x"], ["e"])],
        "else", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
    )  # fmt: skip
    nodes = [helper.make_node("If", ["c"], ["i"], then_branch=then, else_branch=other),
             helper.make_node("Neg", ["i"], ["y"])]  # fmt: skip
    return model_of(nodes, {"c": (np.bool_, []), "x": (F32, ["n", 3])}, {"y": (F32, None)}, {"one": np.array(1, F32)})


def test_nodes_inside_if_are_taken_and_if_is_not(registered: Host) -> None:
    session = registered.session(branches())
    assert registered.assignments(session) == {EP_NAME: ["Add", "Mul", "Neg"], CPU: ["If"]}
    np.testing.assert_array_equal(session.run(None, {"c": np.array(True), "x": X})[0], -(X + 1))
    np.testing.assert_array_equal(session.run(None, {"c": np.array(False), "x": X})[0], -(X * X))


def test_nodes_inside_loop_run_as_often_as_it_says(registered: Host) -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "x"], ["w"]), helper.make_node("Identity", ["go"], ["going"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("going", TensorProto.BOOL, []),
         helper.make_tensor_value_info("w", TensorProto.FLOAT, None)],
    )  # fmt: skip
    node = helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)
    session = registered.session(model_of([node], {"m": (np.int64, []), "x": (F32, ["n", 3])}, {"y": (F32, None)}))
    taken = registered.assignments(session)
    assert "Add" in taken[EP_NAME]
    assert taken[CPU] == ["Loop"]
    for times in (0, 1, 5):
        np.testing.assert_array_equal(session.run(None, {"m": np.array(times), "x": X})[0], X * (times + 1))


@pytest.mark.parametrize("optimize", [True, False])
def test_shapes_may_change_from_run_to_run(registered: Host, optimize: bool) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["a"]),
        helper.make_node("Reshape", ["a", "s"], ["r"]),
        helper.make_node("Softmax", ["r"], ["y"], axis=-1),
    ]
    rng = np.random.default_rng(3)
    w, b = rng.standard_normal((3, 8), F32), rng.standard_normal(8, F32)
    weights = {"w": w, "b": b, "s": np.array([-1, 4])}
    session = registered.session(model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, None)}, weights), None, optimize)
    taken = registered.assignments(session)
    assert CPU not in taken, "a node was left to ONNX Runtime"
    for rows in (2, 0, 5, 1, 64):
        x = rng.standard_normal((rows, 3), F32)
        logits = (x.astype(np.float64) @ w + b).reshape(-1, 4)
        shifted = np.exp(logits - logits.max(1, keepdims=True))
        np.testing.assert_allclose(session.run(None, {"x": x})[0], shifted / shifted.sum(1, keepdims=True), rtol=1e-5)


def test_scalars_and_omitted_arguments(registered: Host) -> None:
    nodes = [
        helper.make_node("Clip", ["x", "", "hi"], ["c"]),
        helper.make_node("Add", ["c", "c"], ["z"]),
        helper.make_node("Unique", ["v"], ["u", "", "back"]),
    ]
    outputs = {"z": (F32, []), "u": (F32, None), "back": (np.int64, None)}
    model = model_of(nodes, {"x": (F32, []), "v": (F32, [4])}, outputs, {"hi": np.array(1, F32)})
    session = registered.session(model)
    assert registered.assignments(session) == {EP_NAME: ["Add", "Clip", "Unique"]}
    z, unique, back = session.run(None, {"x": np.array(7, F32), "v": np.array([3, 1, 3, 2], F32)})
    assert z.shape == ()
    assert z == 2
    np.testing.assert_array_equal(unique, [1, 2, 3])
    np.testing.assert_array_equal(back, [2, 0, 2, 1])


def test_strings_go_in_and_out(registered: Host) -> None:
    node = helper.make_node("StringConcat", ["x", "z"], ["y"])
    session = registered.session(
        model_of([node], {"x": (STRING, ["n"]), "z": (STRING, ["n"])}, {"y": (STRING, ["n"])}, opset=20)
    )
    assert registered.assignments(session) == {EP_NAME: ["StringConcat"]}
    x, z = np.array(["", "größer", "a" * 100], object), np.array(["", "雪", "b"], object)
    assert session.run(None, {"x": x, "z": z})[0].tolist() == ["", "größer雪", "a" * 100 + "b"]


def test_inputs_and_weights_are_left_alone(registered: Host) -> None:
    """Each of these kernels may run in place in our own runtime."""
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Add", ["r", "w"], ["a"]),
             helper.make_node("Reshape", ["x", "s"], ["v"]), helper.make_node("Neg", ["v"], ["b"]),
             helper.make_node("Identity", ["x"], ["same"])]  # fmt: skip
    weights = {"w": np.array([1, 2, 3], F32), "s": np.array([-1])}
    outputs = dict.fromkeys(("a", "b", "same"), (F32, None))
    session = registered.session(model_of(nodes, {"x": (F32, ["n", 3])}, outputs, weights), optimize=False)
    for _ in range(3):
        x = X.copy()
        a, b, same = session.run(None, {"x": x})
        np.testing.assert_array_equal(a, np.maximum(X, 0) + weights["w"])
        np.testing.assert_array_equal(b, -X.reshape(-1))
        np.testing.assert_array_equal(same, X)
        np.testing.assert_array_equal(x, X)


def test_a_feed_at_an_odd_address(registered: Host) -> None:
    session = registered.session(relu_chain())
    buffer = bytearray(X.nbytes + 1)
    buffer[1:] = X.tobytes()
    odd = np.frombuffer(buffer, F32, offset=1).reshape(X.shape)
    np.testing.assert_array_equal(session.run(None, {"x": odd})[0], np.maximum(-X, 0))


def test_results_go_where_the_caller_bound_them(registered: Host) -> None:
    session = registered.session(relu_chain())
    out = np.full_like(X, 9)
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_output("y", "cpu", 0, F32, out.shape, out.ctypes.data)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(out, np.maximum(-X, 0))


def test_an_error_names_the_node_the_operator_and_the_rule(registered: Host) -> None:
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="narrow")
    model = model_of([node], {"x": (F32, ["n", 3]), "s": (np.int64, [1])}, {"y": (F32, None)})
    session = registered.session(model)
    with pytest.raises(InvalidArgument, match=r"node 'narrow' \(Reshape\): input 1 \(shape\): must have as many el"):
        session.run(None, {"x": X, "s": np.array([5])})
    np.testing.assert_array_equal(session.run(None, {"x": X, "s": np.array([6])})[0], X.reshape(6))


def test_many_threads_run_one_session(registered: Host) -> None:
    nodes = [helper.make_node("MatMul", ["x", "x"], ["m"]), helper.make_node("Softmax", ["m"], ["y"])]
    session = registered.session(model_of(nodes, {"x": (F32, ["n", "n"])}, {"y": (F32, None)}))
    assert registered.assignments(session) == {EP_NAME: ["MatMul", "Softmax"]}
    wrong: list[int] = []

    def work(n: int) -> None:
        x = np.eye(n, dtype=F32)
        shifted = np.exp(x - 1)
        expected = shifted / shifted.sum(1, keepdims=True)
        for _ in range(40):
            if not np.allclose(session.run(None, {"x": x})[0], expected, rtol=1e-5):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 3, 40, 120)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("threads", ["0", "1", "2", "1000"])
def test_a_loop_over_threads_does_every_part_once(registered: Host, threads: str) -> None:
    nodes = [helper.make_node("Exp", ["x"], ["e"]), helper.make_node("ReduceSum", ["e"], ["y"], keepdims=0)]
    session = registered.session(
        model_of(nodes, {"x": (np.float64, ["n"])}, {"y": (np.float64, [])}), {"threads": threads}
    )
    x = np.linspace(-3, 3, 1_000_003)
    np.testing.assert_allclose(session.run(None, {"x": x})[0], np.exp(x).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"threads": "-1"}, InvalidArgument, "option 'threads': must be a number from 0"),
        ({"threads": "many"}, InvalidArgument, "option 'threads': must be a number from 0"),
        ({"operators": "Relu,Rleu"}, InvalidArgument, "option 'operators': must be operators that there are kernels"),
        ({"operators": "If"}, InvalidArgument, "option 'operators': must be operators that there are kernels"),
        ({"mode": "fast"}, InvalidArgument, "option 'mode': must be 'kernel' or 'compile', got 'fast'"),
        ({"thread": "1"}, InvalidArgument, "must be one of threads, operators, mode, winograd, float16, got '1'"),
        ({"winograd": "True"}, InvalidArgument, "option 'winograd': must be '0' or '1', got 'True'"),
        ({"float16": ""}, InvalidArgument, "option 'float16': must be '0' or '1', got ''"),
    ],
)
def test_options_that_are_wrong(registered: Host, options: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        registered.session(relu_chain(), options)


def test_only_the_operators_that_were_asked_for(registered: Host) -> None:
    session = registered.session(relu_chain(), {"operators": "Relu, Add"})
    assert registered.assignments(session) == {EP_NAME: ["Relu"], CPU: ["Neg"]}
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(-X, 0))


def test_nodes_with_float16_are_taken_if_asked_for(registered: Host) -> None:
    """ONNX Runtime keeps float32 between them."""
    half = np.float16
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("Mul", ["t", "t"], ["m"]),
        helper.make_node("Cast", ["m"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Neg", ["c"], ["y"]),
    ]
    model = model_of(nodes, {"x": (half, [2, 3])}, {"y": (F32, [3, 2])})
    x = np.array([[1.001, 2, -3], [0.1, 30, 7]], half)
    for options, taken in (
        ({}, ["Neg"]),
        ({"float16": "0"}, ["Neg"]),
        ({"float16": "1"}, ["Cast", "Mul", "Neg", "Transpose"]),
    ):
        session = registered.session(model, options, optimize=False)
        assert sorted(registered.assignments(session)[EP_NAME]) == taken
        found = session.run(None, {"x": x})[0]
        np.testing.assert_allclose(found, -(x.T.astype(F32) ** 2), rtol=2**-11)


def test_it_can_be_registered_again_and_twice(host: Host) -> None:
    for _ in range(3):
        with host.registered():
            session = host.session(relu_chain())
            assert host.assignments(session) == {EP_NAME: ["Neg", "Relu"]}
        assert host.devices() == []
    with host.registered("one"), host.registered("other"):
        assert len(host.devices()) == 2


def test_a_session_outlives_the_registration() -> None:
    """ONNX Runtime lets the library be unregistered too early, and ends with sessions alive at exit."""
    program = """
import sys; sys.path.insert(0, sys.argv[1])
import gc, numpy as np
from onnx import helper
from plugin_ep import EP_NAME, Host, model_of
host = Host("onnxruntime")
node = helper.make_node("Relu", ["x"], ["y"])
model = model_of([node], {"x": (np.float32, ["n"])}, {"y": (np.float32, ["n"])})
sessions = []
for early in (True, False):
    host.ort.register_execution_provider_library("plugin", __import__("onnx_light_ort_plugin").get_library_path())
    sessions.append(host.session(model))
    if early: host.ort.unregister_execution_provider_library("plugin")
for session in sessions:
    assert host.assignments(session) == {EP_NAME: ["Relu"]}
    assert session.run(None, {"x": np.array([-1, 2], np.float32)})[0].tolist() == [0, 2]
del sessions[0]; print("done")
"""
    tests = str(Path(__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-c", program, tests], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
