# SPDX-License-Identifier: Apache-2.0
"""The default allocator, the allocator slots and the allocator callbacks."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import E, PluginAllocator, Table

DEFAULT = "OrtApi.GetAllocatorWithDefaultOptions"
SIZE_MAX = 2**64 - 1


@pytest.fixture
def default(api):
    """Return the default allocator's address; it is never released."""
    return api.get.GetAllocatorWithDefaultOptions()


@pytest.fixture
def callbacks(default, api):
    """Return the default allocator's own callbacks."""
    return Table(default, "OrtAllocator", api)


@pytest.mark.slot(DEFAULT)
def test_default_allocator_is_one_object(api, default):
    assert api.get.GetAllocatorWithDefaultOptions() == default


@pytest.mark.slot(DEFAULT, "OrtApi.AllocatorGetInfo", "OrtAllocator.Info")
def test_default_allocator_describes_plain_cpu_memory(api, default, callbacks):
    info = api.get.AllocatorGetInfo(default)
    assert callbacks.Info(default) == info
    plain = api.get.CreateCpuMemoryInfo(E.OrtDeviceAllocator, E.OrtMemTypeDefault)
    assert api.get.CompareMemoryInfo(info, plain) == 0
    api.ReleaseMemoryInfo(plain)


@pytest.mark.slot(DEFAULT, "OrtAllocator.Alloc", "OrtAllocator.Free", "OrtAllocator.Reserve")
def test_default_allocator_sets_its_callbacks(default, callbacks):
    version = C.c_uint32.from_address(default).value
    assert version >= 30
    assert all(callbacks.has(name) for name in ("Alloc", "Free", "Info", "Reserve", "GetStats"))
    assert not callbacks.has("AllocOnStream")
    assert not callbacks.has("Shrink")


@pytest.mark.slot("OrtApi.AllocatorAlloc", "OrtApi.AllocatorFree")
@pytest.mark.parametrize("size", [1, 63, 64, 100_000])
def test_block_is_writable_and_aligned_to_64_bytes(api, default, size):
    block = api.get.AllocatorAlloc(default, size)
    assert block % 64 == 0
    C.memset(block, 0x5A, size)
    assert C.string_at(block, size) == b"\x5a" * size
    api.ok.AllocatorFree(default, block)


@pytest.mark.slot("OrtAllocator.Alloc", "OrtAllocator.Reserve", "OrtAllocator.Free")
@pytest.mark.parametrize("member", ["Alloc", "Reserve"])
def test_callback_gives_aligned_blocks_that_one_free_takes_back(default, callbacks, member):
    block = getattr(callbacks, member)(default, 10)
    assert block % 64 == 0
    C.memset(block, 1, 10)
    callbacks.Free(default, block)


@pytest.mark.slot("OrtApi.AllocatorAlloc", "OrtAllocator.Alloc", "OrtAllocator.Reserve")
def test_no_bytes_give_null(api, default, callbacks):
    assert api.get.AllocatorAlloc(default, 0) is None
    assert callbacks.Alloc(default, 0) is None
    assert callbacks.Reserve(default, 0) is None


@pytest.mark.slot("OrtApi.AllocatorFree", "OrtAllocator.Free")
def test_freeing_null_does_nothing(api, default, callbacks):
    api.ok.AllocatorFree(default, None)
    callbacks.Free(default, None)


@pytest.mark.slot("OrtApi.AllocatorAlloc")
def test_exhaustion_is_an_error_and_leaves_out_alone(api, default):
    out = C.c_void_p(0x1234)
    assert api.code.AllocatorAlloc(default, 2**62, C.byref(out)) == E.ORT_RUNTIME_EXCEPTION
    assert out.value == 0x1234


@pytest.mark.slot("OrtApi.AllocatorAlloc", "OrtAllocator.Alloc", "OrtAllocator.Reserve")
@pytest.mark.host_stricter
def test_largest_size_does_not_wrap(api, default, callbacks):
    out = C.c_void_p(0x1234)
    assert api.code.AllocatorAlloc(default, SIZE_MAX, C.byref(out)) == E.ORT_RUNTIME_EXCEPTION
    assert out.value == 0x1234
    assert callbacks.Alloc(default, SIZE_MAX) is None
    assert callbacks.Reserve(default, SIZE_MAX) is None


