# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16, which kernels do as blocks of float32: block boundaries, special numbers, every level."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import close, uniform
from onnx import TensorProto
from simd_levels import levels

SMALL = [np.float16, ml_dtypes.bfloat16]
LENGTHS = [1, 7, 511, 512, 513, 1025]


def with_specials(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return random numbers of every magnitude, special ones at the block boundaries among them."""
    info = ml_dtypes.finfo(dtype)
    array = np.asarray(rng.standard_normal(shape) * 2.0 ** rng.integers(-16, 12, shape)).astype(dtype).reshape(-1)
    tiny = float(info.smallest_subnormal)
    specials = [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -3 * tiny, float(info.max), float(info.min), 1.0]
    for boundary in (0, 511, 512, 1023, 1024):
        some = np.array(specials[: array.size]).astype(dtype)
        rng.shuffle(some)
        array[boundary : boundary + 4] = some[: array[boundary : boundary + 4].size]
    return array.reshape(shape)


def same_bits(got: np.ndarray, want: np.ndarray) -> None:
    """Check that all bits are the same, but those of a NaN."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    if got.dtype == np.bool_:
        np.testing.assert_array_equal(got, want)
        return
    nan = np.isnan(want.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nan)
    np.testing.assert_array_equal(got.view(np.uint16)[~nan], want.view(np.uint16)[~nan])


def prelu(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    return np.where(x < 0, x * slope, x)


# What float32 computes and the type rounds once.
BINARY: dict[str, tuple[Callable[..., np.ndarray], int]] = {
    "Add": (np.add, 14),
    "Sub": (np.subtract, 14),
    "Mul": (np.multiply, 14),
    "Div": (np.divide, 14),
    "PRelu": (prelu, 16),
    "Less": (np.less, 13),
    "Equal": (np.equal, 13),
    "Sum": (np.add, 13),
}
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *[((n,), (n,)) for n in LENGTHS],
    *[((n,), ()) for n in LENGTHS],
    *[((), (n,)) for n in LENGTHS],
    ((3, 513), (513,)),
    ((3, 513), (3, 1)),
    # Runs that are shorter than a block, and across its boundary.
    ((300, 7), (7,)),
    ((300, 7), (300, 1)),
    ((300, 1), (1, 7)),
    ((5, 63, 1), (63, 11)),
]


@pytest.mark.parametrize("op_type", BINARY)
@pytest.mark.parametrize("dtype", SMALL)
def test_binary(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    function, opset = BINARY[op_type]
    outputs = [TensorProto.BOOL] if op_type in ("Less", "Equal") else None
    for left, right in SHAPES:
        a, b = with_specials(rng, left, dtype), with_specials(rng, right, dtype)
        (got,) = run_node(op_type, [a, b], opset, outputs)
        with np.errstate(all="ignore"):
            want = np.asarray(function(a.astype(np.float32), b.astype(np.float32)))
            same_bits(got, want if outputs else want.astype(dtype))


@pytest.mark.parametrize("dtype", SMALL)
def test_binary_with_threads(run_node: Any, rng: Any, dtype: Any) -> None:
    for right in [(40000, 5), (40000, 1), (5,), ()]:
        a, b = with_specials(rng, (40000, 5), dtype), with_specials(rng, right, dtype)
        (got,) = run_node("Add", [a, b], 14, threads=2)
        with np.errstate(all="ignore"):
            same_bits(got, (a.astype(np.float32) + b.astype(np.float32)).astype(dtype))


@pytest.mark.parametrize("op_type", ["Max", "Min"])
@pytest.mark.parametrize("dtype", SMALL)
def test_extremes(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    function = np.maximum if op_type == "Max" else np.minimum  # a NaN wins
    for left, right in SHAPES:
        a, b = with_specials(rng, left, dtype), with_specials(rng, right, dtype)
        (got,) = run_node(op_type, [a, b], 13)
        want = function(a.astype(np.float32), b.astype(np.float32))
        np.testing.assert_array_equal(got.astype(np.float32), want)  # of two zeros either


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS)
def test_mean_and_sum_are_rounded_once(run_node: Any, rng: Any, dtype: Any, n: int) -> None:
    inputs = [with_specials(rng, shape, dtype) for shape in ((2, n), (n,), (2, 1), ())]
    wide = [x.astype(np.float32) for x in inputs]
    with np.errstate(all="ignore"):
        total = wide[0] + wide[1] + wide[2] + wide[3]
        same_bits(run_node("Sum", inputs, 13)[0], total.astype(dtype))
        same_bits(run_node("Mean", inputs, 13)[0], (total / np.float32(4)).astype(dtype))


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS)
def test_powers(run_node: Any, rng: Any, dtype: Any, n: int) -> None:
    x = with_specials(rng, (n,), dtype)
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        for exponent, want in ((2, wide * wide), (3, wide * wide * wide)):
            for kind in (dtype, np.int32):
                (got,) = run_node("Pow", [x, np.array(exponent).astype(kind)], 15)
                same_bits(got, want.astype(dtype))


UNARY: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "Abs": (np.abs, 13),
    "Neg": (np.negative, 13),
    "Floor": (np.floor, 13),
    "Round": (np.rint, 22),
    "Sqrt": (np.sqrt, 13),
    "Reciprocal": (np.reciprocal, 13),
    "LeakyRelu": (lambda x: prelu(x, np.float32(0.01)), 16),
    "IsNaN": (np.isnan, 20),
    "IsInf": (np.isinf, 20),
}


