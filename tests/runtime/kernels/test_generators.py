# SPDX-License-Identifier: Apache-2.0
"""ConstantOfShape, EyeLike, Range and Size."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernel_arrays import kind, numbered
from onnx import TensorProto, numpy_helper

NUMBERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32]
NUMBERS += [np.float64, ml_dtypes.bfloat16]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.bool_, object])
def test_size(run_node: Any, shape: Any, dtype: Any) -> None:
    (got,) = run_node("Size", [numbered(shape, dtype)], 13, [TensorProto.INT64])
    assert got.shape == ()
    assert got == np.prod(shape, dtype=int)


@pytest.mark.parametrize("shape", [[], [0], [3], [2, 0, 4], [2, 3, 4], [700, 90]], ids=str)
@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_])
@pytest.mark.parametrize("constant", [False, True])
def test_constant_of_shape(run_node: Any, shape: Any, dtype: Any, constant: bool) -> None:
    value = np.ones(1, dtype)
    (got,) = run_node(
        "ConstantOfShape",
        [np.array(shape, np.int64)],
        20,
        [kind(dtype)],
        constants=[0] if constant else [],
        threads=2,
        value=numpy_helper.from_array(value),
    )
    assert got.dtype == value.dtype
    assert got.tolist() == np.full(shape, value[0]).tolist()


def test_constant_of_shape_is_zero_without_a_value(run_node: Any) -> None:
    (got,) = run_node("ConstantOfShape", [np.array([2, 2], np.int64)], 9, [TensorProto.FLOAT])
    assert got.dtype == np.float32
    assert got.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("shape", [[2, -1], [2**40, 2**40]])
def test_constant_of_shape_refuses_extents(run_node: Any, shape: Any) -> None:
    with pytest.raises(Exception, match=str(shape[1])):
        run_node("ConstantOfShape", [np.array(shape, np.int64)], 9, [TensorProto.FLOAT])


def test_constant_of_shape_needs_one_value(run_node: Any) -> None:
    value = numpy_helper.from_array(np.ones(2, np.float32))
    with pytest.raises(Exception, match="one element"):
        run_node("ConstantOfShape", [np.array([2], np.int64)], 9, [TensorProto.FLOAT], value=value)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (1, 1)], ids=str)
@pytest.mark.parametrize("k", [0, 1, -1, 4, -4, 2**62, -(2**63), 2**63 - 1])
def test_eye_like(run_node: Any, dtype: Any, shape: Any, k: int) -> None:
    x = np.ones(shape, np.float32)
    (got,) = run_node("EyeLike", [x], 22, [kind(dtype)], dtype=kind(dtype), k=k)
    rows, columns = np.indices(shape)
    assert got.dtype == dtype
    assert got.astype(float).tolist() == (columns - rows == k).astype(float).tolist()


def test_eye_like_takes_the_type_of_its_input(run_node: Any) -> None:
    (got,) = run_node("EyeLike", [np.ones((2, 2), np.int16)], 9)
    assert got.dtype == np.int16
    assert got.tolist() == [[1, 0], [0, 1]]


def test_eye_like_needs_a_matrix(run_node: Any) -> None:
    with pytest.raises(Exception, match="rank 2"):
        run_node("EyeLike", [np.ones(3, np.float32)], 9)


@pytest.mark.parametrize(
    ("dtype", "start", "limit", "delta", "want"),
    [
        (np.int32, 3, 9, 3, [3, 6]),
        (np.int32, 10, 4, -2, [10, 8, 6]),
        (np.int16, 0, 0, 1, []),
        (np.int64, 5, 2, 1, []),
        (np.int64, 2**63 - 4, 2**63 - 1, 2, [2**63 - 4, 2**63 - 2]),
        (np.int64, -(2**63), 2**63 - 1, 2**62, [-(2**63), -(2**62), 0, 2**62]),
        (np.int64, 2**63 - 1, -(2**63), -(2**63), [2**63 - 1, -1]),
        (np.int16, -32768, 32767, 30000, [-32768, -2768, 27232]),
        (np.float32, 1.0, 2.0, 0.25, [1.0, 1.25, 1.5, 1.75]),
        (np.float32, 1.0, 1.1, 5.0, [1.0]),
        (np.float64, 2.0, 0.5, -0.5, [2.0, 1.5, 1.0]),
        (np.float64, 2.0, float("-inf"), 1.0, []),
        (np.float16, 0.0, 3.0, 1.5, [0.0, 1.5]),
        (ml_dtypes.bfloat16, 256.0, 260.0, 1.0, [256.0, 256.0, 258.0, 260.0]),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_range(run_node: Any, dtype: Any, start: Any, limit: Any, delta: Any, want: Any, constant: bool) -> None:
    inputs = [np.array(v, dtype) for v in (start, limit, delta)]
    opset = 27 if dtype in (np.float16, ml_dtypes.bfloat16) else 11
    (got,) = run_node("Range", inputs, opset, constants=[0, 1, 2] if constant else [])
    assert got.dtype == dtype
    assert got.tolist() == want


def test_range_does_not_add_errors_up(run_node: Any) -> None:
    inputs = [np.array(v, np.float32) for v in (0.0, 10000.0, 0.1)]
    (got,) = run_node("Range", inputs, 11, threads=2)
    want = (np.arange(got.size) * np.float64(np.float32(0.1))).astype(np.float32)
    assert abs(got.size - 100000) <= 1
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize(
    ("dtype", "start", "limit", "delta", "message"),
    [
        (np.int64, 0, 5, 0, "delta"),
        (np.float32, 0, 5, 0, "delta"),
        (np.float64, 0, float("inf"), 1, "inf"),
        (np.float64, float("nan"), 5, 1, "nan"),
        (np.float64, 0, 1, 1e-300, "fits in memory"),
        (np.int64, -(2**63), 2**63 - 1, 1, "fits in memory"),
    ],
)
def test_range_refuses(run_node: Any, dtype: Any, start: Any, limit: Any, delta: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("Range", [np.array(v, dtype) for v in (start, limit, delta)], 11)


def test_range_declines_half_precision_in_between(run_node: Any) -> None:
    with pytest.raises(Exception, match="stash_type other than 1"):
        run_node("Range", [np.array(v, np.float16) for v in (0, 5, 1)], 27, stash_type=10)
