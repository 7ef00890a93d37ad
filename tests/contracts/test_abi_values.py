# SPDX-License-Identifier: Apache-2.0
"""Dense OrtValue tensors."""

import ctypes as C

import numpy as np
import pytest
from contracts.harness import E, PluginAllocator, dims, read_tensor, text

FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
INT4 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4
STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
COMPLEX64 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64
SENTINEL = 0x1234
CREATE, WRAP = "OrtApi.CreateTensorAsOrtValue", "OrtApi.CreateTensorWithDataAsOrtValue"


@pytest.fixture
def cpu(api):
    """Return a CPU memory info."""
    info = api.get.CreateCpuMemoryInfo(E.OrtDeviceAllocator, E.OrtMemTypeDefault)
    yield info
    api.ReleaseMemoryInfo(info)


@pytest.fixture
def new_tensor(api, allocator):
    """Return a creator of allocated tensors that are released after the test."""
    made = []

    def create(shape, element=FLOAT):
        made.append(api.get.CreateTensorAsOrtValue(allocator.address, dims(*shape), len(shape), element))
        return made[-1]

    yield create
    for value in made:
        api.ReleaseValue(value)


def wrap(api, info, array, shape=None, element=FLOAT, size=None):
    """Return error code and value of wrapping a numpy array."""
    shape = array.shape if shape is None else shape
    out = C.c_void_p(SENTINEL)
    code = api.code.CreateTensorWithDataAsOrtValue(
        info, array.ctypes.data, array.nbytes if size is None else size, dims(*shape), len(shape), element, C.byref(out)
    )
    return code, out.value


@pytest.mark.slot(
    CREATE, "OrtApi.ReleaseValue", "OrtApi.GetTensorMutableData", "OrtAllocator.Alloc", "OrtAllocator.Free"
)
def test_created_tensor_lives_in_a_block_of_its_allocator(api, allocator):
    value = api.get.CreateTensorAsOrtValue(allocator.address, dims(2, 3), 2, FLOAT)
    assert len(allocator.sizes) == 1
    assert allocator.sizes[0] >= 24
    assert api.get.GetTensorMutableData(value) in allocator.live
    api.ReleaseValue(value)
    assert not allocator.live


@pytest.mark.slot(CREATE, "OrtApi.GetTensorSizeInBytes")
def test_scalar_needs_no_shape_pointer(api, new_tensor):
    assert api.get.GetTensorSizeInBytes(new_tensor(())) == 4


@pytest.mark.slot(CREATE, "OrtApi.GetTensorMutableData", "OrtApi.GetTensorData")
def test_zero_extent_asks_for_no_memory(api, allocator, new_tensor):
    value = new_tensor((3, 0))
    assert allocator.sizes == []
    assert api.get.GetTensorMutableData(value) is None
    assert api.get.GetTensorData(value) is None
    assert api.get.GetTensorSizeInBytes(value) == 0


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize(
    "element",
    [
        E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2,
        E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2,
        E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0,
        E.ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16,
        E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN,
    ],
)
def test_element_type_reads_back_as_given(api, new_tensor, element):
    info = api.get.GetTensorTypeAndShape(new_tensor((4,), element))
    assert api.get.GetTensorElementType(info) == element
    api.ReleaseTensorTypeAndShapeInfo(info)


@pytest.mark.slot(CREATE, "OrtApi.GetTensorSizeInBytes", "OrtApi.GetTensorShapeElementCount")
def test_sub_byte_elements_are_counted_logically_and_stored_packed(api, new_tensor):
    value = new_tensor((3,), INT4)
    info = api.get.GetTensorTypeAndShape(value)
    assert api.get.GetTensorShapeElementCount(info) == 3
    api.ReleaseTensorTypeAndShapeInfo(info)
    assert api.get.GetTensorSizeInBytes(value) == 2


@pytest.mark.slot(CREATE)
@pytest.mark.parametrize(
    ("shape", "element", "code"),
    [
        ((2, -1), FLOAT, E.ORT_FAIL),
        ((2**40, 2**40), FLOAT, E.ORT_FAIL),
        ((2**62,), FLOAT, E.ORT_FAIL),
        ((2,), E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, E.ORT_NOT_IMPLEMENTED),
        ((2,), COMPLEX64, E.ORT_NOT_IMPLEMENTED),
        ((2,), 99, E.ORT_NOT_IMPLEMENTED),
    ],
    ids=["negative", "element_overflow", "byte_overflow", "undefined", "complex64", "unknown_type"],
)
def test_refused_creation_leaves_out_alone(api, allocator, shape, element, code):
    out = C.c_void_p(SENTINEL)
    args = allocator.address, dims(*shape), len(shape), element, C.byref(out)
    assert api.code.CreateTensorAsOrtValue(*args) == code
    assert out.value == SENTINEL
    assert allocator.sizes == []


