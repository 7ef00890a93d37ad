# SPDX-License-Identifier: Apache-2.0
"""AveragePool, LpPool, the global pools and MaxUnpool, position by position; the rules that all pools share."""

from __future__ import annotations

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}


def uniform(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    return np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)


def close(got: np.ndarray, want: np.ndarray) -> None:
    assert got.shape == want.shape
    tolerance = 4 * TOLERANCE[got.dtype.name]
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


def extents(size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], ceil: bool) -> int:
    room = size + sum(pads) - (kernel - 1) * dilation - 1
    out = (math.ceil(room / stride) if ceil else room // stride) + 1
    return out - 1 if ceil and (out - 1) * stride >= size + pads[0] else out


def pool(
    x: np.ndarray, kernel: Any, strides: Any, dilations: Any, pads: Any, ceil: bool, count_padding: bool, reduce: Any
) -> np.ndarray:
    """Pool with `reduce(values, positions that count)`, one window after the other."""
    rank = len(kernel)
    sides = [(pads[d], pads[d + rank]) for d in range(rank)]
    out = [extents(x.shape[2 + d], kernel[d], strides[d], dilations[d], sides[d], ceil) for d in range(rank)]
    y = np.empty(x.shape[:2] + tuple(out))
    for place in itertools.product(*(range(n) for n in out)):
        inside, counted = [], 0
        for k in itertools.product(*(range(n) for n in kernel)):
            at = [place[d] * strides[d] - sides[d][0] + k[d] * dilations[d] for d in range(rank)]
            if all(0 <= at[d] < x.shape[2 + d] for d in range(rank)):
                inside.append(x[(slice(None), slice(None), *at)].astype(np.float64))
            if all(-sides[d][0] <= at[d] < x.shape[2 + d] + sides[d][1] for d in range(rank)):
                counted += 1
        y[(slice(None), slice(None), *place)] = reduce(np.stack(inside), counted if count_padding else len(inside))
    return y


# x, kernel, strides, dilations, pads
WINDOWS = [
    ((1, 2, 9), [3], [1], [1], [0, 0]),
    ((1, 1, 700), [4], [2], [1], [3, 1]),
    ((2, 3, 8, 10), [2, 2], [2, 2], [1, 1], [0] * 4),
    ((1, 2, 11, 13), [3, 3], [2, 2], [1, 1], [1] * 4),
    ((1, 2, 11, 13), [3, 2], [1, 3], [2, 3], [1, 0, 2, 1]),
    ((1, 2, 6, 7), [5, 4], [3, 2], [1, 1], [4, 3, 2, 1]),
    ((1, 2, 5, 6, 7), [2, 3, 2], [2, 1, 2], [1] * 3, [0, 1, 0, 1, 1, 1]),
]


@pytest.mark.parametrize("case", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize("count_padding", [0, 1])
def test_average_pool(run_node: Any, rng: Any, case: Any, dtype: Any, ceil: int, count_padding: int) -> None:
    shape, kernel, strides, dilations, pads = case
    x = uniform(rng, shape, dtype)
    attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "ceil_mode": ceil}
    (got,) = run_node("AveragePool", [x], 22, threads=2, count_include_pad=count_padding, **attributes)
    assert got.dtype == dtype
    close(got, pool(x, *case[1:], bool(ceil), bool(count_padding), lambda v, n: v.sum(0) / n))


@pytest.mark.parametrize("case", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(run_node: Any, rng: Any, case: Any, dtype: Any, p: int) -> None:
    shape, kernel, strides, dilations, pads = case
    x = uniform(rng, shape, dtype)
    attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "p": p}
    (got,) = run_node("LpPool", [x], 18 if dtype != ml_dtypes.bfloat16 else 22, threads=2, **attributes)
    close(got, pool(x, *case[1:], False, False, lambda v, n: (np.abs(v) ** p).sum(0) ** (1 / p)))


@pytest.mark.parametrize("opset", [1, 7, 10, 11, 19, 22])
def test_versions_of_average_pool(run_node: Any, rng: Any, opset: int) -> None:
    x = uniform(rng, (1, 2, 6, 6), np.float32)
    (got,) = run_node("AveragePool", [x], opset, kernel_shape=[3, 3], pads=[1] * 4)
    close(got, pool(x, [3, 3], [1, 1], [1, 1], [1] * 4, False, False, lambda v, n: v.sum(0) / n))


def test_the_first_versions_of_norms_have_a_float_p(run_node: Any) -> None:
    x = np.array([[[1, 4, 9]]], np.float32)
    (got,) = run_node("LpPool", [x], 1, kernel_shape=[2], p=0.5)
    assert got.tolist() == [[[9, 25]]]
    (got,) = run_node("GlobalLpPool", [x], 1, p=0.5)
    assert got.tolist() == [[[36]]]
    (got,) = run_node("LpPool", [x], 2, kernel_shape=[2], p=1)
    assert got.tolist() == [[[5, 13]]]


def test_powers_do_not_overflow(run_node: Any) -> None:
    x = np.full((1, 1, 4), 3e30, np.float32)
    (got,) = run_node("GlobalLpPool", [x], 2)
    np.testing.assert_allclose(got, [[[6e30]]], rtol=1e-6)
    (got,) = run_node("LpPool", [x], 2, kernel_shape=[4])
    np.testing.assert_allclose(got, [[[6e30]]], rtol=1e-6)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("count_padding", [0, 1])
@pytest.mark.parametrize("ceil", [0, 1])
def test_automatic_padding(run_node: Any, rng: Any, mode: str, count_padding: int, ceil: int) -> None:
    x = uniform(rng, (1, 2, 10), np.float32)
    total = 0 if mode == "VALID" else (4 - 1) * 3 + 2 - 10
    before = total // 2 if mode == "SAME_UPPER" else total - total // 2
    (got,) = run_node(
        "AveragePool", [x], 22, kernel_shape=[2], strides=[3], auto_pad=mode, ceil_mode=ceil,
        count_include_pad=count_padding,
    )  # fmt: skip
    want = pool(x, [2], [3], [1], [before, total - before], False, bool(count_padding), lambda v, n: v.sum(0) / n)
    close(got, want)


def test_valid_padding_has_one_size_whatever_the_rounding(run_node: Any) -> None:
    # ceil((5 - 2 + 1) / 2) = floor((5 - 2) / 2) + 1 = 2
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    for ceil in (0, 1):
        (got,) = run_node("MaxPool", [x], 22, kernel_shape=[2], strides=[2], auto_pad="VALID", ceil_mode=ceil)
        assert got.tolist() == [[[1, 3]]]


@pytest.mark.parametrize("op_type", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize(
    ("kernel", "stride", "attributes", "want"),
    [
        (3, 1, {}, []),  # floor((2 - 3) / 1 + 1) = 0
        (4, 2, {}, []),  # floor((2 - 4) / 2 + 1) = 0
        (3, 2, {}, []),  # floor((2 - 3) / 2 + 1) = 0
        (7, 8, {}, []),  # floor((2 - 7) / 8 + 1) = 0
        (5, 2, {}, []),
        (3, 1, {"auto_pad": "VALID"}, []),
        (4, 2, {"ceil_mode": 1}, []),  # ceil((2 - 4) / 2 + 1) = 0
        (3, 2, {"ceil_mode": 1}, [1]),  # ceil((2 - 3) / 2 + 1) = 1
        (5, 5, {"ceil_mode": 1}, [1]),
    ],
)
def test_windows_larger_than_the_input(
    run_node: Any, op_type: str, kernel: int, stride: int, attributes: Any, want: Any
) -> None:
    x = np.array([[[1, 0]]], np.float32)
    (got,) = run_node(op_type, [x], 22, kernel_shape=[kernel], strides=[stride], **attributes)
    assert got.tolist() == [[[v / 2 if op_type == "AveragePool" else v for v in want]]]
    if op_type == "MaxPool":
        outputs = [TensorProto.FLOAT, TensorProto.INT64]
        got, places = run_node(op_type, [x], 22, outputs, kernel_shape=[kernel], strides=[stride], **attributes)
        assert got.tolist() == [[want]]
        assert places.tolist() == [[[0] * len(want)]]
    (got,) = run_node(op_type, [x[..., None]], 22, kernel_shape=[kernel, 1], strides=[stride, 1], **attributes)
    assert got.shape == (1, 1, len(want), 1)


@pytest.mark.parametrize("op_type", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize(("kernel", "stride"), [(4, 1), (6, 2), (20, 3)])
@pytest.mark.parametrize("ceil", [0, 1])
def test_windows_far_larger_than_the_input(run_node: Any, op_type: str, kernel: int, stride: int, ceil: int) -> None:
    with pytest.raises(Exception, match=rf"input 0 \(X\): the window reaches over {kernel} elements of spatial axis 0"):
        run_node(op_type, [np.ones((1, 1, 2), np.float32)], 22, kernel_shape=[kernel], strides=[stride], ceil_mode=ceil)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("stride", [1, 2])
def test_max_pool_keeps_nan_wherever_it_is(run_node: Any, dtype: Any, place: int, stride: int) -> None:
    x = np.array([3, 1, 4, 2, 5]).astype(dtype)
    x[place] = np.nan
    want = [np.max(x[i : i + 3].astype(np.float64)) for i in range(0, 3, stride)]
    kind = {"float32": 1, "float64": 11, "float16": 10, "bfloat16": 16}[np.dtype(dtype).name]
    (alone,) = run_node("MaxPool", [x[None, None]], 22, kernel_shape=[3], strides=[stride])
    both, _ = run_node("MaxPool", [x[None, None]], 22, [kind, TensorProto.INT64], kernel_shape=[3], strides=[stride])
    np.testing.assert_array_equal(alone.astype(np.float64), [[want]])
    np.testing.assert_array_equal(both.astype(np.float64), [[want]])


@pytest.mark.parametrize("op_type", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize("pads", [[0, 2, 0, 0], [0, 0, 3, 0]])
def test_pads_are_smaller_than_the_kernel(run_node: Any, op_type: str, pads: Any) -> None:
    x = np.ones((1, 1, 5, 5), np.float32)
    with pytest.raises(Exception, match=r"pads.*smaller than the kernel \[3, 2\], got"):
        run_node(op_type, [x], 11, kernel_shape=[3, 2], pads=pads)


@pytest.mark.parametrize("op_type", ["LpPool", "GlobalLpPool"])
@pytest.mark.parametrize("p", [0, -1])
def test_norms_refuse_p(run_node: Any, op_type: str, p: int) -> None:
    attributes = {"kernel_shape": [2]} if op_type == "LpPool" else {}
    with pytest.raises(Exception, match=r"attribute p: must be positive"):
        run_node(op_type, [np.ones((1, 1, 4), np.float32)], 22, p=p, **attributes)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 4, 7, 9), (2, 2, 3, 4, 5), (0, 3, 2, 2), (2, 3)], ids=str)
def test_global_pools(run_node: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = uniform(rng, shape, dtype)
    axes = tuple(range(2, len(shape)))
    wide = x.astype(np.float64)
    (got,) = run_node("GlobalMaxPool", [x], 22, threads=2)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.astype(np.float64), wide.max(axes, keepdims=True) if axes else wide)
    for p in (1, 2, 3):
        (got,) = run_node("GlobalLpPool", [x], 22, p=p)
        close(got, (np.abs(wide) ** p).sum(axes, keepdims=True) ** (1 / p))


@pytest.mark.parametrize("dtype", FLOATS)
def test_global_max_pool_of_nothing_and_of_nan(run_node: Any, dtype: Any) -> None:
    (got,) = run_node("GlobalMaxPool", [np.ones((1, 2, 0), dtype)], 22)
    assert got.astype(np.float64).tolist() == [[[-np.inf], [-np.inf]]]
    x = np.array([[[1, np.nan, 2], [3, 5, 4]]]).astype(dtype)
    (got,) = run_node("GlobalMaxPool", [x], 22)
    np.testing.assert_array_equal(got.astype(np.float64), [[[np.nan], [5]]])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 3, 8), (1, 2, 6, 8), (2, 1, 4, 4, 6)], ids=str)
