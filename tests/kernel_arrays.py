# SPDX-License-Identifier: Apache-2.0
"""Arrays and comparisons for the tests of kernels that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

#: One type of each size that kernels move, and booleans and strings.
MOVED_DTYPES = [np.bool_, np.int8, np.float16, np.float32, np.float64, np.complex64, np.complex128, object]


def numbered(shape: tuple[int, ...], dtype: Any, first: int = 0) -> np.ndarray:
    """Return different elements."""
    count = first + np.arange(int(np.prod(shape, dtype=int)))
    if dtype is object:
        return np.array([f"this is element number {i}" for i in count], object).reshape(shape)
    if dtype is np.bool_:
        return (count * 7 % 3 == 0).reshape(shape)
    return (count % 120).astype(dtype).reshape(shape)


def kind(dtype: Any) -> int:
    """Return the ONNX element type of a numpy type."""
    return (
        TensorProto.STRING if dtype in (object, np.dtype(object)) else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    )


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Check extents and elements."""
    assert got.shape == want.shape
    assert got.tolist() == want.tolist()


def int64(values: Any) -> np.ndarray:
    """Return a tensor of int64."""
    return np.array(values, np.int64)
