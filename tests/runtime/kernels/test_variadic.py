# SPDX-License-Identifier: Apache-2.0
"""Max, Mean, Min and Sum of any number of inputs, Clip and PRelu, against numpy in float64."""

from __future__ import annotations

import functools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
# One rounding of the result, however many inputs there are.
TOLERANCE = {"float32": 1e-6, "float64": 1e-15, "float16": 5e-4, "bfloat16": 4e-3}
SHAPES = [
    [(3, 4)],
    [()],
    [(5,), (5,)],
    [(3, 1), (1, 4)],
    [(), (2, 3), (3,)],
    [(4,), (3, 1), (2, 1, 1), (), (2, 3, 4)],
    [(1,), (0, 2), (2,)],
    [(200, 90), (90,), (200, 1)],
]
OPERATORS = {"Max": np.maximum, "Min": np.minimum, "Sum": np.add, "Mean": np.add}


def fold(op_type: str, inputs: list[np.ndarray]) -> np.ndarray:
    total = np.asarray(functools.reduce(OPERATORS[op_type], inputs))
    return total / len(inputs) if op_type == "Mean" else total


@pytest.mark.parametrize("op_type", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("unranked", [False, True])
def test_floats(run_node: Any, rng: Any, op_type: str, dtype: Any, shapes: Any, unranked: bool) -> None:
    inputs = [np.asarray(rng.uniform(1, 2, shape)).astype(dtype) for shape in shapes]
    want = fold(op_type, [a.astype(np.float64) for a in inputs])
    (got,) = run_node(op_type, inputs, 13, threads=2, unranked=unranked)
    assert got.dtype == dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=TOLERANCE[np.dtype(dtype).name])


@pytest.mark.parametrize("op_type", ["Max", "Min"])
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("opset", [12, 13])
def test_integers(run_node: Any, rng: Any, op_type: str, dtype: Any, opset: int) -> None:
    info = np.iinfo(dtype)
    for shapes in SHAPES[:-1]:
        inputs = [np.asarray(rng.integers(info.min, info.max, s, dtype=dtype, endpoint=True)) for s in shapes]
        np.testing.assert_array_equal(run_node(op_type, inputs, opset)[0], fold(op_type, inputs))


def test_a_nan_wins(run_node: Any) -> None:
    a, b, c = (np.array(v, np.float32) for v in ([math.nan, 1, 1, 2], [1, math.nan, 1, 3], [1, 1, math.nan, 1]))
    for op_type in OPERATORS:
        (got,) = run_node(op_type, [a, b, c], 13)
        np.testing.assert_array_equal(np.isnan(got), [True, True, True, False])


@pytest.mark.parametrize("op_type", OPERATORS)
def test_first_versions_do_not_broadcast(run_node: Any, op_type: str) -> None:
    a, b = np.array([1, 4], np.float32), np.array([2, 3], np.float32)
    for opset in (1, 6):
        np.testing.assert_array_equal(run_node(op_type, [a, b], opset)[0], fold(op_type, [a, b]))
        with pytest.raises(
            Exception, match=r"input 1 \(data_0\): before version 8 the extents must be \[2\], got \[\]"
        ):
            run_node(op_type, [a, np.array(1, np.float32)], opset, unranked=True)


@pytest.mark.parametrize("op_type", OPERATORS)
def test_shapes_that_do_not_broadcast(run_node: Any, op_type: str) -> None:
    inputs = [np.ones(s, np.float32) for s in ((3,), (2, 3), (2, 4))]
    with pytest.raises(Exception, match=r"input 2: .*\[2, 3\], got \[2, 4\]"):
        run_node(op_type, inputs, 13, unranked=True)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_clip(run_node: Any, dtype: Any) -> None:
    x = np.arange(0, 12).reshape(3, 4).astype(dtype)
    low, high = np.array(3, dtype), np.array(8, dtype)
    wide = x.astype(np.float64)
    for inputs, want in [
        ([x, low, high], np.clip(wide, 3, 8)),
        ([x, None, high], np.minimum(wide, 8)),
        ([x, low], np.maximum(wide, 3)),
        ([x], wide),
        ([x, high, low], np.full(x.shape, 3.0)),
        ([x, low.reshape(1), high.reshape(1)], np.clip(wide, 3, 8)),
        ([x[:0], low, high], wide[:0]),
    ]:
        (got,) = run_node("Clip", inputs, 13)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(np.float64), want)


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize("dtype", FLOATS[:3])
def test_clip_by_attributes(run_node: Any, opset: int, dtype: Any) -> None:
    x = np.array([-4, -1, 0, 2, 9], dtype)
    assert run_node("Clip", [x], opset, min=-1.5, max=2.5)[0].tolist() == [-1.5, -1, 0, 2, 2.5]
    assert run_node("Clip", [x], opset, max=1.0)[0].tolist() == [-4, -1, 0, 1, 1]
    assert run_node("Clip", [x], opset)[0].tolist() == x.tolist()


