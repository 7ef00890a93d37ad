# SPDX-License-Identifier: Apache-2.0
"""Libraries of execution providers: their factories and devices, and the hardware they are offered."""

import ctypes as C
from pathlib import Path

import pytest
from contracts.harness import E, EpFactory, PluginStruct, Table, dims, entry_points, registered, text

HOST = pytest.mark.host_stricter
CREATE, RELEASE = "OrtEpApi.CreateEpDevice", "OrtEpApi.ReleaseEpDevice"
SENTINEL = 0x1234
HARDWARE = [f"OrtApi.HardwareDevice_{what}" for what in ("Type", "VendorId", "DeviceId", "Vendor", "Metadata")]


@pytest.fixture
def ep_api(api):
    """Return the ``OrtEpApi`` table."""
    return Table(api.GetEpApi(), "OrtEpApi", api)


def pairs(api, **entries):
    """Return new key-value pairs."""
    made = api.get.CreateKeyValuePairs()
    for key, value in entries.items():
        api.AddKeyValuePair(made, key.encode(), value.encode())
    return made


def entries(api, kvps):
    """Return key-value pairs as a dict."""
    keys, values, count = C.c_void_p(), C.c_void_p(), C.c_size_t()
    api.GetKeyValuePairs(kvps, C.byref(keys), C.byref(values), C.byref(count))
    if not count.value:
        return {}
    row = C.c_void_p * count.value
    return {text(k): text(v) for k, v in zip(row.from_address(keys.value), row.from_address(values.value), strict=True)}


def seen_hardware(probe, look):
    """Run look(api, hardware) inside GetSupportedDevices."""
    seen = []

    def devices(factory, hardware):
        seen.append(look(factory.api, hardware))
        return [factory.device(factory.cpu(hardware))]

    with registered(probe, EpFactory(probe, devices=devices)):
        pass
    return seen[0]


@pytest.mark.slot("OrtApi.GetEpApi")
def test_table_of_providers_is_one_object(api):
    assert api.GetEpApi() == api.GetEpApi() != 0


@pytest.mark.slot(*HARDWARE, "OrtEpFactory.GetSupportedDevices")
def test_cpu_comes_last_and_is_described_as_the_processor_says(probe):
    def look(api, hardware):
        device = hardware[-1]
        metadata = entries(api, api.HardwareDevice_Metadata(device))
        kind, vendor = api.HardwareDevice_Type(device), text(api.HardwareDevice_Vendor(device))
        return kind, vendor, api.HardwareDevice_VendorId(device), api.HardwareDevice_DeviceId(device), metadata

    kind, vendor, vendor_id, device_id, metadata = seen_hardware(probe, look)
    known = {"GenuineIntel": ("Intel", 0x8086), "AuthenticAMD": ("AMD", 0x1022)}
    lines = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    signature = {key.strip(): value.strip() for key, value in lines.items()}["vendor_id"]
    assert kind == E.OrtHardwareDeviceType_CPU
    assert (vendor, vendor_id) == known.get(signature, ("unknown", 0))
    assert (device_id, metadata) == (0, {})


