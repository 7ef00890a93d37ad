# SPDX-License-Identifier: Apache-2.0
"""Tensors as numpy arrays."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_light_ort_host._conversions import TensorView


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex128", "float16"])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (2, 3, 4)])
def test_arrays_come_back_equal(dtype, shape):
    array = np.ones(shape, dtype)
    names = {"float32": "float"}
    back = TensorView(array, names.get(dtype, dtype)).numpy()
    assert (back.dtype, back.shape) == (array.dtype, shape)
    np.testing.assert_array_equal(back, array)
    assert back.flags.c_contiguous
    assert back.flags.writeable
    assert not np.shares_memory(back, array)


def test_many_dimensions():
    array = np.arange(2**12, dtype=np.int32).reshape([2] * 12)
    np.testing.assert_array_equal(TensorView(array, "int32", [2] * 12).numpy(), array)


def test_arrays_outlive_the_view():
    array = TensorView(np.array(["a", "b" * 1000], object), "string").numpy()
    assert array.tolist() == ["a", "b" * 1000]
