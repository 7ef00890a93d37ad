# SPDX-License-Identifier: Apache-2.0
"""A callback of a provider goes wrong, one at a time: what the user sees, and that everything is released."""

from __future__ import annotations

import gc

import numpy as np
import onnx_light_ort_host as ort
import pytest
from fixture_eps import FAULTS, EpFixture, model_of, taken, tensors
from onnx import helper

MODEL = model_of(
    [
        helper.make_node("Add", ["x", "x"], ["a"], name="add"),
        helper.make_node("Neg", ["a"], ["n"], name="neg"),
        helper.make_node("Relu", ["n"], ["y"], name="relu"),
    ],
    tensors("x", shape=[3]),
    tensors("y"),
)
X = np.array([-1, 2, -3], np.float32)
Y = np.array([2, 0, 6], np.float32)

AT_REGISTRATION = ["CreateEpFactories", "OrtEpFactory.GetSupportedDevices", "OrtEpFactory.CreateDataTransfer"]
AT_CREATION = [
    *("OrtEpFactory.CreateEp", "OrtEpFactory.CreateDataTransfer", "OrtEp.GetName", "OrtEp.GetKernelRegistry"),
    *("OrtEp.GetDefaultMemoryDevice", "OrtEp.GetPreferredDataLayout", "OrtEp.IsConcurrentRunSupported"),
    *("OrtEp.GetCapability", "OrtKernelCreateFunc", "OrtEp.OnSessionInitializationEnd"),
]
AT_RUN = ["OrtEp.OnRunStart", "OrtKernelImpl.Compute", "OrtEp.OnRunEnd"]
AT_RELEASE = ["OrtKernelImpl.Release", "OrtEpFactory.ReleaseEp", "ReleaseEpFactory"]

WORDS = {
    "exception": "faulty_callbacks: no weights",
    "exception_without_text": "an exception without a message",
    "int": "an exception that is no std::exception",
    "foreign_class": "an exception that is no std::exception",
    "class_with_a_code": "faulty_callbacks: coded",
    "status": "kernel_ep: no weights",
    "bad_alloc": "std::bad_alloc",
}
EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS)


@pytest.fixture(scope="module")
def library():
    """Return the library, which stays loaded: a fault of its entry point can be set before it is called."""
    made = EpFixture(ort)
    with made.registered("First"):
        pass
    return made


def kind_of(fault):
    """Return the exception for a fault: statuses of the library say EP_FAIL."""
    return ort.EPFail if fault == "status" else ort.RuntimeException


def where_of(callback, fault):
    """Return what names the place: a kernel's own status is told by its node."""
    is_of_node = callback in ("OrtKernelCreateFunc", "OrtKernelImpl.Compute")
    return "node 'add' (Add)" if is_of_node and fault == "status" else callback


def check_error(error, fault, *words):
    assert type(error) is kind_of(fault), error
    assert [word for word in (WORDS[fault], *words) if word not in str(error)] == [], error


@EVERY_FAULT
@pytest.mark.parametrize("callback", AT_REGISTRATION)
def test_registration_fails(library, callback, fault):
    before = library.balance()
    with library.failing(callback, fault):
        error = library.error_of(ort.register_execution_provider_library, "Ep", library.path)
    check_error(error, fault, library.path, callback)
    assert library.balance() == before
    assert [d for d in ort.get_ep_devices() if d.ep_name == "Ep"] == []
    with library.registered("Ep") as devices:  # the name is free again
        assert len(devices["Ep"]) == 1


@pytest.mark.parametrize(
    ("callback", "fault"), [(c, f) for c in AT_CREATION for f in FAULTS if (c, f) != ("OrtEp.GetName", "status")]
)
def test_session_fails_to_be_made(library, callback, fault):
    with library.registered("Ep") as devices:
        before = library.balance()
        with library.failing(callback, fault):
            error = library.error_of(library.session, MODEL, (devices["Ep"], {}))
        check_error(error, fault, library.path, where_of(callback, fault))
        assert library.balance() == before
        session = library.session(MODEL, (devices["Ep"], {}))
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], Y)
        del session