@pytest.mark.slot(CREATE, "OrtEpFactory.GetName", "OrtEpFactory.GetVendor", "OrtEpFactory.GetVersion")
@pytest.mark.slot("OrtApi.EpDevice_EpName", "OrtApi.EpDevice_EpVendor", "OrtApi.EpDevice_Device")
@pytest.mark.slot("OrtApi.EpDevice_EpMetadata", "OrtApi.EpDevice_EpOptions")
def test_device_says_what_its_factory_and_its_maker_said(probe, api):
    seen = []

    def devices(factory, hardware):
        metadata, options = pairs(api, b="2", a="1"), pairs(api, level="3")
        cpu = factory.cpu(hardware)
        device = factory.device(cpu, metadata, options)
        for made in (metadata, options):
            api.ReleaseKeyValuePairs(made)
        seen.append((text(api.EpDevice_EpName(device)), text(api.EpDevice_EpVendor(device))))
        seen.append(api.EpDevice_Device(device) == cpu)
        seen.append(entries(api, api.EpDevice_EpMetadata(device)))
        seen.append(entries(api, api.EpDevice_EpOptions(device)))
        return [device]

    with registered(probe, EpFactory(probe, devices=devices)) as offered:
        (device,) = offered
        assert (device.ep_name, device.ep_vendor) == ("ProbeExecutionProvider", "probe")
        assert device.ep_metadata == {"a": "1", "b": "2", "version": "1.2.3", "library_path": probe.path}
        assert device.ep_options == {"level": "3"}
    assert seen == [
        ("ProbeExecutionProvider", "probe"), True, {"a": "1", "b": "2", "version": "1.2.3"}, {"level": "3"}
    ]  # fmt: skip


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize(
    "release", ["1.2", "abc", "1.2.3.4", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "", "1.2.4294967296"]
)
def test_version_that_is_none_fails_the_registration(probe, release):
    factory = EpFactory(probe, release=release)

    def devices(factory, hardware):
        out = C.c_void_p(SENTINEL)
        cpu = factory.cpu(hardware)
        code = factory.ep_api.code.CreateEpDevice(factory.address, cpu, None, None, C.byref(out))
        seen.append((code, out.value))
        return []

    seen, factory._devices = [], devices
    with registered(probe, factory) as offered:
        assert offered == []
    assert seen == [(E.ORT_FAIL, SENTINEL)]


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize("release", ["0.0.0", "1.2.3-rc1", "1.8.1+95d534b.ci.79", "1.2.3-a.0.b-c+001"])
def test_version_may_have_a_pre_release_and_a_build(probe, release):
    with registered(probe, EpFactory(probe, release=release)) as offered:
        assert offered[0].ep_metadata["version"] == release


@pytest.mark.slot(CREATE)
def test_metadata_cannot_name_the_version(probe, api):
    seen = []

    def devices(factory, hardware):
        metadata, out = pairs(api, version="9.9.9"), C.c_void_p(SENTINEL)
        args = factory.address, factory.cpu(hardware), metadata, None, C.byref(out)
        seen.append((factory.ep_api.code.CreateEpDevice(*args), out.value))
        api.ReleaseKeyValuePairs(metadata)
        return []

    with registered(probe, EpFactory(probe, devices=devices)):
        pass
    assert seen == [(E.ORT_INVALID_ARGUMENT, SENTINEL)]


@pytest.mark.slot(RELEASE)
def test_device_that_is_not_handed_over_is_released_by_its_maker(probe):
    def devices(factory, hardware):
        factory.ep_api.ReleaseEpDevice(factory.device(factory.cpu(hardware)))
        factory.ep_api.ReleaseEpDevice(None)
        return []

    with registered(probe, EpFactory(probe, devices=devices)) as offered:
        assert offered == []


@pytest.mark.slot("OrtEpApi.CreateHardwareDevice", "OrtEpApi.ReleaseHardwareDevice", *HARDWARE)
def test_made_hardware_is_what_was_said(api, ep_api):
    metadata = pairs(api, memory="8")
    args = E.OrtHardwareDeviceType_NPU, 7, 9, b"maker", metadata
    device = ep_api.get.CreateHardwareDevice(*args)
    api.ReleaseKeyValuePairs(metadata)
    assert api.HardwareDevice_Type(device) == E.OrtHardwareDeviceType_NPU
    assert (api.HardwareDevice_VendorId(device), api.HardwareDevice_DeviceId(device)) == (7, 9)
    assert text(api.HardwareDevice_Vendor(device)) == "maker"
    assert entries(api, api.HardwareDevice_Metadata(device)) == {"memory": "8"}
    ep_api.ReleaseHardwareDevice(device)
    ep_api.ReleaseHardwareDevice(None)


@pytest.mark.slot("OrtEpApi.CreateHardwareDevice")
def test_hardware_needs_the_name_of_a_vendor(ep_api):
    out = C.c_void_p(SENTINEL)
    code = ep_api.code.CreateHardwareDevice(E.OrtHardwareDeviceType_CPU, 0, 0, None, None, C.byref(out))
    assert (code, out.value) == (E.ORT_RUNTIME_EXCEPTION, SENTINEL)


