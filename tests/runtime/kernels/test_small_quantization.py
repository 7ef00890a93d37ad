# SPDX-License-Identifier: Apache-2.0
"""QuantizeLinear and DequantizeLinear with numbers of at most 8 bits that no C++ type holds, exactly."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernel_arrays import kind
from onnx import TensorProto

FLOATS = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz,
          ml_dtypes.float4_e2m1fn]  # fmt: skip
INTEGERS = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2]
SCALES = [np.float32, np.float16, ml_dtypes.bfloat16]
OPSET = 25


def limits(small: Any) -> tuple[float, float]:
    info = ml_dtypes.iinfo(small) if small in INTEGERS else ml_dtypes.finfo(small)
    return float(info.min), float(info.max)


@pytest.mark.parametrize("small", INTEGERS)
@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("zero", [None, 1])
def test_quantized_integers(run_node: Any, small: Any, dtype: Any, zero: Any) -> None:
    # Quotients by a power of two are exact, ties among them.
    x = (np.arange(-40, 41).reshape(9, 9) / 8).astype(dtype)
    scale = np.array(0.25, dtype)
    offset = None if zero is None else np.array(zero, small)
    want = np.clip(np.rint(x.astype(np.float64) * 4) + (zero or 0), *limits(small)).astype(int)
    attributes = {} if offset is not None else {"output_dtype": kind(small)}
    (got,) = run_node("QuantizeLinear", [x, scale, offset], OPSET, [kind(small)], threads=2, **attributes)
    assert got.dtype == small
    assert got.astype(int).tolist() == want.tolist()
    back = run_node("DequantizeLinear", [got, scale, offset], OPSET, [kind(dtype)])[0]
    assert back.dtype == dtype
    assert back.astype(float).tolist() == ((want - (zero or 0)) / 4).tolist()


@pytest.mark.parametrize("small", FLOATS)
@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("saturate", [0, 1])
def test_quantized_floats(run_node: Any, small: Any, dtype: Any, saturate: int) -> None:
    low, high = limits(small)
    beyond = [high * 2, high * 5, low * 9, np.inf, -np.inf]
    with np.errstate(over="ignore"):
        x = np.array([0, -0.0, 1, 0.3, -0.7, 5, -6.5, *beyond]).astype(dtype)
    scale = np.array(2, dtype)
    quotient = (x.astype(np.float32) / 2).astype(np.float32)
    want = (np.clip(quotient, low, high) if saturate else quotient).astype(small).astype(np.float64)
    (got,) = run_node("QuantizeLinear", [x, scale, np.zeros((), small)], OPSET, [kind(small)], saturate=saturate)
    np.testing.assert_array_equal(got.astype(np.float64), want)
    back = run_node("DequantizeLinear", [got, scale], OPSET, [kind(dtype)])[0]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(
            back.astype(np.float64), (want * 2).astype(np.float32).astype(dtype).astype(np.float64)
        )


@pytest.mark.parametrize("small", [ml_dtypes.int4, ml_dtypes.float8_e4m3fn])
def test_a_scale_per_index_and_per_block(run_node: Any, small: Any) -> None:
    x = np.arange(-12, 12, dtype=np.float32).reshape(4, 6)
    for scale, attributes, factors in (
        (np.array([1, 2, 4, 8], np.float32), {"axis": 0}, [[1], [2], [4], [8]]),
        (np.array([[1, 2], [2, 4], [4, 8], [8, 1]], np.float32), {"axis": 1, "block_size": 4},
         [[1] * 4 + [2] * 2, [2] * 4 + [4] * 2, [4] * 4 + [8] * 2, [8] * 4 + [1] * 2]),
    ):  # fmt: skip
        zero = np.ones(scale.shape, np.float32).astype(small)
        quotient = x / np.array(factors, np.float32)
        rounded = np.rint(quotient) if small is ml_dtypes.int4 else quotient
        want = np.clip(rounded + 1, *limits(small)).astype(small)
        (got,) = run_node("QuantizeLinear", [x, scale, zero], OPSET, [kind(small)], **attributes)
        assert got.astype(float).tolist() == want.astype(float).tolist()
        (back,) = run_node("DequantizeLinear", [got, scale, zero], OPSET, [TensorProto.FLOAT], **attributes)
        assert back.tolist() == ((want.astype(np.float32) - 1) * np.array(factors, np.float32)).tolist()


@pytest.mark.parametrize("small", INTEGERS)
def test_no_number_becomes_the_lowest(run_node: Any, small: Any) -> None:
    x, scale = np.array([np.nan, np.inf, -np.inf], np.float32), np.array(1, np.float32)
    low, high = limits(small)
    (got,) = run_node("QuantizeLinear", [x, scale, np.array(1, small)], OPSET, [kind(small)])
    assert got.astype(int).tolist() == [low, high, low]


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_odd_numbers_of_them(run_node: Any, count: int) -> None:
    x = np.arange(count, dtype=np.float32)
    (got,) = run_node(
        "QuantizeLinear", [x, np.array(1, np.float32), np.array(0, ml_dtypes.uint4)], OPSET, [TensorProto.UINT4]
    )
    assert got.astype(int).tolist() == list(range(count))