@pytest.mark.slot(CREATE)
@pytest.mark.host_stricter
def test_allocator_that_returns_null_is_an_error(api, probe):
    allocator = PluginAllocator(probe, fail_after=0)
    out = C.c_void_p(SENTINEL)
    assert api.code.CreateTensorAsOrtValue(allocator.address, dims(2), 1, FLOAT, C.byref(out)) == E.ORT_FAIL
    assert out.value == SENTINEL
    api.ReleaseMemoryInfo(allocator.info)


@pytest.mark.slot(CREATE)
@pytest.mark.host_stricter
def test_allocator_of_version_0_is_refused_by_name(api, probe, allocator):
    C.c_uint32.from_buffer(allocator.memory, 0).value = 0
    out = C.c_void_p()
    code, message = api.error.CreateTensorAsOrtValue(allocator.address, dims(2), 1, FLOAT, C.byref(out))
    assert code == E.ORT_INVALID_ARGUMENT
    assert "OrtAllocator" in message


@pytest.mark.slot(CREATE)
@pytest.mark.host_stricter
def test_allocator_that_cannot_free_is_refused_by_name(api, allocator):
    allocator.set("Free", None)
    out = C.c_void_p(SENTINEL)
    code, message = api.error.CreateTensorAsOrtValue(allocator.address, dims(2), 1, FLOAT, C.byref(out))
    assert (code, out.value, allocator.sizes) == (E.ORT_INVALID_ARGUMENT, SENTINEL, [])
    assert "OrtAllocator.Free" in message


@pytest.mark.slot(CREATE, "OrtApi.GetTensorMemoryInfo", "OrtAllocator.Info")
def test_created_tensor_describes_its_allocators_memory(api, allocator, new_tensor):
    assert api.get.CompareMemoryInfo(api.get.GetTensorMemoryInfo(new_tensor((2,))), allocator.info) == 0


@pytest.mark.slot(WRAP, "OrtApi.GetTensorMutableData", "OrtApi.GetTensorData")
def test_wrapped_tensor_is_the_callers_memory(api, cpu):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    code, value = wrap(api, cpu, array)
    assert code == E.ORT_OK
    assert api.get.GetTensorMutableData(value) == array.ctypes.data
    assert api.get.GetTensorData(value) == array.ctypes.data
    np.testing.assert_array_equal(read_tensor(api, value), array)
    api.ReleaseValue(value)
    np.testing.assert_array_equal(array, np.arange(6).reshape(2, 3))


@pytest.mark.slot(WRAP, "OrtApi.GetTensorMemoryInfo")
def test_wrapped_tensor_copies_the_memory_info(api, cpu):
    array = np.zeros(2, np.float32)
    temporary = api.get.CreateCpuMemoryInfo(E.OrtDeviceAllocator, E.OrtMemTypeDefault)
    _, value = wrap(api, temporary, array)
    api.ReleaseMemoryInfo(temporary)
    own = api.get.GetTensorMemoryInfo(value)
    assert own != cpu
    assert api.get.CompareMemoryInfo(own, cpu) == 0
    assert text(api.get.MemoryInfoGetName(own)) == "Cpu"
    api.ReleaseValue(value)


@pytest.mark.slot(WRAP)
@pytest.mark.parametrize(
    ("shape", "element", "size", "code"),
    [
        ((4,), FLOAT, 16, E.ORT_OK),
        ((3,), FLOAT, 16, E.ORT_OK),
        ((0, 5), FLOAT, 0, E.ORT_OK),
        ((), FLOAT, 4, E.ORT_OK),
        ((3,), INT4, 2, E.ORT_OK),
        ((3,), INT4, 1, E.ORT_INVALID_ARGUMENT),
        ((4,), FLOAT, 15, E.ORT_INVALID_ARGUMENT),
        ((4, -1), FLOAT, 16, E.ORT_INVALID_ARGUMENT),
        ((2**40, 2**40), FLOAT, 16, E.ORT_FAIL),
        ((2**62,), FLOAT, 16, E.ORT_FAIL),
        ((2,), E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, 16, E.ORT_NOT_IMPLEMENTED),
        ((2,), COMPLEX64, 16, E.ORT_NOT_IMPLEMENTED),
        ((2,), 99, 16, E.ORT_NOT_IMPLEMENTED),
    ],
)
def test_wrapping_checks_shape_type_and_size(api, cpu, shape, element, size, code):
    array = np.zeros(4, np.float32)
    got, value = wrap(api, cpu, array, shape, element, size)
    assert got == code
    if code == E.ORT_OK:
        api.ReleaseValue(value)
    else:
        assert value == SENTINEL