@pytest.mark.slot("OrtEpApi.EpDevice_AddAllocatorInfo", "OrtApi.EpDevice_MemoryInfo")
def test_memories_of_a_device_are_kept_by_kind(probe, api):
    seen = []

    def devices(factory, hardware):
        memory = [
            api.get.CreateMemoryInfo_V2(b"m", E.OrtMemoryInfoDeviceType_GPU, 0x10DE, 1, kind, 0, allocator)
            for kind, allocator in (
                (E.OrtDeviceMemoryType_DEFAULT, E.OrtDeviceAllocator),
                (E.OrtDeviceMemoryType_HOST_ACCESSIBLE, E.OrtDeviceAllocator),
                (E.OrtDeviceMemoryType_DEFAULT, E.OrtReadOnlyAllocator),
            )
        ]
        device = factory.device(factory.cpu(hardware))
        kinds = E.OrtDeviceMemoryType_DEFAULT, E.OrtDeviceMemoryType_HOST_ACCESSIBLE
        seen.append([api.EpDevice_MemoryInfo(device, kind) for kind in kinds])
        for info in memory:
            factory.ep_api.ok.EpDevice_AddAllocatorInfo(device, info)
        seen.append([api.EpDevice_MemoryInfo(device, kind) for kind in kinds] == memory[:2])
        factory.ep_api.ReleaseEpDevice(device)
        for info in memory:
            api.ReleaseMemoryInfo(info)
        return []

    with registered(probe, EpFactory(probe, devices=devices)):
        pass
    assert seen == [[None, None], True]


DEVICE = [f"OrtEpApi.MemoryDevice_Get{what}" for what in ("DeviceType", "MemoryType", "VendorId", "DeviceId")]


@pytest.mark.slot("OrtEpApi.MemoryInfo_GetMemoryDevice", *DEVICE)
def test_memory_device_is_the_device_part_of_an_info(api, ep_api):
    info = api.get.CreateMemoryInfo_V2(
        b"m", E.OrtMemoryInfoDeviceType_NPU, 7, -1, E.OrtDeviceMemoryType_HOST_ACCESSIBLE, 64, E.OrtDeviceAllocator
    )
    device = ep_api.MemoryInfo_GetMemoryDevice(info)
    assert device == ep_api.MemoryInfo_GetMemoryDevice(info)
    assert ep_api.MemoryDevice_GetDeviceType(device) == E.OrtMemoryInfoDeviceType_NPU
    assert ep_api.MemoryDevice_GetMemoryType(device) == E.OrtDeviceMemoryType_HOST_ACCESSIBLE
    assert ep_api.MemoryDevice_GetVendorId(device) == 7
    assert ep_api.MemoryDevice_GetDeviceId(device) == 2**32 - 1
    api.ReleaseMemoryInfo(info)


@pytest.mark.slot("OrtEpApi.MemoryDevice_AreEqual")
@pytest.mark.parametrize(
    ("change", "are_equal"),
    [({}, True), ({"name": b"x"}, True), ({"vendor": 1}, False), ({"id": 1}, False), ({"alignment": 64}, False)],
)
def test_memory_devices_are_equal_by_all_but_the_name(api, ep_api, change, are_equal):
    def make(name=b"m", vendor=0, id=0, alignment=0):
        args = name, E.OrtMemoryInfoDeviceType_CPU, vendor, id, E.OrtDeviceMemoryType_DEFAULT, alignment
        return api.get.CreateMemoryInfo_V2(*args, E.OrtDeviceAllocator)

    infos = [make(), make(**change)]
    devices = [ep_api.MemoryInfo_GetMemoryDevice(info) for info in infos]
    assert ep_api.MemoryDevice_AreEqual(*devices) == are_equal
    assert not ep_api.MemoryDevice_AreEqual(devices[0], None)
    assert not ep_api.MemoryDevice_AreEqual(None, devices[0])
    for info in infos:
        api.ReleaseMemoryInfo(info)


