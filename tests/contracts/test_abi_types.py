# SPDX-License-Identifier: Apache-2.0
"""OrtTensorTypeAndShapeInfo: no shape, scalar and zero extent are three states."""

import ctypes as C

import pytest
from contracts.harness import E, dims, text

SHAPE_SLOTS = "OrtApi.SetDimensions", "OrtApi.GetDimensions", "OrtApi.GetDimensionsCount"
SYMBOLS = "OrtApi.SetSymbolicDimensions", "OrtApi.GetSymbolicDimensions"
COUNT = "OrtApi.GetTensorShapeElementCount"


@pytest.fixture
def info(api):
    """Return a fresh type and shape info."""
    made = api.get.CreateTensorTypeAndShapeInfo()
    yield made
    api.ReleaseTensorTypeAndShapeInfo(made)


def extents(api, info):
    out = (C.c_int64 * api.get.GetDimensionsCount(info))()
    api.ok.GetDimensions(info, out, len(out))
    return list(out)


def symbols(api, info):
    out = (C.c_void_p * api.get.GetDimensionsCount(info))()
    api.ok.GetSymbolicDimensions(info, out, len(out))
    return [text(p) for p in out]


def set_symbols(api, info, *names):
    return api.ok.SetSymbolicDimensions(info, (C.c_char_p * len(names))(*names), len(names))


@pytest.mark.slot("OrtApi.CreateTensorTypeAndShapeInfo", "OrtApi.GetTensorElementType")
@pytest.mark.slot("OrtApi.TensorTypeAndShape_HasShape", COUNT, "OrtApi.ReleaseTensorTypeAndShapeInfo")
def test_fresh_info_is_float_without_shape(api, info):
    assert api.get.GetTensorElementType(info) == E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
    assert not api.TensorTypeAndShape_HasShape(info)
    assert api.get.GetDimensionsCount(info) == 0
    assert api.get.GetTensorShapeElementCount(info) == 0


@pytest.mark.slot("OrtApi.SetDimensions", "OrtApi.TensorTypeAndShape_HasShape", COUNT)
def test_no_dimensions_make_a_scalar(api, info):
    api.ok.SetDimensions(info, None, 0)
    assert api.TensorTypeAndShape_HasShape(info)
    assert api.get.GetDimensionsCount(info) == 0
    assert api.get.GetTensorShapeElementCount(info) == 1


@pytest.mark.slot("OrtApi.SetDimensions", "OrtApi.TensorTypeAndShape_HasShape", COUNT)
def test_zero_extent_has_a_shape_and_no_elements(api, info):
    api.ok.SetDimensions(info, dims(2, 0), 2)
    assert api.TensorTypeAndShape_HasShape(info)
    assert extents(api, info) == [2, 0]
    assert api.get.GetTensorShapeElementCount(info) == 0


@pytest.mark.slot("OrtApi.SetTensorElementType", "OrtApi.GetTensorElementType")
@pytest.mark.parametrize("element", [E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 0, 99])
def test_element_type_is_not_validated(api, info, element):
    api.ok.SetTensorElementType(info, element)
    assert api.get.GetTensorElementType(info) == element


@pytest.mark.slot(*SHAPE_SLOTS)
def test_unknown_extent_is_minus_one(api, info):
    api.ok.SetDimensions(info, dims(-1, 3), 2)
    assert extents(api, info) == [-1, 3]


@pytest.mark.slot("OrtApi.SetDimensions")
def test_extent_below_minus_one_changes_nothing(api, info):
    api.ok.SetDimensions(info, dims(2, 3), 2)
    assert api.code.SetDimensions(info, dims(5, -2), 2) == E.ORT_INVALID_ARGUMENT
    assert extents(api, info) == [2, 3]


@pytest.mark.slot("OrtApi.SetDimensions")
def test_fewer_dimensions_do_not_shrink_the_rank(api, info):
    api.ok.SetDimensions(info, dims(2, 3, 4), 3)
    api.ok.SetDimensions(info, dims(5), 1)
    assert extents(api, info) == [5, -1, -1]


