# SPDX-License-Identifier: Apache-2.0
"""Operators that repeat or add elements: Expand, Pad, Tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_arrays import MOVED_DTYPES, int64, numbered, same


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((), []),
        ((), [2, 3]),
        ((3, 1), [2, 1, 6]),
        ((3, 4), [1, 1]),
        ((3, 4), [1]),
        ((1, 4), [5, 4]),
        ((2, 1, 3), [2, 4, 3]),
        ((1, 3), [0, 3]),
        ((0, 1), [1, 5]),
        ((1, 300), [200, 1]),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_expand(run_node: Any, dtype: Any, shape: Any, target: Any, constant: bool) -> None:
    x = numbered(shape, dtype)
    (got,) = run_node("Expand", [x, int64(target)], 13, threads=2, constants=[1] if constant else [])
    same(got, np.broadcast_to(x, np.broadcast_shapes(shape, tuple(target))))


@pytest.mark.parametrize("target", [[2, 5], [-1, 3], [2**40, 2**40, 2, 3]])
def test_expand_refuses(run_node: Any, target: Any) -> None:
    with pytest.raises(Exception, match=r"input 1|output 0"):
        run_node("Expand", [np.ones((2, 3), np.float32), int64(target)], 13)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(
    ("shape", "repeats"),
    [
        ((), []),
        ((3,), [1]),
        ((3,), [4]),
        ((3,), [0]),
        ((0, 2), [5, 2]),
        ((2, 3), [1, 3]),
        ((2, 3), [3, 1]),
        ((2, 3), [2, 2]),
        ((2, 3, 4), [2, 1, 3]),
        ((2, 1, 4), [1, 5, 1]),
        ((1, 2, 3, 2), [3, 2, 2, 3]),
        ((40, 30), [10, 5]),
    ],
)
@pytest.mark.parametrize("opset", [6, 13])
def test_tile(run_node: Any, dtype: Any, shape: Any, repeats: Any, opset: int) -> None:
    x = numbered(shape, dtype)
    same(run_node("Tile", [x, int64(repeats)], opset, threads=2)[0], np.tile(x, repeats))


def test_tile_of_one_axis(run_node: Any) -> None:
    x = numbered((2, 3), np.float32)
    (got,) = run_node("Tile", [x, np.array(2, np.float32), np.array(-1, np.float32)], 1)
    same(got, np.tile(x, [1, 2]))


@pytest.mark.parametrize("repeats", [[1], [1, -1], [2**62, 2], [2**40, 2**40]])
def test_tile_refuses(run_node: Any, repeats: Any) -> None:
    with pytest.raises(Exception, match=r"repeats|output 0|fit in memory"):
        run_node("Tile", [np.ones((2, 3), np.float32), int64(repeats)], 13)


PADS = [
    ((), []),
    ((4,), [0, 0]),
    ((4,), [2, 0]),
    ((4,), [0, 3]),
    ((4,), [9, 11]),
    ((1,), [3, 2]),
    ((3, 4), [0, 2, 0, 0]),
    ((3, 4), [1, 2, 2, 1]),
    ((3, 4), [5, 0, 7, 0]),
    ((2, 3, 4), [0, 1, 0, 0, 2, 0]),
    ((2, 3, 4), [1, 1, 1, 1, 1, 1]),
    ((2, 1, 2, 3), [0, 0, 1, 2, 0, 0, 2, 3]),
    ((60, 50), [4, 5, 6, 7]),
]


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize(("shape", "pads"), PADS)
def test_pad(run_node: Any, dtype: Any, mode: str, shape: Any, pads: Any) -> None:
    x = numbered(shape, dtype)
    rank = len(shape)
    width = [(pads[d], pads[d + rank]) for d in range(rank)]
    value = np.array("fill" if dtype is object else 1, dtype)
    inputs = [x, int64(pads), value if mode == "constant" else None]
    numpy_mode: dict[str, Any] = {"mode": mode} | ({"constant_values": value} if mode == "constant" else {})
    (got,) = run_node("Pad", inputs, 21, threads=2, mode=mode)
    same(got, np.pad(x, width, **numpy_mode) if rank else x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("opset", "name"), [(1, "paddings"), (2, "pads")])
def test_pad_by_attributes(run_node: Any, dtype: Any, opset: int, name: str) -> None:
    x = numbered((2, 3), dtype)
    (got,) = run_node("Pad", [x], opset, value=1.5, **{name: [1, 0, 2, 1]})
    same(got, np.pad(x, [(1, 2), (0, 1)], constant_values=1.5))
    (got,) = run_node("Pad", [x], opset, mode="reflect", **{name: [1, 0, 0, 1]})
    same(got, np.pad(x, [(1, 0), (0, 1)], mode="reflect"))


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, object])
def test_pad_fills_with_nothing(run_node: Any, dtype: Any) -> None:
    x = numbered((2,), dtype)
    (got,) = run_node("Pad", [x, int64([1, 1])], 13)
    nothing = np.array("" if dtype is object else 0, dtype).tolist()
    assert got.tolist() == [nothing, *x.tolist(), nothing]


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_pad_of_some_axes(run_node: Any, index: Any) -> None:
    x = numbered((2, 3, 4), np.int32)
    (got,) = run_node("Pad", [x, int64([1, 2, 3, 4]), None, np.array([-1, 0], index)], 18, mode="edge")
    same(got, np.pad(x, [(2, 4), (0, 0), (1, 3)], mode="edge"))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_removes_before_it_adds(run_node: Any, mode: str) -> None:
    x = numbered((5, 6), np.int64)
    (got,) = run_node("Pad", [x, int64([-1, 2, 3, -2])], 19, mode=mode)
    same(got, np.pad(x[1:, :-2], [(0, 3), (2, 0)], mode=mode))  # type: ignore[call-overload]


def test_pad_of_no_elements(run_node: Any) -> None:
    x = np.ones((0, 2), np.float32)
    same(run_node("Pad", [x, int64([1, 0, 1, 1])], 13)[0], np.zeros((2, 3), np.float32))
    same(run_node("Pad", [x, int64([0, 1, 0, 0])], 13, mode="edge")[0], np.zeros((0, 3), np.float32))
    with pytest.raises(Exception, match="no element to repeat"):
        run_node("Pad", [x, int64([1, 0, 0, 0])], 13, mode="edge")


@pytest.mark.parametrize(
    ("pads", "axes", "message"),
    [
        ([1, 1, 1], None, "two entries"),
        ([-3, 0, 0, 0], None, "remove more"),
        ([-1, 0, -2, 0], None, "remove more"),
        ([2**62, 0, 0, 0], None, "overflow"),
        ([-(2**63), 0, 0, 0], None, "remove more"),
        ([2**50, 2**50, 0, 0], None, "fit in memory"),
        ([1, 1, 1, 1], [0, 0], "distinct"),
        ([1, 1], [2], r"input 3 \(axes\): must be in \[-2, 1\] for rank 2, got 2"),
    ],
)
def test_pad_refuses(run_node: Any, pads: Any, axes: Any, message: str) -> None:
    inputs = [np.ones((2, 3), np.float32), int64(pads)] + ([None, int64(axes)] if axes else [])
    with pytest.raises(Exception, match=message):
        run_node("Pad", inputs, 18, unranked=True)


def test_pad_wraps_since_version_19(run_node: Any) -> None:
    with pytest.raises(Exception, match="wrap"):
        run_node("Pad", [np.ones(2, np.float32), int64([1, 1])], 18, mode="wrap")