@pytest.mark.slot("OrtEpApi.Value_GetMemoryDevice")
def test_value_is_in_the_memory_of_its_allocator(api, ep_api):
    allocator = api.get.GetAllocatorWithDefaultOptions()
    value = api.get.CreateTensorAsOrtValue(allocator, dims(2), 1, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    device = ep_api.Value_GetMemoryDevice(value)
    wanted = ep_api.MemoryInfo_GetMemoryDevice(api.get.AllocatorGetInfo(allocator))
    assert ep_api.MemoryDevice_AreEqual(device, wanted)
    assert ep_api.Value_GetMemoryDevice(None) is None
    api.ReleaseValue(value)


@pytest.mark.slot("OrtApi.EpDevice_EpName")
@pytest.mark.finds("wrong_kind")
@HOST
def test_bad_handles_are_answered_as_unknown_devices(api, ep_api):
    for handle in (None, api.get.GetAllocatorWithDefaultOptions()):
        assert text(api.EpDevice_EpName(handle)) == ""
        assert text(api.HardwareDevice_Vendor(handle)) == ""
        assert api.EpDevice_Device(handle) is None
        assert api.HardwareDevice_Metadata(handle) is None
        assert api.EpDevice_MemoryInfo(handle, E.OrtDeviceMemoryType_DEFAULT) is None


@pytest.mark.slot("OrtEpFactory.GetSupportedDevices", "OrtEpFactory.CreateDataTransfer")
def test_each_factory_is_asked_in_order_and_released_once(probe):
    factories = [EpFactory(probe, ep_name=f"Probe{i}ExecutionProvider") for i in range(3)]
    with entry_points(probe, [f.address for f in factories]) as released:
        probe.ort.register_execution_provider_library("probe", probe.path)
        probe.reraise()
        names = [d.ep_name for d in probe.ort.get_ep_devices()]
        assert [name for name in names if name.startswith("Probe")] == [f"Probe{i}ExecutionProvider" for i in range(3)]
        assert released == []
        probe.ort.unregister_execution_provider_library("probe")
        assert sorted(released) == sorted(f.address for f in factories)
        assert not [d for d in probe.ort.get_ep_devices() if d.ep_name.startswith("Probe")]
    for factory in factories:
        assert factory.calls.count("GetSupportedDevices") == 1
        assert factory.calls.count("CreateDataTransfer") == 1


def refused(probe, message, given, count=None, status=None, exception="Fail"):
    """Register what must be refused and return the factories that are released."""
    before = [d.registration_name for d in probe.ort.get_ep_devices()]
    with entry_points(probe, given, count, status) as released:
        with pytest.raises(probe.exception(exception), match=message) as caught:
            probe.ort.register_execution_provider_library("probe", probe.path)
        probe.reraise()
        assert probe.path in str(caught.value)
        assert [d.registration_name for d in probe.ort.get_ep_devices()] == before
        with pytest.raises(probe.exception("Fail"), match="no library is registered"):
            probe.ort.unregister_execution_provider_library("probe")
    return released


@HOST
@pytest.mark.slot("OrtEpFactory.GetName")
def test_wrong_counts_of_factories_are_refused_and_what_was_given_is_released(probe):
    made = [EpFactory(probe, ep_name=f"P{i}") for i in range(6)]
    addresses = [factory.address for factory in made]
    assert refused(probe, "gave no factory", []) == []
    assert sorted(refused(probe, "gave 6 factories, there is room for 4", addresses)) == sorted(addresses)
    assert sorted(refused(probe, "gave 5 factories, there is room for 4", addresses[:2], 5)) == sorted(addresses[:2])
    assert refused(probe, "entry 1 of 2 factories is null", [addresses[0], None]) == addresses[:1]
    assert refused(probe, "entry 1 of the factories was given before", addresses[:1] * 2) == addresses[:1]


@HOST
@pytest.mark.slot("OrtEpFactory.GetName")
@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ({"version": 0}, "factory 0: OrtEpFactory: ort_version_supported must be an API version, got 0"),
        ({"ep_name": None}, "factory 0: OrtEpFactory.GetName: must give a name, got null"),
        ({"ep_name": ""}, "factory 0: OrtEpFactory.GetName: must give a name, got an empty one"),
    ],
)
def test_factory_that_cannot_be_used_is_refused_by_rule(probe, factory, message):
    made = EpFactory(probe, **factory)
    exception = "InvalidArgument" if factory.get("version") == 0 else "Fail"
    assert refused(probe, message, [made.address], exception=exception) == [made.address]


