# SPDX-License-Identifier: Apache-2.0
"""Nodes that nobody runs natively run through ``onnx.reference``."""

from __future__ import annotations

import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper

TRAINING = "ai.onnx.preview.training"
FLOAT, INT64, STRING, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL


def model_of(nodes, inputs, outputs) -> bytes:
    """Return a model with the given nodes; inputs and outputs map names to element types."""

    def infos(values):
        return [helper.make_tensor_value_info(name, kind, None) for name, kind in values.items()]

    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs))
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(TRAINING, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()


def momentum() -> bytes:
    """Return a model of an operator that no library of kernels has."""
    attributes = {"norm_coefficient": 0.0, "alpha": 0.5, "beta": 1.0, "mode": "standard"}
    node = helper.make_node("Momentum", ["r", "t", "x", "g", "v"], ["x1", "v1"], "step", domain=TRAINING, **attributes)
    inputs = {"r": FLOAT, "t": INT64, "x": FLOAT, "g": FLOAT, "v": FLOAT}
    return model_of([node], inputs, {"x1": FLOAT, "v1": FLOAT})


FEEDS = {
    "r": np.array(0.25, np.float32),
    "t": np.array(1, np.int64),
    "x": np.float32([1, 2]),
    "g": np.float32([4, 8]),
    "v": np.float32([2, 2]),
}


def match(pattern: str = "a b") -> bytes:
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], "words", pattern=pattern)
    return model_of([node], {"x": STRING}, {"y": BOOL})


def test_a_node_is_evaluated_and_the_assignment_says_so():
    session = ort.InferenceSession(momentum())
    (row,) = session.node_assignments()
    assert (row.provider, row.kernel) == ("CPUExecutionProvider", "onnx.reference.Momentum")
    assert row.reason == "no native kernel; reference fallback"
    x1, v1 = session.run(None, FEEDS)
    # v1 = alpha * v + beta * g, with beta 1 at the first step; x1 = x - r * v1
    assert v1.tolist() == [5, 9]
    assert x1.tolist() == [-0.25, -0.25]
    assert not any(np.shares_memory(array, fed) for array in (x1, v1) for fed in FEEDS.values())


def test_strings_come_in():
    (y,) = ort.InferenceSession(match(".-é")).run(None, {"x": np.array(["a-é", "b"], object)})
    assert y.tolist() == [True, False]
    assert y.dtype == np.bool_


def test_strings_come_out(monkeypatch):
    node = helper.make_node("Cast", ["x"], ["y"], to=STRING)  # natively from types that C++ has
    session = ort.InferenceSession(model_of([node], {"x": TensorProto.FLOAT8E5M2}, {"y": STRING}))
    assert [row.kernel for row in session.node_assignments()] == ["onnx.reference.Cast"]
    from onnx.reference.ops.op_cast import Cast_19

    # numpy has no text of such numbers.
    monkeypatch.setattr(Cast_19, "_run", lambda _, x, **__: (np.array([f"{float(v)} é" for v in x], object),))
    (y,) = session.run(None, {"x": np.array([1.5, -1024], ml_dtypes.float8_e5m2)})
    assert y.tolist() == ["1.5 é", "-1024.0 é"]


def test_it_feeds_native_nodes_and_is_fed_by_them():
    nodes = [
        helper.make_node("Identity", ["x"], ["words"]),
        helper.make_node("RegexFullMatch", ["words"], ["y"], pattern="[a-d ]*"),
        helper.make_node("Not", ["y"], ["z"]),
    ]
    session = ort.InferenceSession(model_of(nodes, {"x": STRING}, {"y": BOOL, "z": BOOL}))
    kernels = [row.kernel for row in session.node_assignments()]
    assert kernels == ["light::Identity", "onnx.reference.RegexFullMatch", "light::Not"]
    for texts in (["a b c", "d", "f"], ["e f"]):
        y, z = session.run(None, {"x": np.array(texts, object)})
        assert y.tolist() == [set(text) <= set("abcd ") for text in texts]
        assert z.tolist() == [not matches for matches in y]