@pytest.mark.parametrize("op_type", UNARY)
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS)
def test_unary(run_node: Any, rng: Any, op_type: str, dtype: Any, n: int) -> None:
    function, opset = UNARY[op_type]
    outputs = [TensorProto.BOOL] if op_type in ("IsNaN", "IsInf") else None
    x = with_specials(rng, (n,), dtype)
    (got,) = run_node(op_type, [x], opset, outputs)
    with np.errstate(all="ignore"):
        want = function(x.astype(np.float32))
        same_bits(got, want if outputs else want.astype(dtype))


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS)
def test_clip(run_node: Any, rng: Any, dtype: Any, n: int) -> None:
    x = with_specials(rng, (n,), dtype)
    low, high = np.array(-1.5).astype(dtype), np.array(100).astype(dtype)
    (got,) = run_node("Clip", [x, low, high], 13)
    same_bits(got, np.clip(x.astype(np.float32), np.float32(-1.5), np.float32(100)).astype(dtype))


SOFTMAX_SHAPES = [*[((3, n), -1) for n in LENGTHS], ((500, 3), -1), ((2, 513, 300), 1), ((3, 5, 1), 1), ((9000, 3), 0)]


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize(("shape", "axis"), SOFTMAX_SHAPES, ids=str)
def test_softmax(run_node: Any, rng: Any, op_type: str, dtype: Any, shape: Any, axis: int) -> None:
    x = (uniform(rng, shape, np.float64) * 4).astype(dtype)
    (got,) = run_node(op_type, [x], 13, axis=axis, threads=2)
    wide = x.astype(np.float64)
    shifted = wide - wide.max(axis, keepdims=True)
    total = np.exp(shifted).sum(axis, keepdims=True)
    if op_type == "Softmax":
        want = np.exp(shifted) / total
        eps, tiny = float(ml_dtypes.finfo(dtype).eps), float(ml_dtypes.finfo(dtype).smallest_subnormal)
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=0.51 * eps, atol=0.51 * tiny)
    else:
        close(got, shifted - np.log(total), dtype)


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_of_special_numbers(run_node: Any, dtype: Any, axis: int) -> None:
    greatest = float(ml_dtypes.finfo(dtype).max)
    x = np.zeros((4, 513), np.float64)
    x[0, [0, 512]] = greatest, -greatest
    x[1, 511] = np.nan
    x[2] = -np.inf
    x[2, 3] = 1
    x[3, 512] = np.inf
    narrow = np.ascontiguousarray((x if axis == 1 else x.T).astype(dtype))
    (got,) = run_node("Softmax", [narrow], 13, axis=axis)
    rows = (got if axis == 1 else got.T).astype(np.float64)
    np.testing.assert_array_equal(rows[0], np.eye(513)[0])
    assert np.isnan(rows[1]).all()
    np.testing.assert_array_equal(rows[2], np.eye(513)[3])
    assert np.isnan(rows[3, 512])


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS[1:])
def test_normalizations(run_node: Any, rng: Any, dtype: Any, n: int) -> None:
    x, scale, bias = (uniform(rng, shape, dtype) for shape in ((150, n), (n,), (n,)))
    wide, factors, offsets = (a.astype(np.float64) for a in (x, scale, bias))
    mean, variance = wide.mean(1, keepdims=True), wide.var(1, keepdims=True)
    (got,) = run_node("LayerNormalization", [x, scale, bias], 17, epsilon=1e-3, threads=2)
    close(got, (wide - mean) / np.sqrt(variance + 1e-3) * factors + offsets, dtype, scale=2)
    per_row = uniform(rng, (150, 1), dtype)
    (got,) = run_node("LayerNormalization", [x, per_row, bias], 17, epsilon=1e-3, threads=2)
    close(got, (wide - mean) / np.sqrt(variance + 1e-3) * per_row.astype(np.float64) + offsets, dtype, scale=2)
    (got,) = run_node("RMSNormalization", [x, scale], 23, epsilon=1e-3, threads=2)
    close(got, wide / np.sqrt((wide * wide).mean(1, keepdims=True) + 1e-3) * factors, dtype, scale=2)


@pytest.mark.parametrize("op_type", ["LayerNormalization", "RMSNormalization"])
@pytest.mark.parametrize("dtype", SMALL)
def test_a_nan_stays_in_its_row(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    x = uniform(rng, (5, 300), dtype)
    x[3, 299] = np.nan
    opset = 17 if op_type == "LayerNormalization" else 23
    (got,) = run_node(op_type, [x, uniform(rng, (300,), dtype)], opset)
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)).all(1), [False, False, False, True, False])
    assert np.isnan(got.astype(np.float32)).sum() == 300