@HOST
@pytest.mark.slot("OrtEpFactory.GetSupportedDevices")
@pytest.mark.parametrize(
    ("devices", "message"),
    [
        (lambda f, h: [f.device(h[-1]) for _ in range(9)], "gave 9 devices, there is room for 8"),
        (lambda f, h: [f.device(h[-1]), None], "entry 1 of 2 devices is null"),
        (lambda f, h: [f.device(h[-1])] * 2, "entry 1 of the devices was given before"),
        (lambda f, h: [h[-1]], "OrtEpDevice|EP device"),
        (lambda f, h: f.probe.status(), "refused by the probe"),
    ],
)
@pytest.mark.finds("wrong_kind")
def test_wrong_devices_are_refused(probe, devices, message):
    factory = EpFactory(probe, devices=devices)
    if message == "refused by the probe":
        factory.count("GetSupportedDevices", lambda *arguments: probe.status())
    exception = "InvalidArgument" if "EP device" in message else "Fail"
    assert refused(probe, message, [factory.address], exception=exception) == [factory.address]


@HOST
@pytest.mark.slot("OrtEpFactory.CreateDataTransfer")
def test_failing_data_transfer_fails_the_registration_with_its_code(probe):
    factory = EpFactory(probe)
    factory.count("CreateDataTransfer", lambda this, out: probe.status(E.ORT_EP_FAIL, b"no way to copy"))
    assert refused(probe, "no way to copy", [factory.address], exception="EPFail") == [factory.address]


@pytest.mark.slot("OrtEpFactory.CreateDataTransfer", "OrtDataTransferImpl.Release")
def test_data_transfer_is_released_once_with_the_library(probe):
    released, transfer = [], PluginStruct("OrtDataTransferImpl", 30, probe.guard)
    transfer.set("Release", released.append)
    transfer.set("CanCopy", lambda *arguments: False)
    transfer.set("CopyTensors", lambda *arguments: probe.status())
    factory = EpFactory(probe)

    def create(this, out):
        C.c_void_p.from_address(out).value = transfer.address

    factory.count("CreateDataTransfer", create)
    with registered(probe, factory):
        assert released == []
    assert released == [transfer.address]


@pytest.mark.slot("OrtEpFactory.GetName")
@pytest.mark.parametrize("count", [0, 1])
def test_error_of_the_library_keeps_its_code_and_what_it_wrote_is_released(probe, count):
    factory = EpFactory(probe)
    status = lambda: probe.status(E.ORT_EP_FAIL, b"no licence")  # noqa: E731
    with (
        entry_points(probe, [factory.address], count, status) as released,
        pytest.raises(probe.exception("EPFail"), match="no licence"),
    ):
        probe.ort.register_execution_provider_library("probe", probe.path)
    assert released == [factory.address]


@pytest.mark.slot("OrtEpFactory.GetName")
def test_name_serves_one_library_and_a_library_may_have_two_names(probe):
    factory = EpFactory(probe)
    with registered(probe, factory, name="one"):
        with pytest.raises(probe.exception("Fail"), match="one"):
            probe.ort.register_execution_provider_library("one", probe.path)
        calls = list(factory.calls)
        with registered(probe, factory, name="two") as offered:
            assert len(offered) == 2
            assert len(factory.calls) > len(calls)


@HOST
@pytest.mark.slot("OrtEpFactory.GetName")
def test_hosts_own_provider_is_the_first_device(probe):
    own = probe.ort.get_ep_devices()[0]
    assert (own.ep_name, own.ep_metadata, own.ep_options) == (
        "CPUExecutionProvider", {"version": probe.ort.__version__}, {}
    )  # fmt: skip
    assert own.device.type == probe.ort.OrtHardwareDeviceType.CPU
    assert not own.device.synthetic


@HOST
@pytest.mark.slot("OrtEpFactory.GetSupportedDevices")
@pytest.mark.parametrize("version", [22, 23, 30, 99])
def test_struct_is_read_as_far_as_its_version_says(probe, version):
    factory = EpFactory(probe, version=version)
    with registered(probe, factory) as offered:
        assert ("version" in offered[0].ep_metadata) == (version >= 23)
    assert ("CreateDataTransfer" in factory.calls) == (version >= 23)
    assert factory.calls.count("GetSupportedDevices") == 1