@pytest.mark.slot(WRAP)
@pytest.mark.host_stricter
def test_wrapping_null_as_memory_is_refused(api, cpu):
    out = C.c_void_p()
    args = cpu, None, 8, dims(2), 1, FLOAT, C.byref(out)
    assert api.code.CreateTensorWithDataAsOrtValue(*args) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(WRAP)
@pytest.mark.host_stricter
def test_wrapping_memory_as_strings_is_refused(api, cpu):
    code, _ = wrap(api, cpu, np.zeros(64, np.uint8), (1,), STRING)
    assert code != E.ORT_OK


@pytest.mark.slot("OrtApi.IsTensor", "OrtApi.HasValue", "OrtApi.GetValueType")
@pytest.mark.parametrize("shape", [(2, 3), (), (0,)])
def test_tensor_is_a_tensor_with_content(api, new_tensor, shape):
    value = new_tensor(shape)
    assert api.get.IsTensor(value) == 1
    assert api.get.HasValue(value) == 1
    assert api.get.GetValueType(value) == E.ONNX_TYPE_TENSOR


@pytest.mark.slot("OrtApi.HasValue")
@pytest.mark.host_stricter
def test_an_omitted_input_has_no_value(api):
    assert api.get.HasValue(None) == 0


@pytest.mark.slot("OrtApi.GetTensorTypeAndShape", "OrtApi.ReleaseTensorTypeAndShapeInfo")
def test_type_and_shape_survive_the_value(api, allocator):
    value = api.get.CreateTensorAsOrtValue(allocator.address, dims(2, 3), 2, FLOAT)
    info = api.get.GetTensorTypeAndShape(value)
    api.ReleaseValue(value)
    extents = (C.c_int64 * 2)()
    api.ok.GetDimensions(info, extents, 2)
    assert list(extents) == [2, 3]
    assert api.TensorTypeAndShape_HasShape(info)
    api.ReleaseTensorTypeAndShapeInfo(info)


@pytest.mark.slot("OrtApi.GetTensorTypeAndShape")
def test_two_type_and_shape_infos_of_one_value_may_live_together(api, new_tensor):
    value = new_tensor((7,))
    first, second = api.get.GetTensorTypeAndShape(value), api.get.GetTensorTypeAndShape(value)
    assert first != second
    api.ReleaseTensorTypeAndShapeInfo(first)
    assert api.get.GetTensorShapeElementCount(second) == 7
    api.ReleaseTensorTypeAndShapeInfo(second)


@pytest.mark.slot("OrtApi.GetTensorElementTypeAndShapeDataReference")
@pytest.mark.parametrize("shape", [(2, 3), (0,), ()])
def test_shape_reference_borrows_the_extents(api, new_tensor, shape):
    element, extents, rank = C.c_int(), C.c_void_p(), C.c_size_t()
    api.ok.GetTensorElementTypeAndShapeDataReference(
        new_tensor(shape), C.byref(element), C.byref(extents), C.byref(rank)
    )
    assert element.value == FLOAT
    assert rank.value == len(shape)
    if shape:
        assert tuple((C.c_int64 * len(shape)).from_address(extents.value)) == shape
    else:
        assert extents.value is None


@pytest.mark.slot("OrtApi.GetTensorSizeInBytes")
@pytest.mark.parametrize("argument", ["value", "size"])
def test_size_in_bytes_checks_its_pointers(api, new_tensor, argument):
    size = C.c_size_t()
    args = (None, C.byref(size)) if argument == "value" else (new_tensor((2,)), None)
    assert api.code.GetTensorSizeInBytes(*args) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot("OrtApi.GetTensorElementTypeAndShapeDataReference")
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_shape_reference_checks_its_out_pointers(api, new_tensor, missing):
    outs = [C.byref(C.c_int()), C.byref(C.c_void_p()), C.byref(C.c_size_t())]
    outs[missing] = None
    assert api.code.GetTensorElementTypeAndShapeDataReference(new_tensor((2,)), *outs) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot("OrtApi.GetTypeInfo", "OrtApi.GetOnnxTypeFromTypeInfo", "OrtApi.CastTypeInfoToTensorInfo")
@pytest.mark.slot("OrtApi.ReleaseTypeInfo")
def test_type_info_of_a_value_survives_it(api, allocator):
    value = api.get.CreateTensorAsOrtValue(allocator.address, dims(2, 3), 2, FLOAT)
    info = api.get.GetTypeInfo(value)
    api.ReleaseValue(value)
    assert api.get.GetOnnxTypeFromTypeInfo(info) == E.ONNX_TYPE_TENSOR
    tensor = api.get.CastTypeInfoToTensorInfo(info)
    assert api.get.GetTensorElementType(tensor) == FLOAT
    assert api.get.GetTensorShapeElementCount(tensor) == 6
    assert api.get.CastTypeInfoToTensorInfo(info) == tensor
    api.ReleaseTypeInfo(info)
