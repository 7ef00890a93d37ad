# SPDX-License-Identifier: Apache-2.0
"""Callbacks that use the host themselves: other sessions, registrations, the end of a session."""

import ctypes as C
import gc
import sys
import threading

import numpy as np
import pytest
from contracts.harness import copy_first_input, fixture_path, run_in_child

CREATE, COMPUTE, DESTROY = "OrtCustomOp.CreateKernelV2", "OrtCustomOp.KernelComputeV2", "OrtCustomOp.KernelDestroy"
STRICTER = pytest.mark.host_stricter
X = np.arange(3, dtype=np.float32)


def session_on(probe, op):
    return probe.session(probe.one_node_model(op), op)


def outer(probe, act):
    """Return an op that acts before it copies its input."""

    def compute(api, context):
        act()
        copy_first_input(api, context)

    return probe.op("Outer", compute=compute)


@pytest.mark.slot(COMPUTE)
def test_compute_may_run_another_session(probe):
    inner, seen = session_on(probe, probe.op("Inner")), []
    session = session_on(probe, outer(probe, lambda: seen.append(inner.run(None, {"x0": X + 1})[0].tolist())))
    for _ in range(2):
        assert probe.run(session, {"x0": X})[0].tolist() == X.tolist()
    assert seen == [(X + 1).tolist()] * 2


@pytest.mark.slot(COMPUTE)
@STRICTER
def test_failure_of_an_inner_run_is_that_of_the_inner_node(probe):
    inner = session_on(probe, probe.op("Inner", compute=lambda api, context: probe.status()))
    messages = []

    def act():
        with pytest.raises(probe.exception("Fail")) as error:
            inner.run(None, {"x0": X})
        messages.append(str(error.value))

    assert probe.run(session_on(probe, outer(probe, act)), {"x0": X})[0].tolist() == X.tolist()
    assert ["probe.Inner" in message and "probe.Outer" not in message for message in messages] == [True]


@pytest.mark.slot(COMPUTE, CREATE)
def test_compute_and_create_may_register_libraries_and_make_sessions(probe):
    inner, seen = probe.op("Inner"), []
    model = probe.one_node_model(inner).SerializeToString()

    def act():
        options = probe.register(inner)
        options.register_custom_ops_library(fixture_path("add_two"))
        session = probe.ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        seen.append(session.run(None, {"x0": X})[0].tolist())

    op = outer(probe, act)
    op.set("CreateKernelV2", lambda *arguments: act())
    assert probe.run(session_on(probe, op), {"x0": X})[0].tolist() == X.tolist()
    assert seen == [X.tolist()] * 2
    gc.collect()
    assert inner.calls["CreateKernelV2"] == inner.calls["KernelDestroy"] == 2


@pytest.mark.slot(DESTROY)
def test_the_end_of_one_session_may_end_another(probe):
    inner = probe.op("Inner")
    kept = [session_on(probe, inner)]
    op = probe.op("Outer")
    op.set("KernelDestroy", lambda kernel: kept.clear())
    session = session_on(probe, op)
    del session
    gc.collect()
    assert (op.calls["KernelDestroy"], inner.calls["KernelDestroy"]) == (1, 1)


@pytest.mark.slot(COMPUTE, DESTROY)
@pytest.mark.parametrize("fails", [False, True])
def test_a_session_whose_last_reference_goes_during_its_run_ends_after_it(probe, fails):
    kept, events = [], []

    def compute(kernel, context):
        kept.clear()
        gc.collect()
        events.append("computed")
        if fails:
            return probe.status()
        copy_first_input(probe.api, context)
        return None

    op = probe.op()
    op.set("KernelComputeV2", compute)
    op.set("KernelDestroy", lambda kernel: events.append("destroyed"))
    kept.append(session_on(probe, op))
    if fails:
        with pytest.raises(probe.exception("Fail")):
            kept[0].run(None, {"x0": X})
    else:
        assert kept[0].run(None, {"x0": X})[0].tolist() == X.tolist()
    gc.collect()
    assert events == ["computed", "destroyed"]


@pytest.mark.slot("OrtApi.AddCustomOpDomain")
@STRICTER
def test_another_thread_waits_while_its_library_registers_itself_with_python(probe):
    order = []

    def register_too():
        probe.ort.SessionOptions().register_custom_ops_library(probe.path)
        order.append("other")

    other = threading.Thread(target=register_too)

    def body(options, base):
        if threading.current_thread() is other:
            return
        other.start()
        other.join(0.2)  # it has to wait for this registration, and must not keep the interpreter from it
        order.append("first")

    probe.options(body)
    other.join(60)
    assert order == ["first", "other"]


@pytest.mark.slot("OrtApi.AddCustomOpDomain")
@STRICTER
def test_registration_may_wait_for_a_thread_that_registers_another_library(probe):
    order = []

    def register_other():
        probe.ort.SessionOptions().register_custom_ops_library(fixture_path("add_two"))
        order.append("other")

    other = threading.Thread(target=register_other, daemon=True)

    def body(options, base):
        other.start()
        other.join(60)
        order.append("first")

    probe.options(body)
    assert order == ["other", "first"]


def destroy_while_python_is_needed(probe):
    """Let KernelDestroy wait, without Python, for what a thread does with Python."""
    libc = C.CDLL(None)
    semaphore = C.create_string_buffer(64)
    libc.sem_init(semaphore, 0, 0)
    address, go = C.addressof(semaphore), threading.Lock()
    op = probe.op()
    op.set("CreateKernelV2", lambda o, api, info, kernel: give(kernel, address))
    op.set("KernelComputeV2", lambda kernel, context: copy_first_input(probe.api, context))
    op.set_pointer("KernelDestroy", C.cast(libc.sem_wait, C.c_void_p).value)
    options = probe.register(op)
    session = probe.ort.InferenceSession(probe.one_node_model(op).SerializeToString(), options)
    assert session.run(None, {"x0": X})[0].tolist() == X.tolist()

    def post():
        with go:
            libc.sem_post(semaphore)

    go.acquire()
    poster = threading.Thread(target=post, daemon=True)
    poster.start()
    sys.setswitchinterval(1000)  # the interpreter is given up where that is asked for, and nowhere else
    go.release()
    del session
    print("destroyed")


def give(pointer, value):
    C.c_void_p.from_address(pointer).value = value


@pytest.mark.slot(DESTROY)
@STRICTER
def test_destroy_may_wait_for_a_thread_that_needs_python(module_name):
    ended = run_in_child(module_name, destroy_while_python_is_needed)
    assert (ended.stdout, ended.returncode) == ("destroyed\n", 0), ended.stderr
