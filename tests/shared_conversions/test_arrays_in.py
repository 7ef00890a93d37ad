# SPDX-License-Identifier: Apache-2.0
"""numpy arrays and lists as tensors: what is borrowed, what is copied, what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from onnx_light_ort_host._conversions import TensorView, numpy_dtype

NATIVE = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "bool": "bool",
    "complex64": "complex64",
    "complex128": "complex128",
}


@pytest.mark.parametrize(("onnx_name", "dtype"), NATIVE.items())
def test_ready_arrays_are_borrowed(onnx_name, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    view = TensorView(array, f"tensor({onnx_name})", [2, "n"])
    assert view.address == array.ctypes.data
    assert (view.element_type, view.shape, view.nbytes) == (onnx_name, (2, 3), array.nbytes)
    assert view.tobytes() == array.tobytes()
    assert numpy_dtype(onnx_name) == np.dtype(dtype)


@pytest.mark.parametrize(("onnx_name", "dtype"), NATIVE.items())
def test_every_other_native_type_is_refused(onnx_name, dtype, refuses):
    for other in set(NATIVE.values()) - {dtype}:
        refuses(f"input 'x': expected {dtype}, got {other} [2]", np.zeros(2, other), onnx_name, None, "input 'x'")


def test_c_types_of_equal_width_are_one_type():
    array = np.array([1, 2], np.longlong)
    assert array.dtype.num != np.dtype(np.int64).num
    assert TensorView(array, "int64").address == array.ctypes.data


def test_read_only_arrays_are_borrowed():
    array = np.arange(3.0)
    array.flags.writeable = False
    assert TensorView(array, "double").address == array.ctypes.data


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32)[::2],
        np.arange(12, dtype=np.float32)[::-1],
        np.arange(12, dtype=np.float32).reshape(3, 4).T,
        np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
        np.broadcast_to(np.float32(7), (3, 2)),
        np.arange(6, dtype=np.float32).astype(">f4"),
        np.frombuffer(b"\0" + np.arange(4, dtype=np.float32).tobytes(), np.float32, 4, 1),
    ],
    ids=["strided", "reversed", "transposed", "fortran", "broadcast", "byte-swapped", "misaligned"],
)
def test_other_layouts_are_copied(array):
    view = TensorView(array, "float")
    native = np.array(array, dtype=np.float32, order="C")
    assert view.address != array.ctypes.data
    assert view.address % 4 == 0
    assert view.shape == native.shape
    assert view.tobytes() == native.tobytes()


def test_scalar_zero_extent_and_unknown_shape_differ(refuses):
    scalar, empty = np.array(5, np.float32), np.zeros((0, 3), np.float32)
    assert TensorView(scalar, "float", []).shape == ()
    assert TensorView(scalar, "float", []).tobytes() == scalar.tobytes()
    assert TensorView(empty, "float", [0, 3]).shape == (0, 3)
    assert TensorView(empty, "float", [0, 3]).nbytes == 0
    assert TensorView(scalar, "float").shape == TensorView(scalar, "float", None).shape
    refuses("value: expected float32 [], got float32 [0, 3]", empty, "float", [])
    refuses("value: expected float32 [0, 3], got float32 []", scalar, "float", [0, 3])


def test_shapes_are_checked(refuses):
    array = np.zeros((2, 3), np.float32)
    assert TensorView(array, "float", [None, "n"]).shape == (2, 3)
    refuses("input 'x': expected float32 [3, n, ?], got float32 [2, 3]", array, "float", [3, "n", None], "input 'x'")
    refuses("input 'x': expected float32 [2, 4], got float32 [2, 3]", array, "float", [2, 4], "input 'x'")
    refuses("input 'x': expected float32 [2, n], got float64 [2, 3]", np.zeros((2, 3)), "float", [2, "n"], "input 'x'")


def test_a_view_keeps_its_array_alive():
    array = np.arange(1000, dtype=np.int32)
    before = sys.getrefcount(array)
    view = TensorView(array, "int32")
    assert sys.getrefcount(array) == before + 1
    expected = array.tobytes()
    address = view.address
    del array
    assert (view.address, view.tobytes()) == (address, expected)


def test_references_are_given_back():
    array, swapped = np.zeros(3, np.float32), np.zeros(3, ">f4")
    before = sys.getrefcount(array), sys.getrefcount(swapped)
    for _ in range(100):
        TensorView(array, "float").numpy()
        TensorView(swapped, "float").numpy()
    assert (sys.getrefcount(array), sys.getrefcount(swapped)) == before


def test_lists_take_the_expected_type():
    assert TensorView([[1, 2], [3, 4]], "float", [2, 2]).tobytes() == np.array([1, 2, 3, 4], np.float32).tobytes()
    assert TensorView([True, 0], "bool").tobytes() == b"\1\0"
    assert TensorView([], "int64").shape == (0,)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (["a"], "could not convert string to float: 'a'"),
        ([[1], [1, 2]], "setting an array element with a sequence."),
        ([None, {}], "float() argument must be a string or a real number, not 'dict'"),
    ],
)
def test_lists_that_do_not_convert(value, reason):
    with pytest.raises(ValueError, match="got a list that does not convert") as caught:
        TensorView(value, "float", ["n"], "input 'x'")
    assert str(caught.value).startswith(f"input 'x': expected float32 [n], got a list that does not convert: {reason}")


def test_lists_whose_numbers_do_not_fit():
    with pytest.raises(ValueError, match="input 'x': expected int64, got a list that does not convert"):
        TensorView([2**70], "int64", None, "input 'x'")


@pytest.mark.parametrize("value", [1.0, (1.0, 2.0), None, "text", b"bytes", {1: 2}, range(3)])
def test_other_objects_are_refused(value, refuses):
    kind = type(value).__name__
    refuses(
        f"input 'x': expected float32 [n] as a numpy array, an object with __dlpack__ or a list, got {kind}",
        value, "float", ["n"], "input 'x'",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["", "float32", "tensor()", "tensor(float", "undefined", "seq(tensor(float))"])
def test_element_types_that_do_not_exist(name):
    with pytest.raises(ValueError, match="element type: expected an ONNX type"):
        TensorView(np.zeros(1), name)
    with pytest.raises(ValueError, match="element type: expected an ONNX type"):
        numpy_dtype(name)


def test_subclasses_of_arrays_are_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "data", np.float32, "w+", shape=(4,))
    assert TensorView(mapped, "float").address == mapped.ctypes.data
