# SPDX-License-Identifier: Apache-2.0
"""Misuse of the Python face: objects used twice or from several threads, impossible outputs."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper, numpy_helper


def model_of(nodes, inputs, outputs, initializers=()) -> bytes:
    """Return a model of float inputs and outputs of unknown rank."""

    def infos(names):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]

    tensors = [numpy_helper.from_array(array, name) for name, array in dict(initializers).items()]
    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


ADD = model_of([helper.make_node("Add", ["x", "x"], ["y"])], ["x"], ["y"])


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
