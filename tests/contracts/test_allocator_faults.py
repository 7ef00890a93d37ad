# SPDX-License-Identifier: Apache-2.0
"""Allocators of a library that throw, give up, or hold memory that the host must not touch."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import E, PluginAllocator, SlotError, dims, options_of, session_of

pytestmark = pytest.mark.host_stricter
STRINGS, TENSOR = "OrtApi.KernelInfoGetAttributeArray_string", "OrtApi.KernelInfoGetAttribute_tensor"
CREATE, ALLOC, FREE = "OrtApi.CreateTensorAsOrtValue", "OrtApi.AllocatorAlloc", "OrtApi.AllocatorFree"
SLOTS = pytest.mark.slot(STRINGS, TENSOR, CREATE, ALLOC, FREE)
EXCEPTION, INT, NULL, MISALIGNED = 1, 2, 3, 4
FAIL, INVALID, THROWN = E.ORT_FAIL, E.ORT_INVALID_ARGUMENT, E.ORT_RUNTIME_EXCEPTION
ALLOCATIONS = {"strings": 4, "tensor": 1, "texts": 1, "create": 1, "create_strings": 1, "slot": 1}
CALLS = [(road, k + 1) for road, count in ALLOCATIONS.items() for k in range(count)]
ATTRIBUTES = {
    "ss": ["one", "", "three"],
    "t": onnx.numpy_helper.from_array(np.arange(3.0)),
    "texts": onnx.helper.make_tensor("texts", onnx.TensorProto.STRING, [2], [b"a" * 100, b"b"]),
}


def ask(probe, road, callback, fault, nth=1):
    """Return the error code of the road, and how many blocks of the allocator are left over."""
    attributes = {**ATTRIBUTES, "road": road, "callback": callback, "fault": fault, "nth": nth}
    session = session_of(probe, "", "Allocates", options=options_of(probe, "throwing_allocator"), attributes=attributes)
    return tuple(probe.run(session, {"x0": np.ones(1, np.float32)})[0])


@SLOTS
@pytest.mark.parametrize("road", ALLOCATIONS)
def test_good_allocator(probe, road):
    assert ask(probe, road, "None", 0) == (E.ORT_OK, 0)


@SLOTS
@pytest.mark.parametrize("fault", [EXCEPTION, INT], ids=["exception", "int"])
@pytest.mark.parametrize(("road", "nth"), CALLS)
def test_alloc_that_throws_is_an_error_and_nothing_is_left_over(probe, road, nth, fault):
    assert ask(probe, road, "Alloc", fault, nth) == (THROWN, 0)


@SLOTS
@pytest.mark.parametrize(("road", "nth"), CALLS)
def test_alloc_that_gives_up_is_an_error_and_nothing_is_left_over(probe, road, nth):
    code = {"tensor": INVALID, "texts": INVALID, "slot": E.ORT_RUNTIME_EXCEPTION}.get(road, FAIL)
    assert ask(probe, road, "Alloc", NULL, nth) == (code, 0)


@SLOTS
@pytest.mark.parametrize(("road", "code"), [("texts", INVALID), ("create_strings", FAIL)])
def test_texts_are_not_put_where_they_cannot_be(probe, road, code):
    assert ask(probe, road, "Alloc", MISALIGNED) == (code, 0)


@SLOTS
@pytest.mark.parametrize("road", ["tensor", "create"])
def test_numbers_may_be_anywhere(probe, road):
    assert ask(probe, road, "Alloc", MISALIGNED) == (E.ORT_OK, 0)


@SLOTS
@pytest.mark.parametrize("fault", [EXCEPTION, INT], ids=["exception", "int"])
@pytest.mark.parametrize("road", ALLOCATIONS)
def test_free_that_throws_is_logged_and_the_rest_is_freed(probe, capfd, road, fault):
    assert ask(probe, road, "Free", fault) == (E.ORT_OK, 0)
    assert "OrtAllocator.Free" in capfd.readouterr().err


@SLOTS
@pytest.mark.parametrize(("fault", "code"), [(EXCEPTION, THROWN), (INT, THROWN), (NULL, INVALID)])
@pytest.mark.parametrize("road", [road for road in ALLOCATIONS if road != "slot"])
def test_info_that_throws_or_is_null_is_an_error_before_memory_is_asked_for(probe, road, fault, code):
    assert ask(probe, road, "Info", fault) == (code, 0)


@pytest.fixture
def elsewhere(probe, api):
    """Return an allocator that says it holds memory of a GPU."""
    allocator = PluginAllocator(probe)
    gpu = C.c_void_p()
    api.ok.CreateMemoryInfo(b"Cuda", E.OrtDeviceAllocator, 0, E.OrtMemTypeDefault, C.byref(gpu))
    allocator.set("Info", lambda this: gpu.value)
    yield allocator
    api.ReleaseMemoryInfo(gpu)


@SLOTS
def test_strings_and_tensors_of_attributes_are_not_written_to_another_device(probe, elsewhere):
    def body(api, info):
        out, size = C.c_void_p(0x1234), C.c_size_t(7)
        where = elsewhere.address
        tensor = api.code.KernelInfoGetAttribute_tensor(info, b"t", where, C.byref(out))
        strings = C.c_void_p()
        array = api.code.KernelInfoGetAttributeArray_string(info, b"ss", where, C.byref(strings), C.byref(size))
        return tensor, out.value, array, strings.value

    assert probe.during_create(body, attributes=ATTRIBUTES) == (INVALID, 0x1234, INVALID, None)
    assert elsewhere.sizes == []


@SLOTS
def test_tensor_is_not_made_on_another_device(api, elsewhere):
    with pytest.raises(SlotError, match="only plain CPU memory") as error:
        api.get.CreateTensorAsOrtValue(elsewhere.address, dims(3), 1, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    assert error.value.code == INVALID
    assert elsewhere.sizes == []
