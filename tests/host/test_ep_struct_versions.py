# SPDX-License-Identifier: Apache-2.0
"""Structs of libraries older and newer than the interface; of an old one nothing behind its end can be read."""

from __future__ import annotations

import gc

import numpy as np
import onnx_light_ort_host as ort
import pytest
from fixture_eps import EpFixture, model_of, providers_of, tensors
from onnx import helper

NATIVE = "CPUExecutionProvider"
X = np.array([-1, 2], np.float32)
MODEL = model_of([helper.make_node("Relu", ["x"], ["y"], name="relu")], tensors("x", shape=[2]), tensors("y"))
RUN = [
    *[("OrtEpFactory", version) for version in (22, 23, 24, 25, 27, 28, 30, 99)],
    *[("OrtEp", version) for version in (24, 25, 26, 27, 29, 30, 99)],
    *[("OrtKernelImpl", version) for version in (24, 30, 99)],
    *[("OrtNodeComputeInfo", version) for version in (0, 23, 29, 30, 99)],  # its version is never read, as in ORT
    *[("OrtAllocator", version) for version in (1, 17, 18, 22, 23, 25, 30, 99)],
]


@pytest.fixture(scope="module")
def library():
    """Return the library, which stays loaded so that its counters do."""
    made = EpFixture(ort, "ep_struct_of_version")
    with made.registered("OrtEp_30"):
        pass
    return made


@pytest.mark.parametrize(("struct", "version"), RUN)
def test_struct_is_not_read_beyond_its_version(library, struct, version):
    name = f"{struct}_{version}"
    with library.registered(name) as devices:
        session = library.session(MODEL, (devices[name], {}))
        assert providers_of(session) == {"relu": name}
        with library.counting("OrtKernelImpl.Compute", "blocks made") as made:
            for _ in range(2):
                np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(X, 0))
        assert made == {"OrtKernelImpl.Compute": 2, "blocks made": 2 * (struct == "OrtAllocator")}
        del session
        gc.collect()


def test_provider_older_than_registries_has_no_kernels(library):
    with library.registered("OrtEp_23") as devices:
        session = library.session(MODEL, (devices["OrtEp_23"], {}))
        assert providers_of(session) == {"relu": NATIVE}
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(X, 0))
        del session


def test_provider_older_than_the_graph_is_refused(library):
    with library.registered("OrtEp_22") as devices:
        before = library.balance()
        error = library.error_of(library.session, MODEL, (devices["OrtEp_22"], {}))
        assert "OrtEp.GetCapability: a required callback is missing" in str(error)
        assert library.balance() == before


def test_factory_of_version_0_is_refused(library):
    before = library.balance()
    error = library.error_of(ort.register_execution_provider_library, "OrtEpFactory_0", library.path)
    assert "OrtEpFactory: ort_version_supported must be an API version, got 0" in str(error)
    assert library.balance() == before


def test_provider_of_version_0_is_refused(library):
    with library.registered("OrtEp_0") as devices:
        before = library.balance()
        error = library.error_of(library.session, MODEL, (devices["OrtEp_0"], {}))
        assert "OrtEp: ort_version_supported must be an API version, got 0" in str(error)
        assert library.balance() == before


def test_allocator_of_version_0_is_refused_and_not_called(library):
    with library.registered("OrtAllocator_0") as devices:
        session = library.session(MODEL, (devices["OrtAllocator_0"], {}))
        with library.counting("blocks made") as made:
            error = library.error_of(session.run, None, {"x": X})
        assert "OrtAllocator: version must be an API version, got 0" in str(error)
        assert made == {"blocks made": 0}
        del session


def test_memory_that_a_device_declares_is_not_asked_for(library):
    with library.registered("OrtAllocator_30") as devices, library.counting("allocators made") as made:
        session = library.session(MODEL, (devices["OrtAllocator_30"], {}))
        session.run(None, {"x": X})
        del session
    assert made == {"allocators made": 0}


def test_kernel_of_version_0_is_refused_and_not_called(library):
    with library.counting("kernels made", "OrtKernelImpl.Compute") as made:
        error = library.error_of(session_with_kernel_of_version_0, library)
    assert "OrtKernelImpl: ort_version_supported must be an API version, got 0" in str(error)
    assert made == {"kernels made": 1, "OrtKernelImpl.Compute": 0}


def session_with_kernel_of_version_0(library):
    """Leave the kernel alive: of a struct without a version not even Release is trusted."""
    ort.register_execution_provider_library("OrtKernelImpl_0", library.path)
    try:
        devices = [d for d in ort.get_ep_devices() if d.ep_name == "OrtKernelImpl_0"]
        library.session(MODEL, (devices, {}))
    finally:
        ort.unregister_execution_provider_library("OrtKernelImpl_0")
