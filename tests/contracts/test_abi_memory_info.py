# SPDX-License-Identifier: Apache-2.0
"""OrtMemoryInfo."""

import ctypes as C

import pytest
from contracts.harness import E, text

CREATE, V2 = "OrtApi.CreateMemoryInfo", "OrtApi.CreateMemoryInfo_V2"
GETTERS = (
    "OrtApi.MemoryInfoGetName",
    "OrtApi.MemoryInfoGetId",
    "OrtApi.MemoryInfoGetMemType",
    "OrtApi.MemoryInfoGetType",
)
CPU, GPU, NPU = E.OrtMemoryInfoDeviceType_CPU, E.OrtMemoryInfoDeviceType_GPU, E.OrtMemoryInfoDeviceType_NPU
ARENA, DEVICE, DEFAULT = E.OrtArenaAllocator, E.OrtDeviceAllocator, E.OrtMemTypeDefault
SENTINEL = 0x1234


@pytest.fixture
def new_info(api):
    """Return a creator ``new_info(slot suffix, *args)`` of infos that are released after the test."""
    made = []

    def create(slot, *args):
        made.append(getattr(api.get, slot)(*args))
        return made[-1]

    yield create
    for info in made:
        api.ReleaseMemoryInfo(info)


def device_type(api, info):
    out = C.c_int(-9)
    api.MemoryInfoGetDeviceType(info, C.byref(out))
    return out.value


def v2(name=b"Mine", device=CPU, vendor=0, device_id=0, kind=E.OrtDeviceMemoryType_DEFAULT, alignment=0, kept=DEVICE):
    return name, device, vendor, device_id, kind, alignment, kept


@pytest.mark.slot(CREATE, *GETTERS, "OrtApi.ReleaseMemoryInfo")
def test_info_reads_back(api, new_info):
    info = new_info("CreateMemoryInfo", b"Cpu", ARENA, 0, E.OrtMemTypeCPUInput)
    assert text(api.get.MemoryInfoGetName(info)) == "Cpu"
    assert api.get.MemoryInfoGetId(info) == 0
    assert api.get.MemoryInfoGetMemType(info) == E.OrtMemTypeCPUInput
    assert api.get.MemoryInfoGetType(info) == ARENA


@pytest.mark.slot(CREATE, "OrtApi.MemoryInfoGetId")
def test_cpu_has_the_id_0_whatever_was_asked(api, new_info):
    assert api.get.MemoryInfoGetId(new_info("CreateMemoryInfo", b"Cpu", DEVICE, 5, DEFAULT)) == 0


@pytest.mark.slot(CREATE, "OrtApi.MemoryInfoGetDeviceType")
@pytest.mark.parametrize(("name", "device"), [(b"Cuda", GPU), (b"CudaPinned", GPU), (b"OpenVINO_GPU", GPU)])
def test_known_device_name_keeps_id_and_device(api, new_info, name, device):
    info = new_info("CreateMemoryInfo", name, DEVICE, 3, DEFAULT)
    assert api.get.MemoryInfoGetId(info) == 3
    assert device_type(api, info) == device


@pytest.mark.slot(CREATE, "OrtApi.MemoryInfoGetDeviceType", "OrtApi.MemoryInfoGetDeviceMemType")
@pytest.mark.slot("OrtApi.MemoryInfoGetVendorId")
@pytest.mark.parametrize(
    ("name", "device", "kind", "vendor"),
    [
        (b"Cuda", GPU, E.OrtDeviceMemoryType_DEFAULT, 0x10DE),
        (b"HipPinned", GPU, E.OrtDeviceMemoryType_HOST_ACCESSIBLE, 0x1002),
        (b"DML", GPU, E.OrtDeviceMemoryType_DEFAULT, 0x1414),
        (b"OpenVINO_RT_NPU", NPU, E.OrtDeviceMemoryType_DEFAULT, 0x8086),
        (b"QnnHtpShared", CPU, E.OrtDeviceMemoryType_HOST_ACCESSIBLE, 0x5143),
        (b"WebGPU_Buf", GPU, E.OrtDeviceMemoryType_DEFAULT, 0),
    ],
)
def test_known_name_stands_for_device_memory_and_vendor(api, new_info, name, device, kind, vendor):
    info = new_info("CreateMemoryInfo", name, DEVICE, 0, DEFAULT)
    assert device_type(api, info) == device
    assert api.MemoryInfoGetDeviceMemType(info) == kind
    assert api.MemoryInfoGetVendorId(info) == vendor


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize("name", [b"cpu", b"CPU", b"", b"Nowhere"])
def test_unknown_name_is_refused(api, name):
    out = C.c_void_p(SENTINEL)
    assert api.code.CreateMemoryInfo(name, DEVICE, 0, DEFAULT, C.byref(out)) == E.ORT_INVALID_ARGUMENT
    assert out.value == SENTINEL