def test_inside_a_subgraph():
    body = helper.make_graph(
        [helper.make_node("RegexFullMatch", ["x"], ["y"], pattern="a.b")],
        "body",
        [],
        [helper.make_tensor_value_info("y", BOOL, None)],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    session = ort.InferenceSession(model_of([node], {"c": BOOL, "x": STRING}, {"y": BOOL}))
    (y,) = session.run(None, {"c": np.array(True), "x": np.array(["a b", "ab"], object)})
    assert y.tolist() == [True, False]


def test_switched_off_the_node_is_refused():
    options = ort.SessionOptions()
    assert options.reference_fallback is True
    options.reference_fallback = False
    assert options.reference_fallback is False
    with pytest.raises(
        ort.NotImplemented, match=r"node 'step' \(ai.onnx.preview.training.Momentum\): nothing here runs"
    ):
        ort.InferenceSession(momentum(), options)


def test_what_the_evaluator_raises_names_the_node(monkeypatch):
    session = ort.InferenceSession(match())
    from onnx.reference.ops.op_regex_full_match import RegexFullMatch

    def fail(*_: object, **__: object) -> None:
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr(RegexFullMatch, "_run", fail)
    message = r"^node 'words' \(RegexFullMatch\): onnx.reference: \w+: .*"
    with pytest.raises(ort.RuntimeException, match=message):
        session.run(None, {"x": np.array(["a"], object)})
    monkeypatch.undo()
    assert session.run(["y"], {"x": np.array(["a b"], object)})[0].tolist() == [True]


def test_an_output_of_another_type_is_refused(monkeypatch):
    session = ort.InferenceSession(match())
    from onnx.reference.ops.op_regex_full_match import RegexFullMatch

    monkeypatch.setattr(RegexFullMatch, "_run", lambda *_, **__: (np.zeros(2),))
    with pytest.raises(ort.RuntimeException, match=r"'words'.*output 0: expected bool.*, got float64"):
        session.run(None, {"x": np.array(["a"], object)})


def test_several_threads_run_one_session():
    session = ort.InferenceSession(momentum())
    wrong: list[object] = []

    def work(x: float) -> None:
        for _ in range(50):
            x1, _ = session.run(None, {**FEEDS, "x": np.float32([x, x])})
            if x1.tolist() != [x - 1.25, x - 2.25]:
                wrong.append(x1)

    threads = [threading.Thread(target=work, args=(x,)) for x in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_evaluator_of_a_node_is_made_once_and_let_go_with_the_session(monkeypatch):
    from onnx_light_ort_host import reference

    alive: weakref.WeakSet[reference.NodeEvaluator] = weakref.WeakSet()
    made = []

    class Counted(reference.NodeEvaluator):
        def __init__(self, model: bytes) -> None:
            super().__init__(model)
            made.append(len(model))
            alive.add(self)

    monkeypatch.setattr(reference, "NodeEvaluator", Counted)
    session = ort.InferenceSession(match())
    assert (len(made), len(alive)) == (1, 1)
    del session
    gc.collect()
    assert len(alive) == 0
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern="a")
    unknown = helper.make_node("Unknown", ["y"], ["z"], "last", domain="nobody")
    model = onnx.ModelProto.FromString(model_of([node, unknown], {"x": STRING}, {"y": BOOL}))
    model.opset_import.append(helper.make_opsetid("nobody", 1))
    with pytest.raises(ort.OrtHostError, match="'last'"):
        ort.InferenceSession(model.SerializeToString())
    assert len(alive) == 0


def test_what_the_fallback_takes_counts_against_the_limit():
    options = ort.SessionOptions()
    options.memory_limit_bytes = 16  # two outputs of two floats
    assert ort.InferenceSession(momentum(), options).run(None, FEEDS)[1].tolist() == [5, 9]
    options.memory_limit_bytes = 15
    session = ort.InferenceSession(momentum(), options)
    for _ in range(2):
        with pytest.raises(
            ort.Fail, match=r"^node 'step' .*: output 'v1': needs 8 bytes, over the memory limit of 15 "
        ):
            session.run(None, FEEDS)


def test_without_onnx_the_message_says_what_to_install(run_python, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(momentum())
    source = """
import sys
sys.modules["onnx"] = None
import onnx_light_ort_host as ort
try:
    ort.InferenceSession(sys.argv[1])
except ort.NotImplemented as error:
    print(error)
"""
    message = run_python(source, path).stdout
    assert "node 'step' (ai.onnx.preview.training.Momentum)" in message
    assert "pip install onnx-light-ort-host[reference]" in message


def test_onnx_is_not_imported_without_such_a_node(run_python, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of([helper.make_node("Neg", ["x"], ["y"])], {"x": FLOAT}, {"y": FLOAT}))
    source = """
import sys, numpy, onnx_light_ort_host as ort
ort.InferenceSession(sys.argv[1]).run(None, {"x": numpy.zeros(2, numpy.float32)})
assert "onnx" not in sys.modules
"""
    run_python(source, path)


RUN = """
import atexit, sys, threading, time, numpy as np, onnx_light_ort_host as ort
session = ort.InferenceSession(sys.argv[1])
feeds = {"x": np.array(["a b"], object)}
"""


def test_threads_that_run_and_make_sessions_when_the_process_ends(run_python, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(match())
    source = """
def run():
    while True:
        session.run(None, feeds)
def make():
    while True:
        ort.InferenceSession(sys.argv[1])
for work in (run, make, run, make):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    run_python(RUN + source, path)


def test_a_session_at_exit_and_one_that_is_never_released(run_python, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(match())
    source = """
atexit.register(lambda: print(session.run(["y"], feeds)[0].tolist()))
ort.kept = ort.InferenceSession(sys.argv[1])
"""
    assert run_python(RUN + source, path).stdout == "[True]\n"


def test_an_interrupt_reaches_the_main_thread(run_python, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(match())
    source = """
import signal
from onnx.reference.ops.op_regex_full_match import RegexFullMatch
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background starts without it
RegexFullMatch._run = lambda *_, **__: signal.raise_signal(signal.SIGINT)
try:
    try:
        session.run(None, feeds)
    except ort.RuntimeException as error:
        assert "KeyboardInterrupt" in str(error)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run_python(RUN + source, path).stdout == "interrupted\n"
