# SPDX-License-Identifier: Apache-2.0
"""Misuse of the Python face: objects used twice or from several threads, impossible outputs."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper, numpy_helper, parser


def model_of(nodes, inputs, outputs, initializers=()) -> bytes:
    """Return a model of float inputs and outputs of unknown rank."""

    def infos(names):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]

    tensors = [numpy_helper.from_array(array, name) for name, array in dict(initializers).items()]
    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


ADD = model_of([helper.make_node("Add", ["x", "x"], ["y"])], ["x"], ["y"])


SIMD = """
import sys
import onnx_light_ort_host as ort
try:
    ort.InferenceSession(sys.argv[1])
except ort.InvalidArgument as error:
    print(error)
"""


def test_a_wrong_instruction_set_is_told_when_a_session_is_made(run_python, tmp_path):
    path = tmp_path / "add.onnx"
    path.write_bytes(ADD)
    said = run_python(SIMD, path, ONNX_LIGHT_SIMD="sse9").stdout
    assert "ONNX_LIGHT_SIMD: must be one of baseline" in said
    assert "got 'sse9'" in said
    assert "node" not in said
    assert run_python(SIMD, path, ONNX_LIGHT_SIMD="baseline").stdout == ""


def test_a_session_keeps_its_model():
    session = ort.InferenceSession(ADD)
    with pytest.raises(
        ort.InvalidArgument, match=r"^InferenceSession: expected a new object, got one that has a model"
    ):
        session.__init__(model_of([helper.make_node("Mul", ["a", "b"], ["y"])], ["a", "b"], ["y"]))
    assert session.run(None, {"x": np.ones(2, np.float32)})[0].tolist() == [2, 2]


def test_a_failed_init_can_be_repeated():
    session = ort.InferenceSession.__new__(ort.InferenceSession)
    with pytest.raises(ort.InvalidProtobuf):
        session.__init__(b"x")
    session.__init__(ADD)
    assert session.run(None, {"x": np.ones(2, np.float32)})[0].tolist() == [2, 2]


def test_a_second_init_leaves_running_threads_alone(run_python):
    source = """
import sys, threading, numpy as np, onnx_light_ort_host as ort
model = bytes.fromhex(sys.argv[1])
session, x, done, wrong = ort.InferenceSession(model), np.ones(1_000_000, np.float32), threading.Event(), []
def run():
    while not done.is_set():
        if session.run(None, {"x": x})[0][-1] != 2: wrong.append(1)