def test_clip_at_the_edges(run_node: Any) -> None:
    x = np.array([math.nan, math.inf, -math.inf], np.float32)
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal(run_node("Clip", [x], 13)[0], [math.nan, largest, -largest])
    for shape, text in (((2,), "2"), ((0,), "0"), ((1, 1), "1, 1")):
        with pytest.raises(Exception, match=rf"input 1 \(min\): must be a scalar, got float\[{text}\]"):
            run_node("Clip", [x, np.ones(shape, np.float32)], 13, unranked=True)


@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.int64, np.uint32, np.uint64])
def test_prelu(run_node: Any, rng: Any, dtype: Any) -> None:
    for shape, slope_shape in [
        ((3, 4), (3, 4)),
        ((2, 3, 4), (4,)),
        ((2, 3, 4), (3, 1)),
        ((5,), ()),
        ((), ()),
        ((0, 3), (3,)),
        ((3, 1, 1), (5, 3)),
        ((), (1,)),
        ((1, 3), (2, 1)),
        ((3,), (0, 3)),
    ]:
        x = np.asarray(rng.integers(0 if np.dtype(dtype).kind == "u" else -9, 9, shape)).astype(dtype)
        slope = np.asarray(rng.integers(0, 4, slope_shape)).astype(dtype)
        wide, factor = x.astype(np.float64), slope.astype(np.float64)
        (got,) = run_node("PRelu", [x, slope], 16, unranked=True)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(np.float64), np.where(wide < 0, wide * factor, wide))


def test_prelu_wraps_integers(run_node: Any) -> None:
    (got,) = run_node("PRelu", [np.array([-(2**31), -5], np.int32), np.array(3, np.int32)], 9)
    assert got.tolist() == [-(2**31), -15]


@pytest.mark.parametrize("opset", [1, 6])
def test_first_prelus_have_a_slope_per_channel(run_node: Any, rng: Any, opset: int) -> None:
    x = np.asarray(rng.uniform(-1, 1, (2, 3, 4, 4)), np.float32)
    slope = np.array([0.5, 2, 4], np.float32)
    (got,) = run_node("PRelu", [x, slope], opset)
    np.testing.assert_array_equal(got, np.where(x < 0, x * slope[:, None, None], x))
    (got,) = run_node("PRelu", [x, np.array([0.5], np.float32)], opset)
    np.testing.assert_array_equal(got, np.where(x < 0, x / 2, x))


def test_prelu_refuses_extents(run_node: Any) -> None:
    with pytest.raises(Exception, match=r"input 1: extents must be equal or 1 to broadcast with \[2, 3\], got \[2\]"):
        run_node("PRelu", [np.ones((2, 3), np.float32), np.ones(2, np.float32)], 16, unranked=True)


COMBINE = {"Max": np.maximum, "Min": np.minimum, "Sum": np.add}


@pytest.mark.parametrize("op_type", COMBINE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32])
def test_the_extents_may_come_from_any_input(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    """Inputs in front may broadcast along every run, alone and together."""
    if op_type == "Sum" and dtype is np.int32:
        dtype = np.float64
    cases = [
        [(1,), (1,), (4000,)],
        [(1,), (), (3, 1), (3, 50)],
        [(1, 1, 1), (2, 1, 1), (2, 3, 1)],
        [(4, 2, 1), (4, 2, 1), (4, 1, 2)],
        [(2, 1), (1, 1), (1, 1), (1, 7)],
        [(1,), (1,), (0,)],
    ]
    for shapes in cases:
        inputs = [rng.integers(-9, 9, shape).astype(dtype) for shape in shapes]
        want = inputs[0]
        for array in inputs[1:]:
            want = COMBINE[op_type](want, array)
        (got,) = run_node(op_type, inputs, 13)
        assert got.shape == want.shape
        assert got.tolist() == want.tolist()
