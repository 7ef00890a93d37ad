# SPDX-License-Identifier: Apache-2.0
"""ArgMax and ArgMin, CumProd and CumSum, against numpy."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INT64 = [TensorProto.INT64]
ARG = {"ArgMax": np.argmax, "ArgMin": np.argmin}
CUMULATIVE = {"CumProd": (26, np.cumprod), "CumSum": (14, np.cumsum)}


@pytest.mark.parametrize("op_type", ARG)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 17), (2, 5, 300), (1, 1), (0, 3)], ids=str)
def test_arg(run_node: Any, rng: Any, op_type: str, dtype: Any, shape: Any) -> None:
    x = rng.integers(0, 4, shape).astype(dtype)  # with equal elements
    wide = x.astype(np.float64)
    for axis in range(-len(shape), len(shape)):
        if shape[axis] == 0:
            continue
        first = np.asarray(ARG[op_type](wide, axis))
        last = np.asarray(shape[axis] - 1 - ARG[op_type](np.flip(wide, axis), axis))
        for keep in (0, 1):
            for select, want in ((0, first), (1, last)):
                expected = np.expand_dims(want, axis) if keep else want
                (got,) = run_node(
                    op_type, [x], 13, INT64, axis=axis, keepdims=keep, select_last_index=select, threads=2
                )
                assert got.shape == expected.shape
                np.testing.assert_array_equal(got, expected)
        if dtype is not ml_dtypes.bfloat16:
            (got,) = run_node(op_type, [x], 11, INT64, axis=axis)
            np.testing.assert_array_equal(got, np.expand_dims(first, axis))


@pytest.mark.parametrize("op_type", ARG)
def test_arg_defaults_to_the_first_axis(run_node: Any, op_type: str) -> None:
    x = np.array([[1, 5], [3, 2], [2, 9]], np.float32)
    assert run_node(op_type, [x], 1, INT64)[0].tolist() == [ARG[op_type](x, 0).tolist()]


@pytest.mark.parametrize("op_type", ARG)
def test_arg_finds_a_nan(run_node: Any, op_type: str) -> None:
    x = np.array([1, math.nan, 5, math.nan, 0], np.float32)
    assert run_node(op_type, [x], 13, INT64)[0].tolist() == [1]
    assert run_node(op_type, [x], 13, INT64, select_last_index=1)[0].tolist() == [3]


@pytest.mark.parametrize("op_type", ARG)
def test_arg_refuses(run_node: Any, op_type: str) -> None:
    with pytest.raises(Exception, match=r"input 0 \(data\): axis 1 must have elements, got float\[2, 0\]"):
        run_node(op_type, [np.zeros((2, 0), np.float32)], 13, INT64, axis=1)
    assert run_node(op_type, [np.zeros((0, 0), np.float32)], 13, INT64, axis=1)[0].shape == (0, 1)
    with pytest.raises(Exception, match=r"axis.*\[-2, 1\].*got 2"):
        run_node(op_type, [np.zeros((2, 3), np.float32)], 13, INT64, axis=2, unranked=True)


def cumulated(op_type: str, x: np.ndarray, axis: int, exclusive: int, reverse: int) -> np.ndarray:
    wide = x.astype(np.float64 if x.dtype.kind not in "iu" else x.dtype)
    if reverse:
        wide = np.flip(wide, axis)
    total = CUMULATIVE[op_type][1](wide, axis, dtype=wide.dtype)
    if exclusive:
        start = np.full_like(np.take(total, [0], axis), op_type == "CumProd")
        total = np.concatenate([start, np.delete(total, -1, axis)], axis)
    return np.flip(total, axis) if reverse else total


@pytest.mark.parametrize("op_type", CUMULATIVE)
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 300), (1, 1)], ids=str)
def test_cumulative(run_node: Any, rng: Any, op_type: str, dtype: Any, shape: Any) -> None:
    opset = CUMULATIVE[op_type][0]
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)  # wraps
        tolerance = 0.0
    else:
        x = np.asarray(rng.uniform(0.95, 1.05, shape)).astype(dtype)
        tolerance = {"float32": 2e-5, "float64": 1e-13, "float16": 1e-3, "bfloat16": 8e-3}[np.dtype(dtype).name]
    for axis in range(-len(shape), len(shape)):
        for exclusive in (0, 1):
            for reverse in (0, 1):
                index = np.array(axis, np.int64 if axis < 0 else np.int32)
                (got,) = run_node(op_type, [x, index], opset, exclusive=exclusive, reverse=reverse, threads=2)
                want = cumulated(op_type, x, axis, exclusive, reverse)
                assert got.dtype == dtype
                np.testing.assert_allclose(got.astype(want.dtype), want, rtol=tolerance)


@pytest.mark.parametrize("op_type", CUMULATIVE)
def test_cumulative_at_the_edges(run_node: Any, op_type: str) -> None:
    opset = CUMULATIVE[op_type][0]
    for shape in [(0,), (2, 0), (0, 3)]:
        assert run_node(op_type, [np.zeros(shape, np.float32), np.array(0)], opset)[0].shape == shape
    x = np.ones((2, 3), np.float32)
    assert run_node(op_type, [x, np.array([1])], opset)[0].shape == (2, 3)
    with pytest.raises(Exception, match=r"input 1 \(axis\): must be one number, got int64\[2\]"):
        run_node(op_type, [x, np.array([0, 1])], opset)
    with pytest.raises(Exception, match=r"axis.*\[-2, 1\].*got 2"):
        run_node(op_type, [x, np.array(2)], opset)