def test_max_unpool_inverts_max_pool(run_node: Any, rng: Any, dtype: Any, shape: Any) -> None:
    own = {"float32": 1, "float64": 11, "float16": 10, "bfloat16": 16}[np.dtype(dtype).name]
    x = rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    window = {"kernel_shape": [2] * (len(shape) - 2), "strides": [2] * (len(shape) - 2)}
    pooled, places = run_node("MaxPool", [x], 22, [own, TensorProto.INT64], **window)
    (got,) = run_node("MaxUnpool", [pooled, places], 22, **window)
    want = np.zeros(x.size, dtype)
    want[places.ravel()] = pooled.ravel()
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want.reshape(shape))


def test_max_unpool_into_a_larger_shape(run_node: Any) -> None:
    x = np.array([[[[1, 2]]], [[[3, 4]]]], np.float32)
    places = np.array([[[[0, 7]]], [[[12, 11]]]], np.int64)  # of [2, 1, 2, 4]
    shape = np.array([2, 1, 3, 5], np.int64)
    (got,) = run_node("MaxUnpool", [x, places, shape], 11, kernel_shape=[2, 2], strides=[2, 2])
    want = np.zeros((2, 1, 3, 5), np.float32)
    want[0, 0, 0, 0], want[0, 0, 1, 3], want[1, 0, 1, 0], want[1, 0, 0, 3] = 1, 2, 3, 4
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("places", "shape", "message"),
    [
        ([[[[0, 8]]]], None, r"input 1 \(I\): must be in \[0, 7\], got 8"),
        ([[[[-1, 0]]]], None, r"input 1 \(I\): must be in \[0, 7\], got -1"),
        ([[[0, 1]]], None, r"input 1 \(I\): must have the extents"),
        ([[[[0, 7]]]], [1, 1, 2, 3], r"input 2 \(output_shape\): must hold element 7"),
        ([[[[0, 7]]]], [1, 2, 4], r"input 2 \(output_shape\): must have 4 extents"),
        ([[[[0, 7]]]], [1, 1, -2, 4], "negative|-2"),
    ],
)
def test_max_unpool_refuses(run_node: Any, places: Any, shape: Any, message: str) -> None:
    inputs = [np.ones((1, 1, 1, 2), np.float32), np.array(places, np.int64)]
    if shape is not None:
        inputs.append(np.array(shape, np.int64))
    with pytest.raises(Exception, match=message):
        run_node("MaxUnpool", inputs, 11, unranked=True, kernel_shape=[2, 2], strides=[2, 2])