@pytest.mark.slot("OrtApi.SetDimensions", *SYMBOLS)
def test_setting_extents_keeps_names(api, info):
    set_symbols(api, info, b"batch", None)
    api.ok.SetDimensions(info, dims(7, 8), 2)
    assert symbols(api, info) == ["batch", ""]
    assert extents(api, info) == [7, 8]


@pytest.mark.slot("OrtApi.GetDimensions")
def test_short_buffer_gets_the_leading_extents(api, info):
    api.ok.SetDimensions(info, dims(2, 3, 4), 3)
    out = dims(-9, -9, -9)
    api.ok.GetDimensions(info, out, 2)
    assert list(out) == [2, 3, -9]


@pytest.mark.slot("OrtApi.GetDimensions")
@pytest.mark.parametrize("rank", [None, 1])
def test_surplus_buffer_entries_are_untouched(api, info, rank):
    if rank:
        api.ok.SetDimensions(info, dims(2), 1)
    out = dims(-9, -9)
    api.ok.GetDimensions(info, out, 2)
    assert list(out) == ([2, -9] if rank else [-9, -9])


@pytest.mark.slot(*SYMBOLS)
def test_names_give_a_shape_of_unknown_extents(api, info):
    set_symbols(api, info, b"batch", None, b"")
    assert symbols(api, info) == ["batch", "", ""]
    assert extents(api, info) == [-1, -1, -1]


@pytest.mark.slot("OrtApi.SetSymbolicDimensions")
def test_names_keep_known_extents(api, info):
    api.ok.SetDimensions(info, dims(2, 3), 2)
    set_symbols(api, info, b"n")
    assert extents(api, info) == [2, 3]
    assert symbols(api, info) == ["n", ""]


@pytest.mark.slot("OrtApi.SetSymbolicDimensions")
def test_names_are_copied_and_replaced_together(api, info):
    name = C.create_string_buffer(b"first")
    api.ok.SetSymbolicDimensions(info, (C.c_void_p * 2)(C.addressof(name), C.addressof(name)), 2)
    name.value = b"XXXXX"
    assert symbols(api, info) == ["first", "first"]
    set_symbols(api, info, b"other")
    assert symbols(api, info) == ["other", ""]


@pytest.mark.slot("OrtApi.SetSymbolicDimensions", "OrtApi.TensorTypeAndShape_HasShape")
def test_no_names_make_a_scalar(api, info):
    api.ok.SetSymbolicDimensions(info, None, 0)
    assert api.TensorTypeAndShape_HasShape(info)
    assert api.get.GetTensorShapeElementCount(info) == 1


@pytest.mark.slot("OrtApi.GetSymbolicDimensions")
def test_unnamed_extents_have_the_empty_name(api, info):
    api.ok.SetDimensions(info, dims(2, -1), 2)
    assert symbols(api, info) == ["", ""]


@pytest.mark.slot("OrtApi.GetSymbolicDimensions")
def test_surplus_name_entries_are_untouched(api, info):
    set_symbols(api, info, b"n")
    out = (C.c_void_p * 2)(0, 0x99)
    api.ok.GetSymbolicDimensions(info, out, 2)
    assert text(out[0]) == "n"
    assert out[1] == 0x99


@pytest.mark.slot(COUNT)
@pytest.mark.parametrize(("shape", "count"), [((2, 3), 6), ((1,), 1), ((0, 2**62, 2**62), 0)])
def test_element_count_is_the_product(api, info, shape, count):
    api.ok.SetDimensions(info, dims(*shape), len(shape))
    assert api.get.GetTensorShapeElementCount(info) == count


@pytest.mark.slot(COUNT)
@pytest.mark.parametrize("shape", [(-1,), (2, -1), (0, -1), (2**62, 2**62), (2**62, 2**62, 0)])
def test_element_count_of_unknown_or_huge_shapes_fails(api, info, shape):
    api.ok.SetDimensions(info, dims(*shape), len(shape))
    count = C.c_size_t(42)
    assert api.code.GetTensorShapeElementCount(info, C.byref(count)) == E.ORT_FAIL
    assert count.value == 42
