# SPDX-License-Identifier: Apache-2.0
"""Each malformed answer of a provider, one at a time: which rule the user reads, and that everything is released."""

from __future__ import annotations

import gc

import numpy as np
import onnx_light_ort_host as ort
import pytest
from fixture_eps import EpFixture, model_of, providers_of, tensors
from onnx import helper

NATIVE = "CPUExecutionProvider"
X = np.array([-1, 2], np.float32)
RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")
MODEL = model_of([RELU], tensors("x", shape=[2]), tensors("y"))


def if_model():
    """An If whose branches are Relu and Neg."""
    bodies = [
        helper.make_graph([helper.make_node(op, ["x"], [op], name=op.lower())], op, [], tensors([op]))
        for op in ("Relu", "Neg")
    ]
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=bodies[0], else_branch=bodies[1])
    return model_of([node], tensors("x", shape=[2]) + tensors("c", bool, []), tensors("y"))


@pytest.fixture(scope="module")
def library():
    """Return the library, which stays loaded so that its counters do."""
    made = EpFixture(ort, "broken_ep")
    with made.registered("nothing"):
        pass
    return made


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("no_factory", ort.Fail, "CreateEpFactories: gave no factory"),
        ("too_many_factories", ort.Fail, "CreateEpFactories: gave 5 factories, there is room for 4"),
        ("null_factory", ort.Fail, "CreateEpFactories: entry 1 of 2 factories is null"),
        ("factory_twice", ort.Fail, "CreateEpFactories: entry 1 of the factories was given before"),
        ("factory_without_name", ort.Fail, "OrtEpFactory.GetName: must give a name, got null"),
        ("factory_without_vendor", ort.Fail, "OrtEpFactory.GetVendor"),
        ("factory_without_get_name", ort.Fail, "OrtEpFactory.GetName: a required callback is missing"),
        ("factory_without_get_supported_devices", ort.Fail, "OrtEpFactory.GetSupportedDevices: a required callback"),
        ("factory_without_create_ep", ort.Fail, "OrtEpFactory.CreateEp: a required callback is missing"),
        ("factory_without_release_ep", ort.Fail, "OrtEpFactory.ReleaseEp: a required callback is missing"),
        ("release_is_no_version", ort.Fail, "'1.2'"),
        ("too_many_devices", ort.Fail, "gave 9 devices, there is room for 8"),
        ("null_device", ort.Fail, "entry 0 of 2 devices is null"),
        ("device_twice", ort.Fail, "entry 1 of the devices was given before"),
    ],
)
def test_registration_is_refused(library, name, kind, words):
    before = library.balance()
    error = library.error_of(ort.register_execution_provider_library, name, library.path)
    assert type(error) is kind, error
    assert [word for word in (library.path, words) if word not in str(error)] == [], error
    assert library.balance() == before


@pytest.mark.parametrize("name", ["no_device", "device_of_nvidia"])
def test_library_may_offer_no_device(library, name):
    with library.registered(name) as devices:
        assert devices[name] == []


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("gpu_memory", ort.NotImplemented, "a GPU"),
        ("null_domain", ort.InvalidArgument, "OrtEpFactory.GetCustomOpDomains: entry 0 is null"),
        ("no_domain", ort.InvalidArgument, "OrtEpFactory.GetCustomOpDomains: entry 0"),
        ("uncountable_domains", ort.Fail, "OrtEpFactory.GetNumCustomOpDomains: at most"),
        ("null_ep", ort.Fail, "OrtEpFactory.CreateEp: gave no OrtEp with success"),
        ("ep_without_name", ort.Fail, "OrtEp.GetName: must give a name, got null"),
        ("ep_without_get_name", ort.Fail, "OrtEp.GetName: a required callback is missing"),
        ("ep_of_another_name", ort.Fail, "must be the factory's name 'ep_of_another_name', got 'SomebodyElse'"),
        ("ep_without_capability", ort.Fail, "OrtEp.GetCapability: a required callback is missing"),
        ("takes_twice", ort.InvalidArgument, "'relu' (Relu) is proposed twice"),
        ("takes_null", ort.InvalidArgument, "EpGraphSupportInfo_AddSingleNode: node is null"),
        ("takes_no_node", ort.InvalidArgument, "EpGraphSupportInfo_AddSingleNode"),
        ("unknown_layout", ort.Fail, "must be NCHW (0) or NHWC (1), got 77"),
        (
            "default_memory_of_gpu",
            ort.NotImplemented,
            "OrtEp.GetDefaultMemoryDevice: must be the CPU's, got that of a GPU",
        ),
        ("captures_graphs", ort.NotImplemented, "OrtEp.IsGraphCaptureEnabled"),
        ("null_kernel", ort.Fail, "OrtKernelCreateFunc: gave no kernel with success"),
        ("kernel_and_status", ort.EPFail, "broken_ep: no weights"),
        (
            "create_kernel_throws",
            ort.RuntimeException,
            "OrtKernelCreateFunc: the callback threw, got broken_ep: no weights",
        ),
        ("kernel_of_unknown_flags", ort.Fail, "OrtKernelImpl.flags: no flag is known, got 64"),
        ("kernel_without_compute", ort.Fail, "OrtKernelImpl.Compute: a required callback is missing"),
        ("asks_for_if_kernel", ort.NotImplemented, "CreateIfKernel"),
        ("stores_packed_weights", ort.NotImplemented, "SharedPrePackedWeightCache_StoreWeightData"),
    ],
)
def test_session_is_refused(library, name, kind, words):
    with library.registered(name) as devices:
        before = library.balance()
        error = library.error_of(library.session, MODEL, (devices[name], {}))
        assert type(error) is kind, error
        assert [word for word in (library.path, words) if word not in str(error)] == [], error
        assert library.balance() == before


