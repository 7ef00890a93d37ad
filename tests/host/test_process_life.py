# SPDX-License-Identifier: Apache-2.0
"""Threads, forked children, the end of the interpreter and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

COMMON = """
import os, sys, threading, time
import numpy as np
import onnx_light_ort_host as ort
from onnx import parser

def model(text):
    return parser.parse_model('<ir_version: 10, opset_import: ["" : 21, "fixtures" : 1]>\\n' + text).SerializeToString()

def session(text, threads=2, library=None):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    if library:
        options.register_custom_ops_library(library)
    return ort.InferenceSession(model(text), options)

PRODUCT = "g (float[N, M] x) => (float[N, N] y) { t = Transpose (x) y = MatMul (x, t) }"
CHAIN = "g (float[N] x) => (float[N] y) { a = fixtures.Scale <factor: float = 2.0> (x) b = Exp (a) y = Log (b) }"
big = np.random.default_rng(1).random((256, 256), np.float32)
right = big @ big.T
"""


def test_many_threads_on_many_sessions(run_python: Any, fixtures: Any) -> None:
    """Eight threads use shared sessions, make and drop their own, and see only their own results."""
    run_python(
        COMMON
        + """
shared = session(PRODUCT), session(CHAIN, library=sys.argv[1])
errors = []

def work(k):
    try:
        for i in range(30):
            x = big * (k + 1)
            assert np.allclose(shared[0].run(None, {"x": x})[0], right * (k + 1) ** 2, rtol=1e-4)
            v = np.full(1000, k / 10, np.float32)
            assert np.allclose(shared[1].run(None, {"x": v})[0], v * 2, atol=1e-5)
            own = session(CHAIN, threads=1 + i % 3, library=sys.argv[1])
            assert np.allclose(own.run(None, {"x": v})[0], v * 2, atol=1e-5)
    except BaseException as error:
        errors.append(error)

threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not errors, errors
""",
        fixtures / "add_two.so",
    )


@pytest.mark.forks
def test_forked_children_run_sessions_of_the_parent(run_python: Any, fixtures: Any) -> None:
    run_python(
        COMMON
        + """
shared = session(PRODUCT, threads=4), session(CHAIN, threads=4, library=sys.argv[1])

def check():
    assert np.allclose(shared[0].run(None, {"x": big})[0], right, rtol=1e-4)
    v = np.ones(100_000, np.float32)
    assert np.allclose(shared[1].run(None, {"x": v})[0], v * 2, atol=1e-5)

check()
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        try:
            check()
            session(PRODUCT).run(None, {"x": big})
            grandchild = os.fork()
            if grandchild == 0:
                check()
                os._exit(0)
            os._exit(os.waitpid(grandchild, 0)[1])
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
    children.append(pid)
check()
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
""",
        fixtures / "add_two.so",
    )


@pytest.mark.parametrize("how", ["pass", "sys.exit(0)", "os._exit(0)"])
def test_the_interpreter_ends_with_live_sessions_and_running_daemon_threads(
    run_python: Any, fixtures: Any, how: str
) -> None:
    run_python(
        COMMON
        + f"""
alive = [session(PRODUCT), session(CHAIN, library=sys.argv[1])]

def work():
    while True:
        alive[0].run(None, {{"x": big}})
        alive[1].run(None, {{"x": np.ones(1000, np.float32)}})
        session(CHAIN, library=sys.argv[1])

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
sys.cycle = alive, sys  # outlives the modules
{how}
""",
        fixtures / "add_two.so",
    )


def endless(body: str) -> str:
    """Return a graph that never ends."""
    return f"""g (float[N] x) => (float[N] y) {{
      m = Constant <value = int64 {{9223372036854775807}}> ()
      go = Constant <value = bool {{1}}> ()
      y = Loop (m, go, x) <body = b (int64 i, bool c, float[N] v) => {body}>
    }}"""


# Each step takes a while, takes next to nothing, or there is none.
ENDLESS_BODIES = {
    "slow": "(bool d, float[N] w) { d = Identity (c) w = Tanh (v) }",
    "fast": "(bool d, float[N] w) { d = Identity (c) w = Identity (v) }",
    "empty": "(bool c, float[N] v) { }",
}


@pytest.mark.parametrize("body", ENDLESS_BODIES)
def test_ctrl_c_ends_a_run(body: str) -> None:
    """KeyboardInterrupt comes out of a run that would never end, and the session works on."""
    source = (
        COMMON
        + f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background starts without it
loop = session({endless(ENDLESS_BODIES[body])!r}, threads=1)
x = np.ones(1_000_000 if {body == "slow"} else 1, np.float32)
for _ in range(2):
    print("ready", flush=True)
    try:
        loop.run(None, {{"x": x}})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print("works", flush=True)
"""
    )
    command = [sys.executable, "-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as child:
        watchdog = threading.Timer(60, child.kill)
        watchdog.start()
        assert child.stdout is not None
        for _ in range(2):
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.2)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
        assert child.stdout.read() == "works\n"
        watchdog.cancel()
    assert child.returncode == 0


def test_what_a_signal_handler_raises_ends_a_run(run_python: Any) -> None:
    """Only in the main thread: a run in another one goes on, and its results are whole."""
    source = (
        COMMON
        + f"""
import signal, threading
endless = session({endless(ENDLESS_BODIES["fast"])!r}, threads=1)
counted = session('''g (int64 m, float[N] x) => (float[N] y) {{
  y = Loop (m, , x) < body = b (int64 i, bool c, float[N] v) => (bool d, float[N] w) {{
    d = Identity (c)
    one = Constant <value = float {{1.0}}> ()
    w = Add (v, one)
  }} >
}}''', threads=1)
results = []
def count():
    results.append(counted.run(None, {{"m": np.array(1_000_000), "x": np.zeros(1, np.float32)}})[0])
def too_late(*_):
    raise TimeoutError("too late")
signal.signal(signal.SIGALRM, too_late)
other = threading.Thread(target=count)
other.start()
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    endless.run(None, {{"x": np.ones(1, np.float32)}})
except TimeoutError as error:
    print(error)
other.join()
print(results[0].tolist())
"""
    )
    assert run_python(source).stdout == "too late\n[1000000.0]\n"