@pytest.mark.slot("OrtApi.CreateCpuMemoryInfo", "OrtApi.MemoryInfoGetDeviceType", "OrtApi.MemoryInfoGetVendorId")
@pytest.mark.slot("OrtApi.MemoryInfoGetDeviceMemType")
def test_cpu_info_describes_plain_cpu_memory(api, new_info):
    info = new_info("CreateCpuMemoryInfo", DEVICE, DEFAULT)
    assert text(api.get.MemoryInfoGetName(info)) == "Cpu"
    assert device_type(api, info) == CPU
    assert api.MemoryInfoGetVendorId(info) == 0
    assert api.MemoryInfoGetDeviceMemType(info) == E.OrtDeviceMemoryType_DEFAULT


@pytest.mark.slot("OrtApi.CompareMemoryInfo", "OrtApi.CreateCpuMemoryInfo", CREATE, V2)
def test_three_ways_to_describe_cpu_memory_are_equal(api, new_info):
    plain = new_info("CreateCpuMemoryInfo", DEVICE, DEFAULT)
    assert api.get.CompareMemoryInfo(plain, new_info("CreateMemoryInfo", b"Cpu", DEVICE, 0, DEFAULT)) == 0
    assert api.get.CompareMemoryInfo(plain, new_info("CreateMemoryInfo_V2", *v2(b"Cpu"))) == 0


@pytest.mark.slot("OrtApi.CompareMemoryInfo")
@pytest.mark.parametrize(
    "other",
    [
        v2(b"Other"),
        v2(device=GPU),
        v2(vendor=1),
        v2(device_id=1),
        v2(kind=E.OrtDeviceMemoryType_HOST_ACCESSIBLE),
        v2(alignment=64),
        v2(kept=ARENA),
    ],
    ids=["name", "device", "vendor", "id", "kind", "alignment", "allocator_type"],
)
def test_any_differing_property_compares_as_minus_one(api, new_info, other):
    one, two = new_info("CreateMemoryInfo_V2", *v2()), new_info("CreateMemoryInfo_V2", *other)
    assert api.get.CompareMemoryInfo(one, two) == -1
    assert api.get.CompareMemoryInfo(two, one) == -1


@pytest.mark.slot(V2, *GETTERS, "OrtApi.MemoryInfoGetVendorId", "OrtApi.MemoryInfoGetDeviceMemType")
def test_free_name_is_copied_and_every_property_kept(api, new_info):
    name = C.create_string_buffer(b"Scratchpad")
    info = new_info(
        "CreateMemoryInfo_V2",
        *v2(C.addressof(name), NPU, 0x8086, 2, E.OrtDeviceMemoryType_HOST_ACCESSIBLE, 128, ARENA),
    )
    name.value = b"XXXXXXXXXX"
    assert text(api.get.MemoryInfoGetName(info)) == "Scratchpad"
    assert device_type(api, info) == NPU
    assert api.MemoryInfoGetVendorId(info) == 0x8086
    assert api.get.MemoryInfoGetId(info) == 2
    assert api.MemoryInfoGetDeviceMemType(info) == E.OrtDeviceMemoryType_HOST_ACCESSIBLE
    assert api.get.MemoryInfoGetType(info) == ARENA


@pytest.mark.slot(V2, "OrtApi.MemoryInfoGetMemType")
@pytest.mark.parametrize(
    ("kind", "mem_type"),
    [
        (E.OrtDeviceMemoryType_DEFAULT, E.OrtMemTypeDefault),
        (E.OrtDeviceMemoryType_HOST_ACCESSIBLE, E.OrtMemTypeCPU),
    ],
)
def test_mem_type_follows_the_memory_kind(api, new_info, kind, mem_type):
    assert api.get.MemoryInfoGetMemType(new_info("CreateMemoryInfo_V2", *v2(kind=kind))) == mem_type


@pytest.mark.slot(V2, "OrtApi.MemoryInfoGetId")
def test_negative_id_is_kept(api, new_info):
    assert api.get.MemoryInfoGetId(new_info("CreateMemoryInfo_V2", *v2(device_id=-1))) == -1


@pytest.mark.slot(V2)
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"name": None}, E.ORT_INVALID_ARGUMENT),
        ({"device": 99}, E.ORT_INVALID_ARGUMENT),
        ({"device_id": 2**15}, E.ORT_RUNTIME_EXCEPTION),
    ],
)
def test_bad_property_is_refused(api, changed, code):
    out = C.c_void_p(SENTINEL)
    assert api.code.CreateMemoryInfo_V2(*v2(**changed), C.byref(out)) == code
    assert out.value == SENTINEL


@pytest.mark.slot(V2)
def test_null_out_is_refused(api):
    assert api.code.CreateMemoryInfo_V2(*v2(), None) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(V2)
@pytest.mark.host_stricter
@pytest.mark.parametrize("changed", [{"kind": 3}, {"alignment": 3}, {"kept": 9}])
def test_property_without_meaning_is_refused(api, changed):
    out = C.c_void_p()
    assert api.code.CreateMemoryInfo_V2(*v2(**changed), C.byref(out)) == E.ORT_INVALID_ARGUMENT
