# SPDX-License-Identifier: Apache-2.0
"""Reductions and softmax against numpy in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceL1": lambda x, **axes: np.abs(x).sum(**axes),
    "ReduceL2": lambda x, **axes: np.sqrt(np.square(x).sum(**axes)),
    "ReduceLogSum": lambda x, **axes: np.log(x.sum(**axes)),
    "ReduceLogSumExp": lambda x, **axes: np.log(np.exp(x).sum(**axes)),
    "ReduceMax": np.max,
    "ReduceMean": np.mean,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceSum": np.sum,
    "ReduceSumSquare": lambda x, **axes: np.square(x).sum(**axes),
}


@pytest.mark.parametrize("op_type", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (2, 3, 4, 5), (1, 3, 1), (40, 600)], ids=str)
def test_every_choice_of_axes(run_node: Any, rng: Any, op_type: str, dtype: Any, shape: Any) -> None:
    # Positive where a logarithm is taken, near 1 where there are many factors.
    low, high = {"ReduceLogSum": (0.5, 2), "ReduceProd": (0.99, 1.01)}.get(op_type, (-1, 2))
    x = np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    wide = x.astype(np.float64)
    rank = len(shape)
    for count in range(1, rank + 1):
        for axes in itertools.combinations(range(rank), count):
            for keep in (0, 1):
                given = [a - rank if a % 2 else a for a in axes]
                want = REDUCTIONS[op_type](wide, axis=axes, keepdims=bool(keep))
                array = np.array(given, np.int64)
                (got,) = run_node(op_type, [x, array], 20, keepdims=keep, threads=2)
                assert got.dtype == dtype
                close(got, want, dtype, scale=math.sqrt(x.size))
                if dtype is not ml_dtypes.bfloat16:
                    (old,) = run_node(op_type, [x], 11, keepdims=keep, axes=given)
                    np.testing.assert_array_equal(old, got)


@pytest.mark.parametrize("op_type", ["ReduceMean", "ReduceSum"])
@pytest.mark.parametrize("columns", [1, 3, 16, 67, 300, 5000])
def test_rows_are_summed_as_each_alone(run_node: Any, rng: Any, op_type: str, columns: int) -> None:
    """Several rows are walked at a time; what becomes of one does not depend on how many there are."""
    x = rng.standard_normal((11, columns)).astype(np.float32)
    last = np.array([-1], np.int64)
    alone = [run_node(op_type, [row, last], 20, keepdims=0)[0] for row in x]
    close(np.array(alone), REDUCTIONS[op_type](x.astype(np.float64), axis=1), np.float32, scale=math.sqrt(columns))
    for rows in range(12):
        for threads in (1, 3):
            (got,) = run_node(op_type, [x[:rows], last], 20, keepdims=0, threads=threads)
            np.testing.assert_array_equal(got, alone[:rows])


@pytest.mark.parametrize("op_type", REDUCTIONS)
def test_without_axes(run_node: Any, rng: Any, op_type: str) -> None:
    x = np.asarray(rng.uniform(0.5, 2, (3, 4)), np.float32)
    wide = x.astype(np.float64)
    want = REDUCTIONS[op_type](wide, keepdims=True)
    none = np.zeros(0, np.int64)
    close(run_node(op_type, [x], 20)[0], want, np.float32)
    close(run_node(op_type, [x, none], 20)[0], want, np.float32)
    close(run_node(op_type, [x], 11)[0], want, np.float32)
    # Nothing is joined then, but what the operator does with each element and with the result is done.
    alone = REDUCTIONS[op_type](wide[..., None], axis=-1)
    for keep in (0, 1):
        close(run_node(op_type, [x], 20, noop_with_empty_axes=1, keepdims=keep)[0], alone, np.float32)
        close(run_node(op_type, [x, none], 20, noop_with_empty_axes=1, keepdims=keep)[0], alone, np.float32)


EMPTY = {
    "ReduceL1": 0.0,
    "ReduceL2": 0.0,
    "ReduceLogSum": -math.inf,
    "ReduceLogSumExp": -math.inf,
    "ReduceMax": -math.inf,
    "ReduceMean": 0.0,  # ONNX leaves it undefined
    "ReduceMin": math.inf,
    "ReduceProd": 1.0,
    "ReduceSum": 0.0,
    "ReduceSumSquare": 0.0,
}


@pytest.mark.parametrize(("op_type", "want"), EMPTY.items())
@pytest.mark.parametrize("dtype", FLOATS)
def test_reducing_nothing(run_node: Any, op_type: str, want: float, dtype: Any) -> None:
    (got,) = run_node(op_type, [np.zeros((2, 0, 3), dtype), np.array([1], np.int64)], 20, keepdims=0)
    np.testing.assert_array_equal(got.astype(np.float64), np.full((2, 3), want))
    (got,) = run_node(op_type, [np.zeros((2, 0, 3), dtype), np.array([0], np.int64)], 20, keepdims=0)
    assert got.shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint32, np.uint64])
def test_extremes_of_no_integers(run_node: Any, dtype: Any) -> None:
    empty, axis = np.zeros((2, 0), dtype), np.array([1], np.int64)
    assert run_node("ReduceMax", [empty, axis], 20, keepdims=0)[0].tolist() == [np.iinfo(dtype).min] * 2
    assert run_node("ReduceMin", [empty, axis], 20, keepdims=0)[0].tolist() == [np.iinfo(dtype).max] * 2


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_the_mean_of_no_integers(run_node: Any, dtype: Any) -> None:
    (got,) = run_node("ReduceMean", [np.zeros((2, 0), dtype), np.array([1], np.int64)], 18, keepdims=0)
    assert got.tolist() == [0, 0]


def test_axes_out_of_range(run_node: Any) -> None:
    for axis in (2, -3):
        with pytest.raises(Exception, match=rf"\[-2, 1\].*got {axis}"):
            run_node("ReduceL1", [np.ones((2, 3), np.float32), np.array([axis], np.int64)], 20, unranked=True)


def test_log_sum_exp_of_large_numbers(run_node: Any) -> None:
    rows = [[1000, 1000], [-1000, -1001], [math.inf, 1], [-math.inf, -math.inf], [math.inf, math.inf], [math.nan, 1]]
    want = [1000 + math.log(2), -1000 + math.log1p(math.exp(-1)), math.inf, -math.inf, math.inf, math.nan]
    for dtype in (np.float32, np.float64):
        x = np.array(rows, dtype)
        for array, axis in ((x, 1), (x.T.copy(), 0)):
            (got,) = run_node("ReduceLogSumExp", [array, np.array([axis], np.int64)], 18, keepdims=0)
            np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_integers(run_node: Any, rng: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, (5, 6), dtype=dtype, endpoint=True)
    rows = [[int(v) for v in row] for row in x]
    axis = np.array([1], np.int64)
    bits = info.bits
    want = np.array([sum(row) % (1 << bits) for row in rows], f"uint{bits}").view(dtype)
    assert run_node("ReduceSum", [x, axis], 13, keepdims=0)[0].tolist() == want.tolist()
    assert run_node("ReduceMax", [x, axis], 18, keepdims=0)[0].tolist() == [max(row) for row in rows]
    assert run_node("ReduceMax", [x, np.array([0], np.int64)], 18, keepdims=0)[0].tolist() == x.max(0).tolist()
    assert run_node("ReduceMin", [x, axis], 18, keepdims=0)[0].tolist() == [min(row) for row in rows]
    for op_type, exact in [
        ("ReduceProd", [math.prod(row) for row in rows]),
        ("ReduceL1", [sum(map(abs, row)) for row in rows]),
        ("ReduceSumSquare", [sum(v * v for v in row) for row in rows]),
    ]:
        nearest = [min(max(v, info.min), info.max) for v in exact]
        assert run_node(op_type, [x, axis], 18, keepdims=0)[0].tolist() == nearest
    # A mean fits its type whatever the sum is; its fraction is cut off.
    means = [int(Fraction(sum(row), 6)) for row in rows]
    assert run_node("ReduceMean", [x, axis], 18, keepdims=0)[0].tolist() == means
    # Rounded towards zero.
    small = rng.integers(1, 100, (5, 6), dtype=dtype)
    for op_type in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        want = np.trunc(REDUCTIONS[op_type](small.astype(np.float64), axis=1))
        assert run_node(op_type, [small, axis], 18, keepdims=0)[0].tolist() == want.tolist()
    assert run_node("ReduceProd", [small, axis], 18, keepdims=0)[0].tolist() == [
        min(math.prod(map(int, row)), info.max) for row in small
    ]
    zeros = np.zeros((1, 3), dtype)  # minus infinity is as far as the type goes
    assert run_node("ReduceLogSum", [zeros, axis], 18, keepdims=0)[0].tolist() == [info.min]
    assert run_node("ReduceMean", [small, axis], 18, keepdims=0)[0].tolist() == (small.sum(1) // 6).tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("axis", [0, 1])
def test_integers_at_the_ends_of_their_type(run_node: Any, dtype: Any, axis: int) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    def reduce(op_type: str, values: list[int]) -> int:
        x = np.array([values, values], dtype) if axis else np.array([values, values], dtype).T.copy()
        (got,) = run_node(op_type, [x, np.array([axis], np.int64)], 18, keepdims=0)
        assert got[0] == got[1]
        return int(got[0])

    assert reduce("ReduceL1", [low]) == high
    assert reduce("ReduceL1", [low, 5]) == high
    assert reduce("ReduceL1", [-high]) == high
    assert reduce("ReduceSumSquare", [low, low, low]) == high
    assert reduce("ReduceProd", [low]) == low
    assert reduce("ReduceProd", [low, -1]) == high
    assert reduce("ReduceProd", [low, 2, 2, -1]) == high
    assert reduce("ReduceProd", [high, high, -1]) == low
    assert reduce("ReduceProd", [high, high, 0]) == 0
    assert reduce("ReduceMean", [low, low, low]) == low
    assert reduce("ReduceMean", [high, high]) == high
    assert reduce("ReduceMean", [low, high]) == 0  # -1/2
    assert reduce("ReduceMean", [-7, -8]) == -7
    assert reduce("ReduceSum", [high, 1]) == low
    assert reduce("ReduceSum", [low, low]) == 0


def test_integers_above_the_precision_of_floats(run_node: Any) -> None:
    for op_type in ("ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum"):
        assert run_node(op_type, [np.array([2**53 + 1])], 18)[0].tolist() == [2**53 + 1]


def test_logarithms_that_are_no_integers(run_node: Any) -> None:
    (got,) = run_node("ReduceLogSum", [np.array([-3, -4], np.int32)], 18)
    assert got.tolist() == [0]  # of NaN
    (got,) = run_node("ReduceLogSumExp", [np.array([-3, -4], np.int32)], 18)
    assert got.tolist() == [math.trunc(math.log(math.exp(-3) + math.exp(-4)))] == [-2]


def test_extremes_of_small_types(run_node: Any, rng: Any) -> None:
    axis = np.array([1], np.int64)
    for dtype in (np.int8, np.uint8):
        x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (4, 9), dtype=dtype)
        assert run_node("ReduceMax", [x, axis], 18, keepdims=0)[0].tolist() == x.max(1).tolist()
        assert run_node("ReduceMin", [x, axis], 18, keepdims=0)[0].tolist() == x.min(1).tolist()
    x = np.array([[False, True], [False, False], [True, True]])
    assert run_node("ReduceMax", [x, axis], 20, keepdims=0)[0].tolist() == [True, False, True]
    assert run_node("ReduceMin", [x, axis], 20, keepdims=0)[0].tolist() == [False, False, True]


@pytest.mark.parametrize("op_type", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_nan_stays(run_node: Any, op_type: str, axis: int) -> None:
    x = np.linspace(1, 1.1, 40 * 40, dtype=np.float32).reshape(40, 40)
    x[3, 17] = math.nan
    (got,) = run_node(op_type, [x, np.array([axis], np.int64)], 18, keepdims=0)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(x).any(axis))


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis, keepdims=True))
    result: np.ndarray = e / e.sum(axis, keepdims=True)
    return result


def log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    return np.log(softmax(x, axis))


def hardmax(x: np.ndarray, axis: int) -> np.ndarray:
    first = np.expand_dims(x.astype(np.float64).argmax(axis), axis)
    return (np.arange(x.shape[axis]).reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)]) == first) * 1.0


SOFTMAXES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "Softmax": softmax,
    "LogSoftmax": log_softmax,
    "Hardmax": hardmax,
}


@pytest.mark.parametrize("op_type", SOFTMAXES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 17), (2, 5, 3, 300), (1, 1000), (64, 33)], ids=str)
def test_softmax(run_node: Any, rng: Any, op_type: str, dtype: Any, shape: Any) -> None:
    function = SOFTMAXES[op_type]
    x = np.asarray(rng.uniform(-20, 20, shape)).astype(dtype)
    for axis in range(-len(shape), len(shape)):
        close(run_node(op_type, [x], 13, axis=axis, threads=2)[0], function(x, axis), dtype)
    close(run_node(op_type, [x], 13)[0], function(x, -1), dtype)
    if dtype is ml_dtypes.bfloat16:
        return
    for opset in (1, 11):
        for axis in range(-len(shape) if opset == 11 else 0, len(shape)):
            rows = int(np.prod(shape[:axis], dtype=int))
            want = function(x.reshape(rows, -1), 1).reshape(shape)
            close(run_node(op_type, [x], opset, axis=axis)[0], want, dtype)


@pytest.mark.parametrize("op_type", SOFTMAXES)
def test_softmax_of_one_element_and_of_none(run_node: Any, op_type: str) -> None:
    for dtype in FLOATS:
        (got,) = run_node(op_type, [np.array(3, dtype)], 13)
        assert got.shape == ()
        assert float(got) == (0 if op_type == "LogSoftmax" else 1)
    for shape in [(0,), (2, 0), (0, 3)]:
        assert run_node(op_type, [np.zeros(shape, np.float32)], 13)[0].shape == shape


def test_log_softmax_at_the_edges(run_node: Any) -> None:
    x = np.array([[-np.inf, 0, -np.inf], [1e30, -1e30, 1e30], [np.nan, 0, 0], [0, -100, -200]], np.float32)
    half = -math.log(2)
    want = np.array([[-np.inf, 0, -np.inf], [half, -2e30, half], [np.nan] * 3, [0, -100, -200]])
    np.testing.assert_allclose(run_node("LogSoftmax", [x], 13)[0], want, rtol=1e-6)
    np.testing.assert_allclose(run_node("LogSoftmax", [x.T.copy()], 13, axis=0)[0], want.T, rtol=1e-6)


def test_hardmax_takes_the_first_of_equals(run_node: Any) -> None:
    x = np.array([[1, 3, 3], [2, 2, 2], [0, -1, 5]], np.float32)
    want = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert run_node("Hardmax", [x], 13)[0].tolist() == want
    assert run_node("Hardmax", [x.T.copy()], 13, axis=0)[0].T.tolist() == want


def test_softmax_at_the_edges(run_node: Any) -> None:
    x = np.array([[-np.inf, 0, -np.inf], [1e30, -1e30, 1e30], [np.nan, 0, 0]], np.float32)
    want = np.array([[0, 1, 0], [0.5, 0, 0.5], [np.nan] * 3])
    np.testing.assert_allclose(run_node("Softmax", [x], 13)[0], want, rtol=1e-6)
    np.testing.assert_allclose(run_node("Softmax", [x.T.copy()], 13, axis=0)[0], want.T, rtol=1e-6)
