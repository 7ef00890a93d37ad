# SPDX-License-Identifier: Apache-2.0
"""Text in and out: UTF-8 inside, str outside."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_light_ort_host._conversions import ConversionError, TensorView, numpy_dtype

TEXTS = ["", "a", "b\0c", "\0", "é", "\U0001f600", "x" * 1000]


def test_object_arrays_of_str():
    array = np.array(TEXTS, object)
    back = TensorView(array, "tensor(string)", [len(TEXTS)]).numpy()
    assert back.dtype == numpy_dtype("string") == np.dtype(object)
    assert back.tolist() == TEXTS
    assert all(type(text) is str for text in back)


def test_bytes_are_taken_as_utf8():
    array = np.array(["é".encode(), b"a\0b", "é"], object)
    assert TensorView(array, "string").numpy().tolist() == ["é", "a\0b", "é"]


@pytest.mark.parametrize("dtype", [np.dtype("U8"), np.dtype(">U8"), np.dtype("S8"), np.dtypes.StringDType()], ids=str)
def test_text_arrays(dtype):
    array = np.array([["a", "b\0c"], ["", "d"]]).astype(dtype)
    view = TensorView(array, "string", [2, 2])
    assert view.numpy().tolist() == [["a", "b\0c"], ["", "d"]]
    assert TensorView(array.T, "string").numpy().tolist() == [["a", ""], ["b\0c", "d"]]


def test_lists_scalars_and_empty_arrays():
    assert TensorView([["a"], [b"b"]], "string").numpy().tolist() == [["a"], ["b"]]
    scalar = TensorView(np.array("a", object), "string", []).numpy()
    assert (scalar.shape, scalar[()]) == ((), "a")
    assert TensorView(np.zeros((0, 2), object), "string", [0, 2]).numpy().shape == (0, 2)


@pytest.mark.parametrize(("element", "kind"), [(1, "int"), (None, "NoneType"), (1.5, "float")])
def test_other_elements_are_refused(element, kind, refuses):
    array = np.array(["a", element], object)
    refuses(f"input 'x': expected str or bytes, got {kind} as element 1", array, "string", None, "input 'x'")


def test_numbers_are_no_strings_and_strings_no_numbers(refuses):
    refuses("input 'x': expected string [n], got float32 [1]", np.zeros(1, np.float32), "string", ["n"], "input 'x'")
    refuses("input 'x': expected float32, got object [1]", np.array(["1"], object), "float", None, "input 'x'")
    refuses("input 'x': expected int64, got <U1 [1]", np.array(["1"]), "int64", None, "input 'x'")


def test_text_without_a_utf8_form():
    with pytest.raises(ConversionError, match=r"^input 'x': element 1 has no UTF-8 form: "):
        TensorView(np.array(["a", "\ud800"], object), "string", None, "input 'x'")


def test_bytes_that_are_not_text_cannot_come_back():
    view = TensorView(np.array(["a", b"\xff"], object), "string", None, "output 'y'")
    with pytest.raises(ConversionError, match=r"^output 'y': element 1 is not UTF-8 text, got b'\\xff'$"):
        view.numpy()


def test_a_string_tensor_has_no_bytes():
    with pytest.raises(TypeError, match="a string tensor has no bytes"):
        TensorView(np.array(["a"]), "string").tobytes()