@pytest.mark.parametrize("dtype", SMALL)
def test_rms_normalization_of_great_numbers(run_node: Any, dtype: Any) -> None:
    greatest = float(ml_dtypes.finfo(dtype).max)  # whose square is no float32
    x = np.full((2, 513), greatest, np.float64).astype(dtype)
    (got,) = run_node("RMSNormalization", [x, np.ones(513, dtype)], 23)
    np.testing.assert_array_equal(got.astype(np.float64), np.ones((2, 513)))


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS[1:])
def test_planes(run_node: Any, rng: Any, dtype: Any, n: int) -> None:
    x, scale, bias = uniform(rng, (2, 3, n), dtype), uniform(rng, (3,), dtype), uniform(rng, (3,), dtype)
    mean, variance = uniform(rng, (3,), dtype), np.abs(uniform(rng, (3,), dtype))
    wide = x.astype(np.float64)
    factor, shift, center, spread = (a.astype(np.float64)[:, None] for a in (scale, bias, mean, variance))
    (got,) = run_node("BatchNormalization", [x, scale, bias, mean, variance], 15, epsilon=1e-2)
    close(got, (wide - center) / np.sqrt(spread + 1e-2) * factor + shift, dtype, scale=4)
    (got,) = run_node("InstanceNormalization", [x, scale, bias], 22, epsilon=1e-2)
    spread = wide.var(2, keepdims=True)
    close(got, (wide - wide.mean(2, keepdims=True)) / np.sqrt(spread + 1e-2) * factor + shift, dtype, scale=2)
    close(run_node("GlobalAveragePool", [x], 22)[0], wide.mean(2, keepdims=True), dtype)
    x[1, 1, n - 1], x[0, 2, n // 2], x[1, 2] = np.nan, np.inf, -np.inf
    (got,) = run_node("GlobalMaxPool", [x], 22)
    np.testing.assert_array_equal(got.astype(np.float64), x.astype(np.float64).max(2, keepdims=True))


REDUCTIONS: dict[str, tuple[Callable[..., np.ndarray], int]] = {
    "ReduceSum": (np.sum, 13),
    "ReduceMean": (np.mean, 18),
    "ReduceMax": (np.max, 20),
    "ReduceMin": (np.min, 20),
    "ReduceL1": (lambda x, axis, keepdims: np.abs(x).sum(axis, keepdims=keepdims), 18),
    "ReduceSumSquare": (lambda x, axis, keepdims: (x * x).sum(axis, keepdims=keepdims), 18),
    "ReduceProd": (np.prod, 18),
}


@pytest.mark.parametrize("op_type", REDUCTIONS)
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", LENGTHS)
def test_reductions(run_node: Any, rng: Any, op_type: str, dtype: Any, n: int) -> None:
    function, opset = REDUCTIONS[op_type]
    # The numbers are near one, so that no product leaves the type; sums of float32 are exact to much more than it has.
    x = (1 + 0.05 * rng.standard_normal((90, n, 2))).astype(dtype)
    eps = float(ml_dtypes.finfo(dtype).eps)
    for axes in ([0], [1], [2], [0, 2], [1, 2]):
        (got,) = run_node(op_type, [x, np.array(axes, np.int64)], opset, threads=2)
        want = function(x.astype(np.float64), axis=tuple(axes), keepdims=True)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(got.astype(np.float64), want.astype(dtype).astype(np.float64), rtol=1.01 * eps)


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("n", [7, 511, 513, 1025])
def test_reductions_of_special_numbers(run_node: Any, op_type: str, dtype: Any, n: int) -> None:
    function, opset = REDUCTIONS[op_type]
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    x = np.full((6, n), tiny)
    x[1, n - 1] = np.nan
    x[2, n // 2] = np.inf
    x[3, 0] = -np.inf
    x[4, [0, n - 1]] = np.inf, -np.inf
    x[5] = -3 * tiny
    with np.errstate(invalid="ignore"):
        want = function(x, axis=1, keepdims=True)
    for axis in (0, 1):
        narrow = np.ascontiguousarray((x if axis == 1 else x.T).astype(dtype))
        (got,) = run_node(op_type, [narrow, np.array([axis], np.int64)], opset)
        wide = got.astype(np.float64).reshape(6, 1)
        if op_type in ("ReduceMax", "ReduceMin"):
            np.testing.assert_array_equal(wide, want)
        else:
            np.testing.assert_allclose(wide, want, rtol=float(ml_dtypes.finfo(dtype).eps), atol=tiny / 2)


@pytest.mark.parametrize("level", levels()[:-1])
def test_on_every_level(level: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "not every_level"]
    environment = {**os.environ, "ONNX_LIGHT_SIMD": level}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert " passed" in done.stdout
