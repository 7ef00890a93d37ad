# SPDX-License-Identifier: Apache-2.0
"""In which order a library of providers ends, and when it leaves the process."""

from __future__ import annotations

import gc
import threading

import numpy as np
import onnx_light_ort_host as ort
import pytest
from fixture_eps import EpFixture, model_of, providers_of, tensors
from onnx import helper

MODEL = model_of([helper.make_node("Relu", ["x"], ["y"], name="relu")], tensors("x", shape=["n"]), tensors("y"))
X = np.array([-1, 2, -3], np.float32)


def check(session):
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(X, 0))


def test_session_keeps_what_it_needs_of_an_unregistered_library():
    library = EpFixture(ort)
    with library.registered("Other"), library.registered("Kept") as devices:
        kept = library.session(MODEL, (devices["Kept"], {}))
        before = library.balance()
        devices.clear()
        ort.unregister_execution_provider_library("Kept")
        assert [d.ep_name for d in ort.get_ep_devices() if d.ep_name == "Kept"] == []
        for _ in range(3):
            check(kept)
        assert library.balance() == before
        with library.counting("factories released", "EPs released", "kernels released") as made:
            del kept
            gc.collect()
        assert made == {"factories released": 1, "EPs released": 1, "kernels released": 1}
        ort.register_execution_provider_library("Kept", library.path)  # the name is free


def test_two_registrations_of_one_library_are_two_providers():
    library = EpFixture(ort)
    with library.registered("One", "Two") as devices:
        sessions = {name: library.session(MODEL, (devices[name], {})) for name in devices}
        for name, session in sessions.items():
            assert providers_of(session) == {"relu": name}
            check(session)
        del session, sessions


@pytest.mark.parametrize("name", ["One", "one"])
def test_options_reach_the_provider_by_the_lower_case_of_its_name(name):
    library = EpFixture(ort)
    with library.registered(name) as devices:
        options = ort.SessionOptions()
        options.add_provider_for_devices(devices[name], {})
        options.add_session_config_entry("ep.one.ops", "Add")
        session = ort.InferenceSession(MODEL.SerializeToString(), sess_options=options)
        assert providers_of(session) == {"relu": "CPUExecutionProvider"}
        del session, options


def test_options_of_names_that_differ_in_case_alone_are_shared_with_a_warning(capfd):
    library = EpFixture(ort)
    with library.registered("foo", "Foo") as devices:
        options = ort.SessionOptions()
        options.add_provider_for_devices(devices["foo"], {"ops": "Relu"})
        options.add_provider_for_devices(devices["Foo"], {"ops": "Add"})
        del options
        devices.clear()
        gc.collect()
    assert (
        "execution provider 'Foo': session config entry 'ep.foo.ops' was 'Relu' and is overw" in capfd.readouterr().err
    )


def test_options_are_told_by_provider_also_where_one_name_begins_with_another():
    library = EpFixture(ort)
    with library.registered("ep", "ep.two") as devices:
        session = library.session(MODEL, (devices["ep"], {"ops": "Relu"}), (devices["ep.two"], {"ops": "Add"}))
        told = {name: options.get("ops") for name, options in session.get_provider_options().items()}
        assert told == {"ep": "Relu", "ep.two": "Add", "CPUExecutionProvider": None}
        assert not any(key.startswith("two.") for key in session.get_provider_options()["ep"])
        del session
        devices.clear()
        gc.collect()


def test_option_that_the_provider_refuses_fails_the_session():
    library = EpFixture(ort)
    with library.registered("Ep") as devices:
        error = library.error_of(library.session, MODEL, (devices["Ep"], {"every": "0"}))
        assert isinstance(error, ort.InvalidArgument)
        assert "option every must be 1 or more" in str(error)


def test_strict_layout_refuses_a_preference():
    library = EpFixture(ort)
    with library.registered("Ep") as devices:
        error = library.error_of(library.session, MODEL, (devices["Ep"], {"layout": "NHWC"}), strict_layout=True)
        assert "NHWC" in str(error)


def test_provider_may_log_until_its_very_end(capfd):
    library = EpFixture(ort)
    with library.registered("Ep") as devices:
        session = library.session(MODEL, (devices["Ep"], {"logs": "1"}), log_severity_level=2)
        check(session)
        del session
        gc.collect()
        log = capfd.readouterr().err
        assert log.index("a kernel is released") < log.index("the provider is released")