def test_kernel_that_cannot_be_released_is_refused(library):
    with library.counting("kernels made") as made:
        error = library.error_of(session_of_unreleased, library)
    assert "OrtKernelImpl.Release: a required callback is missing" in str(error)
    assert made == {"kernels made": 1}


def session_of_unreleased(library):
    """Leave the kernel alive, as nobody can release it."""
    ort.register_execution_provider_library("kernel_without_release", library.path)
    try:
        devices = [d for d in ort.get_ep_devices() if d.ep_name == "kernel_without_release"]
        library.session(MODEL, (devices, {}))
    finally:
        ort.unregister_execution_provider_library("kernel_without_release")


def test_node_of_a_body_is_foreign_to_the_graph_around_it(library):
    with library.registered("takes_nodes_of_bodies") as devices:
        before = library.balance()
        error = library.error_of(library.session, if_model(), (devices["takes_nodes_of_bodies"], {}))
        assert "is not of the graph that was asked about" in str(error), error
        assert library.balance() == before


def test_node_without_a_kernel_is_not_assigned(library):
    add = model_of([helper.make_node("Add", ["x", "x"], ["y"], name="add")], tensors("x", shape=[2]), tensors("y"))
    with library.registered("takes_everything") as devices:
        error = library.error_of(library.session, add, (devices["takes_everything"], {}))
        assert type(error) is ort.NotImplemented
        assert [word for word in ("add", "takes_everything", "Add") if word not in str(error)] == [], error


def test_node_of_another_provider_is_not_taken_away(library):
    with library.registered("nothing", "takes_everything") as devices:
        session = library.session(MODEL, (devices["nothing"], {}), (devices["takes_everything"], {}))
        (row,) = session.node_assignments()
        assert row.provider == "nothing"
        del session


def test_output_that_is_never_made_is_named(library):
    with library.registered("forgets_output") as devices:
        session = library.session(MODEL, (devices["forgets_output"], {}))
        error = library.error_of(session.run, None, {"x": X})
        assert [word for word in ("relu", library.path, "output 0") if word not in str(error)] == [], error
        del session


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("other_provider", "SomebodyElse"),
        ("unknown_type_parameter", "'Tind' is no type parameter"),
        ("domain_com_microsoft", "has no kernel for it"),
        ("older_versions", "version"),
        ("null_registry", "did not propose the node"),
    ],
)
def test_kernel_that_does_not_match_leaves_the_node_and_says_why(library, name, why):
    with library.registered(name) as devices:
        session = library.session(MODEL, (devices[name], {}))
        (row,) = session.node_assignments()
        assert row.provider == NATIVE
        assert why in row.reason
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(X, 0))
        del session


@pytest.mark.parametrize("name", ["nothing", "domain_ai_onnx", "no_data_transfer", "domains_without_count"])
def test_provider_that_breaks_no_rule_runs(library, name):
    with library.registered(name) as devices:
        session = library.session(MODEL, (devices[name], {}))
        assert providers_of(session) == {"relu": name}
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(X, 0))
        del session
        gc.collect()


def test_control_flow_is_left_to_the_host(library):
    with library.registered("kernel_for_if") as devices:
        session = library.session(if_model(), (devices["kernel_for_if"], {}))
        assert providers_of(session)["if"] == NATIVE
        np.testing.assert_array_equal(session.run(None, {"x": X, "c": np.array(False)})[0], -X)
        del session


SYNTHETIC = """
import sys, onnx_light_ort_host as ort
ort.add_synthetic_hardware_device(device_type=ort.OrtHardwareDeviceType.GPU, vendor_id=0x10DE, vendor="Nvidia")
ort.register_execution_provider_library("device_of_nvidia", sys.argv[1])
print([d.device.vendor for d in ort.get_ep_devices() if d.ep_name == "device_of_nvidia"])
"""


def test_synthetic_device_makes_a_library_selectable(library, run_python):
    assert run_python(SYNTHETIC, library.path).stdout.strip() == "['Nvidia']"
