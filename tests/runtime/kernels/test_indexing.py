# SPDX-License-Identifier: Apache-2.0
"""Operators that read or write where indices say: GatherElements, GatherND, OneHot, the Scatter operators."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernel_arrays import MOVED_DTYPES, int64, kind, numbered, same

NUMBERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64]
NUMBERS += [np.float16, ml_dtypes.bfloat16]


ELEMENTS = [
    ((5,), [3, -1, 0, 0, -5, 4, 2], 0),
    ((3, 4), [[0, 2, -1, 1]], 0),
    ((3, 4), [[0], [3], [-4]], 1),
    ((3, 4), [[0, -1], [1, 1]], -1),
    ((2, 3, 4), [[[1, 0], [0, -1]]], 0),
    ((2, 3, 4), [[[1, 0], [-3, 2], [0, 0], [2, 1]]], 1),
    ((2, 3), [], 0),
    ((60, 50), np.arange(3000).reshape(60, 50) % 60, 0),
    ((60, 50), np.arange(6000).reshape(60, 100) % 50, 1),
]


def indices_of(shape: Any, indices: Any, dtype: Any = np.int64) -> np.ndarray:
    array = np.array(indices, dtype)
    return array.reshape((0, *shape[1:])) if array.size == 0 else array


def coordinates(indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """Return for each index the coordinates in the data."""
    where = list(np.indices(indices.shape))
    where[axis] = indices
    return tuple(where)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("shape", "indices", "axis"), ELEMENTS)
def test_gather_elements(run_node: Any, dtype: Any, index: Any, shape: Any, indices: Any, axis: int) -> None:
    x, i = numbered(shape, dtype), indices_of(shape, indices, index)
    same(run_node("GatherElements", [x, i], 13, threads=2, axis=axis)[0], x[coordinates(i, axis)])


@pytest.mark.parametrize(
    ("shape", "indices", "axis", "message"),
    [
        ((3, 4), [[3]], 0, r"\[-3, 2\] for axis 0, got 3"),
        ((3, 4), [[-5]], 1, r"\[-4, 3\] for axis 1, got -5"),
        ((3, 4), [0], 0, "indices"),
        ((3, 4), [[0, 0, 0, 0, 0]], 0, "indices"),
        ((3, 4), [[0]], 2, "axis"),
        ((0, 4), [[0]], 0, "indices"),
        ((), [0], 0, "axis"),
    ],
)
@pytest.mark.parametrize("op_type", ["GatherElements", "ScatterElements"])
def test_indices_of_elements_are_checked(
    run_node: Any, op_type: str, shape: Any, indices: Any, axis: int, message: str
) -> None:
    i = np.array(indices, np.int64)
    inputs = [np.ones(shape, np.float32), i] + ([np.ones(i.shape, np.float32)] if op_type != "GatherElements" else [])
    with pytest.raises(Exception, match=message):
        run_node(op_type, inputs, 13, unranked=True, axis=axis)


TUPLES = [
    ((5,), [[3], [-1], [0]], 0),
    ((2, 3), [[0, 0], [1, -1]], 0),
    ((2, 3), [[1], [0], [1]], 0),
    ((2, 3), [1], 0),
    ((2, 3), [1, 2], 0),
    ((2, 3), np.zeros((2, 0)), 0),
    ((2, 3, 4), [[[0], [1]], [[-1], [0]]], 0),
    ((2, 3, 4), [[1], [-3]], 1),
    ((2, 3, 4), [[[0, 1]], [[2, -4]]], 1),
    ((2, 2, 3), [[[0], [2]], [[1], [-1]]], 2),
    ((2, 0), np.zeros((3, 1)), 0),
    ((2, 3), np.zeros((0, 2)), 0),
    ((70, 40), np.arange(140).reshape(140, 1) % 70, 0),
]


def gathered(x: np.ndarray, indices: np.ndarray, batch: int) -> np.ndarray:
    """Follow the definition, tuple by tuple."""
    leading = indices.shape[:-1]
    out = np.empty(leading + x.shape[batch + indices.shape[-1] :], x.dtype)
    for where in np.ndindex(*leading):
        out[where] = x[where[:batch]][tuple(indices[where])] if x.ndim > batch else x[where[:batch]]
    return out


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(("shape", "indices", "batch"), TUPLES)
def test_gather_nd(run_node: Any, dtype: Any, shape: Any, indices: Any, batch: int) -> None:
    x, i = numbered(shape, dtype), np.array(indices, np.int64)
    attributes = {"batch_dims": batch} if batch else {}
    opset = 13 if batch else 11
    same(run_node("GatherND", [x, i], opset, threads=2, **attributes)[0], gathered(x, i, batch))


@pytest.mark.parametrize(
    ("shape", "indices", "batch", "message"),
    [
        ((2, 3), [[2]], 0, r"\[-2, 1\] for axis 0, got 2"),
        ((2, 3), [[0, -4]], 0, r"\[-3, 2\] for axis 1, got -4"),
        ((2, 3), [[0, 0, 0]], 0, "last extent|last dimension"),
        ((2, 3), 1, 0, "rank 1"),
        ((2, 3), [[0]], 2, "batch_dims|last"),
        ((2, 3), [[0]], -1, "batch_dims"),
        ((2, 3), [[0]], 1, "first 1 extents"),
        ((0, 3), [[0]], 0, "select nothing"),
    ],
)
def test_gather_nd_refuses(run_node: Any, shape: Any, indices: Any, batch: int, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node(
            "GatherND",
            [np.ones(shape, np.float32), np.array(indices, np.int64)],
            13,
            unranked=True,
            batch_dims=batch,
        )


REDUCTIONS = {
    "none": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("shape", "indices", "axis"), [case for case in ELEMENTS if np.size(case[1]) < 100])
def test_scatter_elements(run_node: Any, dtype: Any, index: Any, shape: Any, indices: Any, axis: int) -> None:
    i = indices_of(shape, indices, index)
    x, updates, want = numbered(shape, dtype), numbered(i.shape, dtype, 50), numbered(shape, dtype)
    where = coordinates(i, axis)
    for at in np.ndindex(*i.shape):
        want[tuple(w[at] for w in where)] = updates[at]
    for op_type, opset in (("Scatter", 9), ("ScatterElements", 11), ("ScatterElements", 18)):
        same(run_node(op_type, [x, i, updates], opset, axis=axis)[0], want)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_])
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_scatter_elements_reduces(run_node: Any, dtype: Any, reduction: str) -> None:
    x = np.array([[3, 100, 7], [1, 2, 0]]).astype(dtype)
    i = np.array([[0, 0, -2], [1, 0, 0], [1, 1, 0]], np.int64)
    updates = np.array([[1, 5, 0], [90, 3, 9], [2, 4, 1]]).astype(dtype)
    want = x.copy()
    with np.errstate(over="ignore"):
        for row, column in np.ndindex(3, 3):
            at = (i[row, column], column)
            want[at] = REDUCTIONS[reduction](want[at], updates[row, column])
    (got,) = run_node("ScatterElements", [x, i, updates], 18, axis=0, reduction=reduction)
    assert got.dtype == want.dtype
    same(got, want)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(("shape", "indices"), [case[:2] for case in TUPLES if case[2] == 0])
def test_scatter_nd(run_node: Any, dtype: Any, shape: Any, indices: Any) -> None:
    i = np.array(indices, np.int64)
    x, want = numbered(shape, dtype), numbered(shape, dtype)
    updates = numbered(i.shape[:-1] + shape[i.shape[-1] :], dtype, 50)
    for at in np.ndindex(*i.shape[:-1]):
        want[tuple(i[at])] = updates[at]
    same(run_node("ScatterND", [x, i, updates], 11)[0], want)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_])
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_scatter_nd_reduces(run_node: Any, dtype: Any, reduction: str) -> None:
    x = np.array([[3, 100, 7], [1, 2, 0]]).astype(dtype)
    i = np.array([[1], [0], [-1]], np.int64)
    updates = np.array([[1, 5, 0], [90, 3, 9], [2, 4, 1]]).astype(dtype)
    want = x.copy()
    with np.errstate(over="ignore"):
        for row in range(3):
            want[i[row, 0]] = REDUCTIONS[reduction](want[i[row, 0]], updates[row])
    same(run_node("ScatterND", [x, i, updates], 18, reduction=reduction)[0], want)


@pytest.mark.parametrize(("op_type", "indices"), [("ScatterElements", [0, 1, 1]), ("ScatterND", [[0], [1], [1]])])
@pytest.mark.parametrize("reduction", ["max", "min"])
def test_a_nan_stays_in_extremes(run_node: Any, op_type: str, indices: Any, reduction: str) -> None:
    x, updates = np.array([np.nan, 1], np.float32), np.array([5, np.nan, 0], np.float32)
    (got,) = run_node(op_type, [x, np.array(indices, np.int64), updates], 18, reduction=reduction)
    assert np.isnan(got).all()


@pytest.mark.parametrize(("op_type", "indices"), [("ScatterElements", [0, 1]), ("ScatterND", [[0], [1]])])
@pytest.mark.parametrize(("opset", "reduction"), [(16, "max"), (18, "mean")])
def test_scatter_names_the_reductions(run_node: Any, op_type: str, indices: Any, opset: int, reduction: str) -> None:
    x = np.ones(2, np.float32)
    with pytest.raises(Exception, match=f"reduction.*{reduction}"):
        run_node(op_type, [x, np.array(indices, np.int64), x], opset, reduction=reduction)


@pytest.mark.parametrize("dtype", [np.complex64, object])
@pytest.mark.parametrize(("op_type", "indices"), [("ScatterElements", [0, 1]), ("ScatterND", [[0], [1]])])
def test_scatter_declines_to_reduce(run_node: Any, dtype: Any, op_type: str, indices: Any) -> None:
    x = numbered((2,), dtype)
    with pytest.raises(Exception, match=r"a reduction of elements of type (complex64|string)"):
        run_node(op_type, [x, int64(indices), x], 18, reduction="add")


@pytest.mark.parametrize(
    ("op_type", "indices", "updates"),
    [("ScatterElements", [[0, 1]], [[1.0]]), ("ScatterND", [[0], [1]], [1.0, 2.0]), ("ScatterND", [[2]], [[1.0, 2.0]])],
)
def test_scatter_checks_updates(run_node: Any, op_type: str, indices: Any, updates: Any) -> None:
    inputs = [np.ones((2, 2), np.float32), np.array(indices, np.int64), np.array(updates, np.float32)]
    with pytest.raises(Exception, match=r"updates|\[-2, 1\] for axis 0, got 2"):
        run_node(op_type, inputs, 18, unranked=True)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("index", [np.int64, np.int8, np.uint8, np.int32, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("depth", [np.array(4, np.int64), np.array([4], np.int32), np.array(4.7, np.float32)], ids=str)
def test_one_hot(run_node: Any, dtype: Any, index: Any, depth: Any) -> None:
    values = np.array(["off", "on"], object) if dtype is object else np.array([0, 1]).astype(dtype)
    for shape, axis in itertools.product([(), (0,), (3,), (2, 3)], range(-3, 3)):
        if not -len(shape) - 1 <= axis <= len(shape):
            continue
        i = (np.arange(np.prod(shape, dtype=int)) * 3 % 7).reshape(shape).astype(index)
        hot = np.expand_dims(i.astype(np.int64), axis)
        place = np.arange(4).reshape([4 if d == axis % (len(shape) + 1) else 1 for d in range(len(shape) + 1)])
        (got,) = run_node("OneHot", [i, depth, values], 11, [kind(values.dtype)], threads=2, axis=axis)
        same(got, values[(hot == place).astype(int)])


def test_one_hot_counts_from_the_end_since_version_11(run_node: Any) -> None:
    i = np.array([-1, -3, -4, 2, 3, 1.9, np.nan, np.inf, -np.inf], np.float64)
    values = np.array([0, 1], np.int32)
    inputs = [i, np.array(3, np.int64), values]
    off = [0, 0, 0]
    (got,) = run_node("OneHot", inputs, 11, [kind(values.dtype)])
    assert got.tolist() == [[0, 0, 1], [1, 0, 0], off, [0, 0, 1], off, [0, 1, 0], [1, 0, 0], off, off]
    (got,) = run_node("OneHot", inputs, 9, [kind(values.dtype)])
    assert got.tolist() == [off, off, off, [0, 0, 1], off, [0, 1, 0], [1, 0, 0], off, off]


@pytest.mark.parametrize(
    ("depth", "values", "axis", "message"),
    [
        (-1, [0, 1], -1, "depth"),
        ([2, 3], [0, 1], -1, "depth"),
        (float("inf"), [0, 1], -1, "output 0|memory|fit"),
        (2**62, [0, 1], -1, "output 0|memory|fit"),
        (3, [0, 1, 2], -1, "values"),
        (3, [0, 1], 2, "axis"),
    ],
)
def test_one_hot_refuses(run_node: Any, depth: Any, values: Any, axis: int, message: str) -> None:
    inputs = [np.array([0, 1, 2], np.int64), np.array(depth), np.array(values, np.float32)]
    with pytest.raises(Exception, match=message):
        run_node("OneHot", inputs, 11, [kind(np.float32)], unranked=True, axis=axis)