def test_sessions_are_made_and_run_on_many_threads():
    library = EpFixture(ort)
    with library.registered("Ep") as devices:
        errors = []

        def work():
            try:
                for _ in range(10):
                    session = library.session(MODEL, (devices["Ep"], {}))
                    for _ in range(5):
                        check(session)
            except BaseException as error:
                errors.append(error.with_traceback(None))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors


UNLOADED = """
import gc, sys, onnx_light_ort_host as ort
import numpy as np
from pathlib import Path
path, model = sys.argv[1:3]
ort.set_load_policy(ort.LoadPolicy(unload=True))
for i in range(50):
    ort.register_execution_provider_library("Ep", path)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "Ep"], {})
    session = ort.InferenceSession(model, sess_options=options)
    assert session.node_assignments()[0].provider == "Ep"
    session.run(None, {"x": np.ones(2, np.float32)})
    assert path in Path("/proc/self/maps").read_text()
    del session, options
    gc.collect()
    ort.unregister_execution_provider_library("Ep")
    assert path not in Path("/proc/self/maps").read_text(), i
"""


def test_library_leaves_the_process_each_time_if_the_policy_lets_it(run_python, tmp_path):
    (tmp_path / "model.onnx").write_bytes(MODEL.SerializeToString())
    run_python(UNLOADED, EpFixture(ort).path, tmp_path / "model.onnx")


EXITS = """
import sys, threading, onnx_light_ort_host as ort
import numpy as np
path, model = sys.argv[1:3]
ort.register_execution_provider_library("Ep", path)
options = ort.SessionOptions()
options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "Ep"], {})
session = ort.InferenceSession(model, sess_options=options)
x = np.ones(2, np.float32)
threading.Thread(target=lambda: [session.run(None, {"x": x}) for _ in range(10**9)], daemon=True).start()
sys.modules["kept"] = session, options
"""


def test_process_may_end_with_everything_open(run_python, tmp_path):
    (tmp_path / "model.onnx").write_bytes(MODEL.SerializeToString())
    run_python(EXITS, EpFixture(ort).path, tmp_path / "model.onnx")


TWO = model_of(
    [helper.make_node("Add", ["x", "x"], ["a"], name="add"), helper.make_node("Relu", ["a"], ["y"], name="relu")],
    tensors("x", shape=["n"]),
    tensors("y"),
)


@pytest.mark.parametrize(
    ("providers", "nodes"),
    [
        (["A"], {"add": "A", "relu": "A"}),
        (["B", "A", "CPUExecutionProvider"], {"add": "B", "relu": "B"}),
        ([("A", {"ops": "Add"}), "B"], {"add": "A", "relu": "B"}),
        ([("A", {"ops": "Relu"}), "CPUExecutionProvider"], {"add": "CPUExecutionProvider", "relu": "A"}),
    ],
)
def test_providers_are_selected_by_name_in_the_order_of_the_user(providers, nodes):
    library = EpFixture(ort)
    with library.registered("A", "B"):
        session = ort.InferenceSession(TWO.SerializeToString(), providers=providers)
        assert providers_of(session) == nodes
        assert session.get_providers()[: len(providers)] == [p if isinstance(p, str) else p[0] for p in providers]
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(2 * X, 0))
        del session


@pytest.mark.parametrize("callback", ["OrtEp.OnRunStart", "OrtKernelImpl.Compute", "OrtEp.OnRunEnd"])
def test_failed_run_of_a_provider_that_runs_one_at_a_time_lets_others_in(callback):
    library = EpFixture(ort)
    with library.registered("Ep") as devices:
        session = library.session(MODEL, (devices["Ep"], {"concurrent": "0"}))
        with library.failing(callback, "status"):
            library.error_of(session.run, None, {"x": X})
        other = threading.Thread(target=check, args=(session,))
        other.start()
        other.join(30)
        assert not other.is_alive()
        del session, other


def test_fallback_to_the_host_can_be_forbidden():
    library = EpFixture(ort)
    with library.registered("Ep") as devices:
        for ops, is_allowed in (("Add,Relu", True), ("Add", False)):
            options = ort.SessionOptions()
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
            options.add_provider_for_devices(devices["Ep"], {"ops": ops})
            if is_allowed:
                ort.InferenceSession(TWO.SerializeToString(), sess_options=options)
            else:
                error = library.error_of(ort.InferenceSession, TWO.SerializeToString(), sess_options=options)
                assert [w for w in ("relu", "session.disable_cpu_ep_fallback") if w not in str(error)] == [], error
        del options
