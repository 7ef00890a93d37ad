# SPDX-License-Identifier: Apache-2.0
"""Which callbacks of an execution provider's structs are invoked, and in which part of its life."""

import contextlib
import ctypes as C
import gc

import numpy as np
import pytest
from contracts.harness import E, Ep, EpFactory, Kernel, model_of, provider_of, registered, session_with
from contracts.harness.abi import members
from onnx import helper

LIFE = {
    "registration": {
        "OrtEpFactory.GetName",
        "OrtEpFactory.GetVendor",
        "OrtEpFactory.GetVersion",
        "OrtEpFactory.GetSupportedDevices",
        "OrtEpFactory.CreateDataTransfer",
    },
    "selection": {"OrtEpFactory.GetNumCustomOpDomains", "OrtEpFactory.GetCustomOpDomains"},
    "creation": {
        "OrtEpFactory.CreateEp",
        "OrtEpFactory.CreateDataTransfer",
        "OrtEp.GetName",
        "OrtEp.GetKernelRegistry",
        "OrtEp.GetDefaultMemoryDevice",
        "OrtEp.IsConcurrentRunSupported",
        "OrtEp.IsGraphCaptureEnabled",
        "OrtEp.GetPreferredDataLayout",
        "OrtEp.GetCapability",
        "OrtEp.OnSessionInitializationEnd",
    },
    "run": {"OrtEp.OnRunStart", "OrtEp.OnRunEnd", "OrtKernelImpl.Compute"},
    "end": {"OrtKernelImpl.Release", "OrtEpFactory.ReleaseEp"},
}
IN_CASES_OF_OTHER_TESTS = {"OrtEpFactory.IsStreamAware", "OrtEp.Compile", "OrtEp.ReleaseNodeComputeInfos"}
SLOTS = [
    "OrtEpFactory.CreateEp",
    "OrtEpFactory.ReleaseEp",
    "OrtEpFactory.CreateDataTransfer",
    "OrtEpFactory.GetNumCustomOpDomains",
    "OrtEpFactory.GetCustomOpDomains",
    "OrtEp.GetName",
    "OrtEp.GetKernelRegistry",
    "OrtEp.GetDefaultMemoryDevice",
    "OrtEp.IsConcurrentRunSupported",
    "OrtEp.IsGraphCaptureEnabled",
    "OrtEp.GetPreferredDataLayout",
    "OrtEp.GetCapability",
    "OrtEp.OnSessionInitializationEnd",
    "OrtEp.OnRunStart",
    "OrtEp.OnRunEnd",
    "OrtKernelImpl.Compute",
    "OrtKernelImpl.Release",
]


def fill(struct):
    """Set each callback of a plugin's struct that is null to one that does nothing, with success."""
    for name, member in members(struct.struct).items():
        pointer = C.c_void_p.from_buffer(struct.memory, member["offset_x86_64"])
        if member["kind"] == "function_pointer" and not pointer.value:
            struct.count(name, lambda *arguments: 0)


def live(probe):
    """Run a Relu on a provider all of whose callbacks are set; return those called in each part of its life."""
    factory = EpFactory(probe)
    ep = Ep(factory, lambda ep, graph, support: ep.take_what_has_kernels(graph, support))
    nothing = dict.fromkeys(("PrePackWeight", "SetSharedPrePackedWeight"), lambda *arguments: 0)
    kernel = Kernel(ep, "Relu", 14, 14, members=nothing)
    ep.use_kernels(kernel)
    factory.give(ep)
    life = {}

    def close(part):
        structs = (("OrtEpFactory", factory), ("OrtEp", ep), ("OrtKernelImpl", kernel))
        life[part] = {f"{name}.{call}" for name, struct in structs for call in struct.calls}
        for _, struct in structs:
            struct.calls.clear()

    fill(factory)
    fill(ep)
    options = probe.ort.SessionOptions()
    options.log_severity_level = 4
    with registered(probe, factory) as devices:
        close("registration")
        options.add_provider_for_devices(devices, {})
        close("selection")
        relu = helper.make_node("Relu", ["x"], ["y"])
        session = session_with(probe, model_of([relu], {"x": [2]}, ["y"]), options)
        close("creation")
        for _ in range(2):
            probe.run(session, {"x": np.zeros(2, np.float32)})
        close("run")
        del session, options, devices
        gc.collect()
        close("end")
    close("unregistration")
    return life


@pytest.mark.slot(*SLOTS)
@pytest.mark.host_stricter
def test_callbacks_are_invoked_where_they_are_needed_and_no_others_ever(probe):
    """ORT asks for more, and for names more often."""
    assert live(probe) == {**LIFE, "unregistration": set()}


@pytest.mark.slot(*SLOTS)
@pytest.mark.host_stricter
def test_support_matrix_says_the_same(probe):
    invoked = {
        f"{row.table}.{row.name}"
        for row in probe.ort.support_matrix()
        if row.table in ("OrtEpFactory", "OrtEp", "OrtKernelImpl") and row.status.startswith("invoked")
    }
    assert invoked == set().union(*LIFE.values()) | IN_CASES_OF_OTHER_TESTS


@pytest.mark.slot("OrtEpFactory.IsStreamAware")
@pytest.mark.host_stricter
@pytest.mark.parametrize("is_aware", [False, True])
def test_factory_with_memory_of_a_device_must_do_without_streams(probe, api, is_aware):
    """ORT makes allocators for the memory at once."""
    pinned = api.get.CreateMemoryInfo_V2(
        b"pinned", E.OrtMemoryInfoDeviceType_GPU, 0x10DE, 0, E.OrtDeviceMemoryType_HOST_ACCESSIBLE, 0, 0
    )

    def devices(factory, hardware):
        device = factory.device(factory.cpu(hardware))
        factory.ep_api.ok.EpDevice_AddAllocatorInfo(device, pinned)
        return [device]

    factory = EpFactory(probe, devices=devices)
    factory.count("IsStreamAware", lambda this: is_aware)
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}, ["y"])
    refused = pytest.raises(probe.exception("NotImplemented"), match=r"OrtEpFactory\.IsStreamAware")
    with provider_of(probe, factory=factory) as (_, options), refused if is_aware else contextlib.nullcontext():
        session_with(probe, model, options)
    assert factory.calls.count("IsStreamAware") == 1
    api.ReleaseMemoryInfo(pinned)