@pytest.mark.slot("OrtAllocator.GetStats")
def test_statistics_are_an_owned_set_of_pairs(api, default, callbacks):
    pairs = callbacks.get.GetStats(default)
    api.ReleaseKeyValuePairs(pairs)


@pytest.mark.slot("OrtApi.AllocatorAlloc", "OrtApi.AllocatorFree", "OrtApi.AllocatorGetInfo")
@pytest.mark.slot("OrtAllocator.Alloc", "OrtAllocator.Free", "OrtAllocator.Info")
def test_slots_forward_to_a_plugins_allocator(api, probe):
    mine = PluginAllocator(probe)
    block = api.get.AllocatorAlloc(mine.address, 10)
    assert block in mine.live
    assert mine.sizes == [10]
    assert api.get.AllocatorGetInfo(mine.address) == mine.info
    api.ok.AllocatorFree(mine.address, block)
    assert not mine.live
    api.ReleaseMemoryInfo(mine.info)


@pytest.mark.slot("OrtApi.KernelInfoGetAllocator", "OrtApi.ReleaseAllocator")
@pytest.mark.parametrize("mem_type", [E.OrtMemTypeDefault, E.OrtMemTypeCPU, E.OrtMemTypeCPUInput, 1, 5])
def test_kernel_info_gives_a_cpu_allocator_for_every_memory_type(probe, mem_type):
    def body(api, info):
        allocator = api.get.KernelInfoGetAllocator(info, mem_type)
        out = C.c_int(-1)
        api.MemoryInfoGetDeviceType(api.get.AllocatorGetInfo(allocator), C.byref(out))
        block = api.get.AllocatorAlloc(allocator, 100)
        api.ok.AllocatorFree(allocator, block)
        api.ReleaseAllocator(allocator)
        return out.value, block % 64

    assert probe.during_create(body) == (E.OrtMemoryInfoDeviceType_CPU, 0)


@pytest.mark.slot("OrtApi.KernelInfoGetAllocator", "OrtApi.ReleaseAllocator")
def test_block_of_one_wrapper_may_be_freed_through_another(probe):
    def body(api, info):
        first, second = (api.get.KernelInfoGetAllocator(info, E.OrtMemTypeDefault) for _ in range(2))
        block = api.get.AllocatorAlloc(first, 100)
        api.ReleaseAllocator(first)
        api.ok.AllocatorFree(second, block)
        api.ReleaseAllocator(second)
        return block

    assert probe.during_create(body)


@pytest.mark.slot("OrtApi.KernelInfoGetAllocator", "OrtAllocator.Alloc", "OrtAllocator.Free", "OrtAllocator.Reserve")
def test_kernel_info_allocator_sets_its_callbacks(probe):
    def body(api, info):
        allocator = api.get.KernelInfoGetAllocator(info, E.OrtMemTypeDefault)
        table = Table(allocator, "OrtAllocator", api)
        names = ("Alloc", "Free", "Info", "Reserve", "GetStats")
        missing = [name for name in names if not table.has(name)]
        shrink = table.has("Shrink")
        api.ReleaseAllocator(allocator)
        return missing, shrink

    assert probe.during_create(body) == ([], False)


NEVER = ["Reserve", "GetStats", "AllocOnStream", "Shrink"]


@pytest.mark.slot("OrtApi.CreateTensorAsOrtValue", "OrtApi.AllocatorAlloc", "OrtAllocator.Alloc", "OrtAllocator.Free")
@pytest.mark.slot(*[f"OrtAllocator.{name}" for name in NEVER])
def test_later_callbacks_of_a_plugins_allocator_are_never_invoked(api, probe):
    allocator, called = PluginAllocator(probe), []
    for name in NEVER:
        allocator.set(name, lambda *arguments, name=name: called.append(name))
    address = allocator.address
    api.ok.AllocatorFree(address, api.get.AllocatorAlloc(address, 16))
    api.ReleaseValue(api.get.CreateTensorAsOrtValue(address, None, 0, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT))
    attributes = {"t": onnx.numpy_helper.from_array(np.ones(3, np.float32))}
    body = lambda api, info: api.ReleaseValue(api.get.KernelInfoGetAttribute_tensor(info, b"t", address))  # noqa: E731
    probe.during_create(body, attributes=attributes)
    api.ReleaseMemoryInfo(allocator.info)
    assert len(allocator.sizes) == 3
    assert called == []
