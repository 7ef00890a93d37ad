# SPDX-License-Identifier: Apache-2.0
"""Tensors that take memory over and free it, and the address of one element."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import E, dims, read_tensor

FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
INT4 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4
STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
SENTINEL = 0x1234
ADOPT, AT = "OrtApi.CreateTensorWithDataAndDeleterAsOrtValue", "OrtApi.TensorAt"


def block_of(api, allocator, content):
    """Return the address of a block of the allocator with the content of an array."""
    block = api.get.AllocatorAlloc(allocator.address, max(content.nbytes, 1))
    C.memmove(block, content.ctypes.data, content.nbytes)
    return block


def adopt(api, allocator, block, size, shape, element=FLOAT):
    """Return error code and value."""
    out = C.c_void_p(SENTINEL)
    args = allocator.address, block, size, dims(*shape), len(shape), element, C.byref(out)
    return api.code.CreateTensorWithDataAndDeleterAsOrtValue(*args), out.value


@pytest.mark.slot(ADOPT, "OrtApi.ReleaseValue", "OrtAllocator.Free")
def test_adopted_memory_is_freed_once_with_the_value(api, allocator):
    content = np.arange(6, dtype=np.float32).reshape(2, 3)
    block = block_of(api, allocator, content)
    code, value = adopt(api, allocator, block, content.nbytes, content.shape)
    assert code == E.ORT_OK
    assert api.get.GetTensorMutableData(value) == block
    np.testing.assert_array_equal(read_tensor(api, value), content)
    assert allocator.freed == []
    api.ReleaseValue(value)
    assert allocator.freed == [block]


@pytest.mark.slot(ADOPT, "OrtApi.GetTensorMemoryInfo", "OrtAllocator.Info")
def test_adopted_memory_is_described_by_its_allocator(api, allocator):
    content = np.zeros(2, np.float32)
    code, value = adopt(api, allocator, block_of(api, allocator, content), content.nbytes, (2,))
    assert code == E.ORT_OK
    assert api.get.CompareMemoryInfo(api.get.GetTensorMemoryInfo(value), allocator.info) == 0
    api.ReleaseValue(value)


@pytest.mark.slot(ADOPT)
@pytest.mark.parametrize(
    ("shape", "element", "code"),
    [
        ((3,), FLOAT, E.ORT_INVALID_ARGUMENT),
        ((2, -1), FLOAT, E.ORT_INVALID_ARGUMENT),
        ((2**40, 2**40), FLOAT, E.ORT_FAIL),
        ((2,), 99, E.ORT_NOT_IMPLEMENTED),
    ],
    ids=["too_small", "negative", "overflow", "unknown_type"],
)
def test_memory_that_is_not_adopted_stays_the_callers(api, allocator, shape, element, code):
    block = block_of(api, allocator, np.zeros(2, np.float32))
    assert adopt(api, allocator, block, 8, shape, element) == (code, SENTINEL)
    assert allocator.freed == []
    api.ok.AllocatorFree(allocator.address, block)


@pytest.mark.slot(ADOPT)
@pytest.mark.host_stricter
@pytest.mark.parametrize(
    ("block", "element", "code"),
    [(None, FLOAT, E.ORT_INVALID_ARGUMENT), (SENTINEL, STRING, E.ORT_NOT_IMPLEMENTED)],
    ids=["null", "strings"],
)
def test_memory_that_holds_no_numbers_is_not_adopted(api, allocator, block, element, code):
    assert adopt(api, allocator, block, 64, (1,), element) == (code, SENTINEL)


@pytest.mark.slot(ADOPT)
@pytest.mark.host_stricter
@pytest.mark.parametrize("missing", [0, 6])
def test_adopting_checks_its_pointers(api, allocator, missing):
    args = [allocator.address, None, 0, dims(0), 1, FLOAT, C.byref(C.c_void_p())]
    args[missing] = None
    assert api.code.CreateTensorWithDataAndDeleterAsOrtValue(*args) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(ADOPT)
@pytest.mark.host_stricter
def test_deleter_of_version_0_is_refused_by_name(api, allocator):
    C.c_uint32.from_buffer(allocator.memory, 0).value = 0
    args = allocator.address, SENTINEL, 8, dims(2), 1, FLOAT, C.byref(C.c_void_p())
    code, message = api.error.CreateTensorWithDataAndDeleterAsOrtValue(*args)
    assert code == E.ORT_INVALID_ARGUMENT
    assert "OrtAllocator" in message


@pytest.fixture
def new_tensor(api):
    """Return a creator of tensors that are released after the test."""
    made = []

    def create(shape, element=FLOAT):
        default = api.get.GetAllocatorWithDefaultOptions()
        made.append(api.get.CreateTensorAsOrtValue(default, dims(*shape), len(shape), element))
        return made[-1]

    yield create
    for value in made:
        api.ReleaseValue(value)


@pytest.mark.slot(AT)
@pytest.mark.parametrize(("shape", "location", "index"), [((2, 3), (1, 2), 5), ((2, 3), (0, 0), 0), ((4,), (3,), 3)])
def test_element_lies_where_row_major_order_says(api, new_tensor, shape, location, index):
    value = new_tensor(shape)
    start = api.get.GetTensorMutableData(value)
    assert api.get.TensorAt(value, dims(*location), len(location)) == start + 4 * index


@pytest.mark.slot(AT)
@pytest.mark.parametrize("location", [(2, 0), (0, 3), (-1, 0), (0,), (0, 0, 0)])
def test_place_outside_of_the_tensor_is_refused(api, new_tensor, location):
    out = C.c_void_p(SENTINEL)
    code = api.code.TensorAt(new_tensor((2, 3)), dims(*location), len(location), C.byref(out))
    assert (code, out.value) == (E.ORT_INVALID_ARGUMENT, SENTINEL)


@pytest.mark.slot(AT)
@pytest.mark.host_stricter
def test_extents_beside_a_zero_may_have_any_product(api, new_tensor):
    value, location = new_tensor((2**40, 2**40, 0)), dims(2**40 - 1, 2**40 - 1, 0)
    assert api.code.TensorAt(value, location, 3, C.byref(C.c_void_p())) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(AT)
@pytest.mark.host_stricter
@pytest.mark.parametrize("element", [STRING, INT4], ids=["string", "int4"])
def test_element_without_an_address_of_its_own_is_refused(api, new_tensor, element):
    assert api.code.TensorAt(new_tensor((2,), element), dims(0), 1, C.byref(C.c_void_p())) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(AT)
@pytest.mark.host_stricter
@pytest.mark.parametrize("missing", [0, 1, 3])
def test_element_address_checks_its_pointers(api, new_tensor, missing):
    args = [new_tensor((2,)), dims(0), 1, C.byref(C.c_void_p())]
    args[missing] = None
    assert api.code.TensorAt(*args) == E.ORT_INVALID_ARGUMENT