threads = [threading.Thread(target=run) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(50):
    try: session.__init__(model)
    except ort.InvalidArgument: pass
done.set()
for thread in threads: thread.join()
print(wrong)
"""
    assert run_python(source, ADD.hex()).stdout == "[]\n"


def test_options_may_change_while_sessions_are_made(run_python, fixtures):
    source = """
import sys, threading, onnx_light_ort_host as ort
model, folder = bytes.fromhex(sys.argv[1]), sys.argv[2]
options, done, seen = ort.SessionOptions(), threading.Event(), set()
options.log_severity_level = 4
def make():
    finished = False
    while not finished:
        finished = done.is_set()  # so that the last session is made with all libraries
        try: ort.InferenceSession(model, options)
        except ort.Fail as error: seen.add("domain already set by" in str(error))
threads = [threading.Thread(target=make) for _ in range(3)]
for thread in threads: thread.start()
libraries = ["add_two", "attributes", "polymorphic", "optional_input", "shape_inference"]
for i in range(60):
    options.register_custom_ops_library(f"{folder}/{libraries[i % 5]}.so")
    options.add_session_config_entry(f"key{i}", "value")
done.set()
for thread in threads: thread.join()
print(seen, options.get_session_config_entry("key0"))
"""
    assert run_python(source, ADD.hex(), fixtures).stdout == "{True} value\n"


def test_registrations_from_several_threads_all_count(run_python, fixtures):
    source = """
import sys, threading, onnx_light_ort_host as ort
model, path = bytes.fromhex(sys.argv[1]), sys.argv[2]
for _ in range(20):
    options, start = ort.SessionOptions(), threading.Barrier(2)
    def register():
        start.wait()
        options.register_custom_ops_library(path)
    threads = [threading.Thread(target=register) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    try: ort.InferenceSession(model, options)
    except ort.Fail as error: assert "domain already set by" in str(error)
    else: raise SystemExit("one of two registrations was lost")
"""
    run_python(source, ADD.hex(), fixtures / "add_two.so")


def test_none_is_no_text():
    options = ort.SessionOptions()
    with pytest.raises(TypeError, match="expected str, got NoneType"):
        options.logid = None
    with pytest.raises(TypeError, match="expected str, got NoneType"):
        options.add_session_config_entry(None, "value")
    with pytest.raises(TypeError, match="expected str, got NoneType"):
        options.add_session_config_entry("key", None)


def test_extents_that_numpy_has_not_name_the_output():
    shape = np.array([2**62, 2**62, 0], np.int64)
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], allowzero=1)
    session = ort.InferenceSession(model_of([node], ["x"], ["y"], {"shape": shape}))
    message = r"^output 'y': numpy has no arrays of such extents, got \[4611686018427387904, 4611686018427387904, 0\]$"
    with pytest.raises(ort.InvalidArgument, match=message):
        session.run(None, {"x": np.ones((0,), np.float32)})


def test_strings_between_nodes_count_against_the_limit():
    nodes = [
        helper.make_node("Cast", ["x"], ["text"], to=TensorProto.STRING),
        helper.make_node("Cast", ["text"], ["y"], to=TensorProto.FLOAT),
    ]
    x = np.ones(10_000, np.float32)
    options = ort.SessionOptions()
    options.memory_limit_bytes = 200_000  # a string object has 32 bytes
    session = ort.InferenceSession(model_of(nodes, ["x"], ["y"]), options)
    for _ in range(2):
        with pytest.raises(ort.Fail, match=r"\(Cast\): output buffer: needs 320000 bytes, over the memory limit"):
            session.run(None, {"x": x})
        assert session.run(None, {"x": x[:1000]})[0].tolist() == [1] * 1000
    options.memory_limit_bytes = 400_000
    session = ort.InferenceSession(model_of(nodes, ["x"], ["y"]), options)
    for _ in range(3):
        assert session.run(None, {"x": x})[0].tolist() == [1] * 10_000


@pytest.mark.parametrize("mask", [[False, True], [True, True]])
def test_a_mask_is_not_lost(mask):
    session = ort.InferenceSession(ADD)
    x = np.ma.array([1, 2], np.float32, mask=mask)
    with pytest.raises(
        ort.InvalidArgument, match=r"input 'x': expected an array without masked elements, got a masked"
    ):
        session.run(None, {"x": x})
    assert session.run(None, {"x": x.filled(0)})[0].tolist() == (2 * x.filled(0)).tolist()


@pytest.mark.parametrize("mask", [np.ma.nomask, [False, False]])
def test_a_mask_that_hides_nothing_is_no_mistake(mask):
    x = np.ma.array([1, 2], np.float32, mask=mask)
    assert ort.InferenceSession(ADD).run(None, {"x": x})[0].tolist() == [2, 4]


@pytest.mark.parametrize("op_type", ["Range", "ConstantOfShape", "Expand"])
def test_memory_that_is_not_there_is_named_with_its_bytes(op_type):
    nodes = {
        "Range": "a = Constant <value_int = 0> () d = Constant <value_int = 1> () y = Range (a, n, d)",
        "ConstantOfShape": "one = Constant <value_ints = [1]> () s = Reshape (n, one) y = ConstantOfShape"
        " <value = int64[1] {7}> (s)",
        "Expand": "one = Constant <value_ints = [1]> () s = Reshape (n, one) v = Constant <value_int = 3> ()"
        " y = Expand (v, s)",
    }
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> g (int64 n) => (int64[M] y) {{ {nodes[op_type]} }}'
    )
    session = ort.InferenceSession(model.SerializeToString())
    for n in (10**15, 10**17):  # more than a process can address
        with pytest.raises(
            ort.RuntimeException, match=rf"\({op_type}\): out of memory: needs {8 * n} bytes"
        ) as failure:
            session.run(None, {"n": np.array(n)})
        assert str(failure.value).startswith("node ")
    assert session.run(None, {"n": np.array(3)})[0].size == 3


def test_an_output_that_is_not_as_declared_is_a_warning(capfd):
    def run(declared):
        text = f"(float[N, M] x) => (float[{declared}] y, float[A, B] z) {{ y = Neg (x) z = Abs (x) }}"
        model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
        session = ort.InferenceSession(model.SerializeToString())
        capfd.readouterr()
        assert session.run(["y"], {"x": np.ones((2, 3), np.float32)})[0].shape == (2, 3)
        return capfd.readouterr().err

    assert run("2, 3") == run("A, 3") == run("N, M") == ""
    said = run("2, 4")
    assert len(said.splitlines()) == 1
    assert "output 'y': the model declares tensor(float) [2, 4], the run gave tensor(float) [2, 3]" in said
