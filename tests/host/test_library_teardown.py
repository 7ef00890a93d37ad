# SPDX-License-Identifier: Apache-2.0
"""A library that works until the very end: kernels go before it, each once, however the process ends."""

from __future__ import annotations

import pytest

COMMON = '''
import gc, os, sys, threading, time
import numpy as np
import onnx_light_ort_host as ort
from onnx import parser

# ThreadSanitizer starts a thread of its own with the first one, which is not to count as the library's.
first = threading.Thread(target=int)
first.start()
first.join()

text = """<ir_version: 10, opset_import: ["" : 21, "fixtures" : 1]>
g (float[N] x) => (float[N] y) { y = fixtures.Busy (x) }"""
x = np.ones(3, np.float32)

def make():
    options = ort.SessionOptions()
    options.register_custom_ops_library(sys.argv[1])
    return ort.InferenceSession(parser.parse_model(text).SerializeToString(), options)

def run(session):
    assert session.run(None, {"x": x})[0].tolist() == [1, 1, 1]

def run_in_thread(session):
    thread = threading.Thread(target=run, args=[session])
    thread.start()
    thread.join()  # back before what is local to the thread has ended
    while os.path.exists(f"/proc/self/task/{thread.native_id}"):
        time.sleep(0.001)

def run_for_ever(session):
    while True:
        run(session)
'''
WAYS = {
    "dropped": "session = make(); run(session); del session",
    "alive": "session = make(); run(session)",
    "never_run": "session = make()",
    "collected": "cycle = [make()]; run(cycle[0]); cycle.append(cycle); del cycle; gc.collect()",
    "cycle_at_exit": "session = make(); run(session); cycle = [session]; cycle.append(cycle)",
    "kept_by_a_builtin_module": "session = make(); run(session); sys.kept = session",
    "sys_exit": "session = make(); run(session); sys.exit(0)",
    "exception": "session = make()\ntry: session.run(None, {'z': x})\nexcept Exception as e: kept = e\ndel session",
    "thread": "session = make(); run_in_thread(session)",
    "daemon_thread": "session = make(); threading.Thread(target=run_for_ever, args=[session], daemon=True).start()",
}
FIRST = "busy_teardown: kernel made"


def events(done):
    return [line for line in done.stderr.splitlines() if line.startswith("busy_teardown: ")]


@pytest.mark.parametrize("library", ["busy_teardown", "detached_thread"])
@pytest.mark.parametrize("way", WAYS)
def test_kernels_end_before_their_library_and_the_process_ends_well(run_python, fixtures, way, library):
    told = events(run_python(COMMON + WAYS[way], fixtures / f"{library}.so"))
    assert told[0] == FIRST
    assert told.count(FIRST) == 1
    destroyed = told.count("busy_teardown: kernel destroyed")
    # A session that outlives the interpreter is left to the operating system.
    assert destroyed <= 1 if way in ("kept_by_a_builtin_module", "daemon_thread") else destroyed == 1
    assert told.count("busy_teardown: library ends") == told.count("busy_teardown: process ends") == 1
    if destroyed:
        assert told.index("busy_teardown: kernel destroyed") < told.index("busy_teardown: process ends")
    assert told[-1] == "busy_teardown: library ends"


def test_a_process_that_leaves_at_once_calls_nothing(run_python, fixtures):
    done = run_python(COMMON + "session = make(); run(session); os._exit(0)", fixtures / "busy_teardown.so")
    assert events(done) == [FIRST]


def test_what_is_local_to_a_thread_ends_with_it_while_the_session_lives(run_python, fixtures):
    source = COMMON + (
        "session = make(); run_in_thread(session)\n"
        "print('joined', file=sys.stderr, flush=True); run(session); del session\n"
        "print('dropped', file=sys.stderr, flush=True)"
    )
    done = run_python(source, fixtures / "busy_teardown.so")
    names = {*events(done), "joined", "dropped"}
    assert [line for line in done.stderr.splitlines() if line in names] == [
        FIRST,
        "busy_teardown: thread ends",
        "joined",
        "busy_teardown: kernel destroyed",
        "dropped",
        *(f"busy_teardown: {what}" for what in ("thread ends", "process ends", "library ends")),
    ]


def test_a_library_that_may_be_unloaded_ends_after_its_kernels_and_can_be_loaded_again(run_python, fixtures):
    source = COMMON + (
        "ort.set_load_policy(ort.LoadPolicy(unload=True))\n"
        "for _ in range(50):\n"
        "    session = make(); run_in_thread(session)\n"
        "    del session; gc.collect()\n"
        "    mapped = 'busy_teardown' in open('/proc/self/maps').read()\n"
        "    print('mapped' if mapped else 'gone', file=sys.stderr, flush=True)"
    )
    done = run_python(source, fixtures / "busy_teardown.so")
    names = {*events(done), "mapped", "gone"}
    once = ["kernel made", "thread ends", "kernel destroyed", "process ends", "library ends"]
    expected = [*(f"busy_teardown: {what}" for what in once), "gone"] * 50
    assert [line for line in done.stderr.splitlines() if line in names] == expected


def test_a_library_whose_thread_goes_on_stays_mapped_although_it_may_be_unloaded(run_python, fixtures):
    source = COMMON + (
        "ort.set_load_policy(ort.LoadPolicy(unload=True))\n"
        "session = make(); run(session); del session; gc.collect()\n"
        "print('detached_thread' in open('/proc/self/maps').read())"
    )
    done = run_python(source, fixtures / "detached_thread.so")
    assert done.stdout == "True\n"
    assert "stays mapped, since threads were started after it was loaded" in done.stderr