@EVERY_FAULT
@pytest.mark.parametrize("callback", ["OrtEpFactory.GetNumCustomOpDomains", "OrtEpFactory.GetCustomOpDomains"])
def test_provider_fails_to_be_selected(library, callback, fault):
    with library.registered("Ep") as devices:
        before = library.balance()
        with library.failing(callback, fault):
            error = library.error_of(library.session, MODEL, (devices["Ep"], {}))
        check_error(error, fault, library.path, callback)
        assert library.balance() == before


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "status"])
@pytest.mark.parametrize("callback", ["GetName", "GetVendor", "GetVersion"])
def test_factory_that_throws_instead_of_a_name_is_not_registered(library, callback, fault):
    before = library.balance()
    with library.failing(f"OrtEpFactory.{callback}", fault):
        error = library.error_of(ort.register_execution_provider_library, "Ep", library.path)
    check_error(error, fault, library.path, f"OrtEpFactory.{callback}")
    assert library.balance() == before


@pytest.mark.parametrize("nth", [1, 2])
def test_all_kernels_are_released_if_one_cannot_be_made(library, nth):
    with library.registered("Ep") as devices, library.counting("kernels made", "kernels released") as made:
        with library.failing("OrtKernelCreateFunc", "status", nth):
            error = library.error_of(library.session, MODEL, (devices["Ep"], {}))
        assert ("add", "relu")[nth - 1] in str(error)
    assert made == {"kernels made": nth - 1, "kernels released": nth - 1}


@pytest.mark.parametrize("nth", [1, 2])
def test_second_provider_that_fails_takes_the_first_along(library, nth):
    with library.registered("A", "B") as devices, library.counting("EPs made", "EPs released") as made:
        with library.failing("OrtEp.GetCapability", "status", nth):
            error = library.error_of(library.session, MODEL, (devices["A"], {}), (devices["B"], {}))
        assert f"execution provider '{'AB'[nth - 1]}'" in str(error)
    assert made == {"EPs made": 2, "EPs released": 2}


@EVERY_FAULT
@pytest.mark.parametrize("callback", AT_RUN)
def test_run_fails_and_the_next_one_works(library, callback, fault):
    with library.registered("Ep") as devices:
        session = library.session(MODEL, (devices["Ep"], {}))
        with library.failing(callback, fault):
            error = library.error_of(session.run, None, {"x": X})
        check_error(error, fault, library.path, where_of(callback, fault))
        with library.counting(*AT_RUN) as made:
            np.testing.assert_array_equal(session.run(None, {"x": X})[0], Y)
        assert made == {"OrtEp.OnRunStart": 1, "OrtKernelImpl.Compute": 2, "OrtEp.OnRunEnd": 1}
        del session


def test_assigned_node_that_fails_is_an_error_and_names_the_node(library):
    with library.registered("Ep") as devices:
        session = library.session(MODEL, (devices["Ep"], {}))
        assert taken(session, "Ep") == {"add", "relu"}
        with library.failing("OrtKernelImpl.Compute", "status", 2):
            assert "relu" in str(library.error_of(session.run, None, {"x": X}))
        assert taken(session, "Ep") == {"add", "relu"}
        del session


@pytest.mark.parametrize(
    ("callback", "nth", "started", "ended"),
    [
        ("OrtEp.OnRunStart", 1, 1, 0),
        ("OrtEp.OnRunStart", 2, 2, 1),
        ("OrtKernelImpl.Compute", 1, 2, 2),
        ("OrtEp.OnRunEnd", 1, 2, 2),
    ],
)
def test_providers_that_were_told_of_a_run_are_told_of_its_end(library, callback, nth, started, ended):
    with library.registered("A", "B") as devices:
        session = library.session(MODEL, (devices["A"], {}), (devices["B"], {}))
        with library.failing(callback, "status", nth), library.counting("OrtEp.OnRunStart", "OrtEp.OnRunEnd") as made:
            library.error_of(session.run, None, {"x": X})
        assert made == {"OrtEp.OnRunStart": started, "OrtEp.OnRunEnd": ended}
        del session


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "status"])
@pytest.mark.parametrize("callback", AT_RELEASE)
def test_what_is_thrown_at_the_end_is_logged_and_all_is_released(library, callback, fault, capfd):
    with library.registered("Ep") as devices, library.failing(callback, fault):
        session = library.session(MODEL, (devices["Ep"], {}))
        session.run(None, {"x": X})
        del session
        gc.collect()
        if callback == "ReleaseEpFactory":
            devices.clear()
            ort.unregister_execution_provider_library("Ep")
            ort.register_execution_provider_library("Ep", library.path)
    log = capfd.readouterr().err
    assert [word for word in (library.path, callback, WORDS[fault]) if word not in log] == []
