# SPDX-License-Identifier: Apache-2.0
"""Operators that pick, order or sum elements, mostly along an axis: Compress to Unique."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernel_arrays import MOVED_DTYPES, int64, kind, numbered, same
from onnx import TensorProto

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
NUMBERS = [*INTEGERS, np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
INT64 = TensorProto.INT64


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(
    ("shape", "axis", "condition"),
    [
        ((5,), 0, [1, 0, 1, 1, 0]),
        ((5,), 0, [0, 1]),
        ((5,), 0, [0, 0, 0, 0, 0, 0, 0]),
        ((2, 3), None, [0, 1, 0, 0, 1]),
        ((2, 3), 1, [1, 0, 1]),
        ((2, 3), 1, [1, 0, 1, 1, 1]),
        ((2, 3), 0, [0, 0, 1]),
        ((2, 3), None, [0, 1, 0, 0, 0, 1, 1]),
        ((2, 3, 4), -2, [0, 1, 1]),
        ((2, 3, 4), 0, [0, 0]),
        ((2, 0), 0, [0, 1]),
        ((2, 0), 1, []),
        ((80, 70), 1, [1, 0, 0] * 20),
    ],
)
def test_compress(run_node: Any, dtype: Any, shape: Any, axis: Any, condition: Any) -> None:
    x, chosen = numbered(shape, dtype), np.array(condition, bool)
    attributes = {} if axis is None else {"axis": axis}
    extent = x.size if axis is None else shape[axis]
    want = np.compress(chosen[:extent], x, axis)
    same(run_node("Compress", [x, chosen], 11, threads=2, **attributes)[0], want)


@pytest.mark.parametrize("axis", [{}, {"axis": 0}])
def test_compress_refuses(run_node: Any, axis: Any) -> None:
    with pytest.raises(Exception, match="rank 1"):
        run_node("Compress", [np.ones((2, 3), np.float32), np.array(True)], 11, unranked=True, **axis)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_, object])
@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (0, 3), (3, 0)], ids=str)
def test_non_zero(run_node: Any, dtype: Any, shape: Any) -> None:
    count = np.arange(np.prod(shape, dtype=int)).reshape(shape) * 5 % 3
    x = np.where(count > 0, "text", "").astype(object) if dtype is object else count.astype(dtype)
    same(run_node("NonZero", [x], 13, [INT64])[0], np.array(np.nonzero(count)))


def test_non_zero_of_special_values(run_node: Any) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        x = np.array([0.0, -0.0, np.nan, np.inf, np.finfo(dtype).smallest_subnormal], dtype)
        assert run_node("NonZero", [x], 9, [INT64])[0].tolist() == [[2, 3, 4]]


@pytest.mark.parametrize("value", [0, 3])
def test_non_zero_of_a_scalar_has_no_coordinates(run_node: Any, value: int) -> None:
    assert run_node("NonZero", [np.array(value, np.int32)], 13, [INT64])[0].shape == (0, value // 3)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(("time", "batch"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("rest", [(), (3,), (2, 2), (0,)], ids=str)
def test_reverse_sequence(run_node: Any, dtype: Any, time: int, batch: int, rest: Any) -> None:
    x, lengths = numbered((5, 5, *rest), dtype), [0, 1, 3, 5, 2]
    want = np.moveaxis(x, batch, 0).copy()
    for sequence, length in zip(want, lengths, strict=True):
        sequence[:length] = sequence[:length][::-1].copy()
    (got,) = run_node("ReverseSequence", [x, int64(lengths)], 10, threads=2, time_axis=time, batch_axis=batch)
    same(got, np.moveaxis(want, 0, batch))


@pytest.mark.parametrize("lengths", [[1, 2], [1, 2, 3], [-1, 1], [3, 1], [[1, 1]]])
def test_reverse_sequence_refuses_lengths(run_node: Any, lengths: Any) -> None:
    if lengths == [1, 2]:
        run_node("ReverseSequence", [np.ones((2, 2), np.float32), int64(lengths)], 10)
        return
    with pytest.raises(Exception, match="sequence_lens"):
        run_node("ReverseSequence", [np.ones((2, 2), np.float32), int64(lengths)], 10, unranked=True)


def test_reverse_sequence_refuses_axes(run_node: Any) -> None:
    with pytest.raises(Exception, match="time_axis"):
        run_node("ReverseSequence", [np.ones((2, 2), np.float32), int64([1, 1])], 10, time_axis=1)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(
    ("shape", "axis", "sizes"),
    [
        ((6,), 0, [1, 2, 3]),
        ((2, 6), -1, [4, 0, 2]),
        ((4, 3, 2), 0, [1, 3]),
        ((0, 3), 1, [1, 2]),
        ((60, 90), 1, [30, 60]),
    ],
)
def test_split(run_node: Any, dtype: Any, shape: Any, axis: int, sizes: Any) -> None:
    x = numbered(shape, dtype)
    wants = np.split(x, np.cumsum(sizes)[:-1], axis)
    for constants in ([], [1]):
        gots = run_node("Split", [x, int64(sizes)], 13, [kind(x.dtype)] * len(sizes), constants, threads=2, axis=axis)
        for got, want in zip(gots, wants, strict=True):
            same(got, want)
    for got, want in zip(
        run_node("Split", [x], 2, [kind(x.dtype)] * len(sizes), axis=axis, split=sizes), wants, strict=True
    ):
        same(got, want)


@pytest.mark.parametrize("opset", [2, 11, 13, 18])
def test_split_in_equal_parts(run_node: Any, opset: int) -> None:
    x = numbered((2, 6), np.float32)
    attributes = {"num_outputs": 3} if opset == 18 else {}
    for got, want in zip(run_node("Split", [x], opset, [1] * 3, axis=1, **attributes), np.split(x, 3, 1), strict=True):
        same(got, want)


@pytest.mark.parametrize(("extent", "sizes"), [(7, [2, 2, 2, 1]), (5, [2, 2, 1, 0]), (2, [1, 1, 0, 0]), (0, [0] * 4)])
@pytest.mark.parametrize("unranked", [False, True])
def test_split_in_smaller_last_parts(run_node: Any, extent: int, sizes: Any, unranked: bool) -> None:
    x = numbered((extent,), np.float32)
    gots = run_node("Split", [x], 18, [1] * 4, unranked=unranked, num_outputs=4)
    assert [got.size for got in gots] == sizes
    same(np.concatenate(gots), x)


def test_split_may_omit_outputs(run_node: Any) -> None:
    (got,) = run_node("Split", [numbered((6,), np.float32), int64([1, 2, 3])], 13, [0, 1, 0])
    assert got.tolist() == [1, 2]


@pytest.mark.parametrize("sizes", [[3, 2], [-1, 7], [6], [2, 2, 2], [2**62, 2**62]])
@pytest.mark.parametrize("opset", [2, 13])
def test_split_refuses_sizes(run_node: Any, sizes: Any, opset: int) -> None:
    x = np.ones(6, np.float32)
    inputs, attributes = ([x], {"split": sizes}) if opset == 2 else ([x, int64(sizes)], {})
    with pytest.raises(Exception, match="split"):
        run_node("Split", inputs, opset, [1] * 2, unranked=True, **attributes)


def test_split_declines_float_sizes(run_node: Any) -> None:
    with pytest.raises(Exception, match="sizes given as floats"):
        run_node("Split", [np.ones(5, np.float32), np.array([2, 3], np.float32)], 1, [1] * 2)


def test_split_refuses_parts(run_node: Any) -> None:
    with pytest.raises(Exception, match="equal parts, got 5"):
        run_node("Split", [np.ones(5, np.float32)], 13, [1] * 2, unranked=True)
    with pytest.raises(Exception, match="num_outputs"):
        run_node("Split", [np.ones(6, np.float32)], 18, [1] * 2, num_outputs=3)


def top(x: np.ndarray, k: int, axis: int, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """Order by value, then by index; NaN is larger than all."""
    keys = x.astype(np.float64) if x.dtype.kind not in "iu" else x.astype(object)
    order = np.argsort(keys, axis, kind="stable")  # NaN last
    if largest:
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
    order = np.take(order, range(k), axis)
    return np.take_along_axis(x, order, axis), order


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(
    ("shape", "k", "axis"),
    [((9,), 4, 0), ((9,), 9, -1), ((9,), 0, 0), ((3, 7), 2, 1), ((7, 3), 5, 0), ((2, 6, 3), 4, 1), ((90, 70), 20, 1)],
)
@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(run_node: Any, dtype: Any, shape: Any, k: int, axis: int, largest: int, rng: Any) -> None:
    x = rng.integers(0, 12, shape).astype(dtype)
    inputs, outputs = [x, int64([k])], [kind(x.dtype), INT64]
    values, indices = run_node("TopK", inputs, 24, outputs, threads=2, axis=axis, largest=largest)
    want_values, want_indices = top(x, k, axis, largest)
    same(values, want_values)
    same(indices, want_indices)


def test_top_k_of_extremes(run_node: Any) -> None:
    for x in ([2**63 - 1, -(2**63), 2**63 - 2], [np.nan, np.inf, -np.inf, np.nan, 0.0, -0.0]):
        array = np.array(x, np.int64 if isinstance(x[0], int) else np.float32)
        for largest in (0, 1):
            outputs = run_node("TopK", [array, int64([len(x)])], 11, [kind(array.dtype), INT64], largest=largest)
            assert outputs[1].tolist() == top(array, len(x), 0, largest)[1].tolist()


@pytest.mark.parametrize("opset", [1, 10])
def test_older_top_k(run_node: Any, opset: int) -> None:
    x = np.array([[1, 5, 3], [9, 2, 9]], np.float32)
    inputs, attributes = ([x], {"k": 2}) if opset == 1 else ([x, int64([2])], {})
    values, indices = run_node("TopK", inputs, opset, [1, INT64], **attributes)
    assert values.tolist() == [[5, 3], [9, 9]]
    assert indices.tolist() == [[1, 2], [0, 2]]


@pytest.mark.parametrize("k", [[4], [-1], [1, 1], []])
def test_top_k_refuses(run_node: Any, k: Any) -> None:
    with pytest.raises(Exception, match="K"):
        run_node("TopK", [np.ones((2, 3), np.float32), int64(k)], 11, [1, INT64], unranked=True)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (2, 3, 4), (0, 3), (3, 0), (2, 0, 3), (70, 90)], ids=str)
@pytest.mark.parametrize("k", [None, 0, 1, -1, 4, -4, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("upper", [0, 1])
def test_trilu(run_node: Any, dtype: Any, shape: Any, k: Any, upper: int) -> None:
    x = numbered(shape, dtype)
    rows, columns = np.indices(shape)[-2:]
    distance = (columns - rows).astype(object)
    kept = (distance >= (k or 0) if upper else distance <= (k or 0)).astype(bool)
    nothing = np.array("" if dtype is object else 0, dtype)
    inputs = [x] if k is None else [x, int64(k)]
    same(run_node("Trilu", inputs, 14, threads=2, upper=upper)[0], np.where(kept, x, nothing))


def test_trilu_refuses(run_node: Any) -> None:
    with pytest.raises(Exception, match="rank 2"):
        run_node("Trilu", [np.ones(3, np.float32)], 14)
    with pytest.raises(Exception, match=r"input 1 \(k\)"):
        run_node("Trilu", [np.ones((3, 3), np.float32), int64([1, 2])], 14, unranked=True)


def unique(x: np.ndarray, axis: Any, in_order: int) -> list[np.ndarray]:
    if x.dtype == object and axis is None:
        y, first, inverse, counts = np.unique(x.astype(str), True, True, True)
        y = y.astype(object)
    else:
        y, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not in_order:
        order = np.argsort(first)
        place = np.argsort(order)
        y = np.take(y, order, 0 if axis is None else axis)
        first, inverse, counts = first[order], place[inverse], counts[order]
    return [y, first, inverse, counts]


@pytest.mark.parametrize("dtype", [*INTEGERS, np.float16, np.float32, np.float64, np.bool_, object])
@pytest.mark.parametrize(("shape", "axis"), [((9,), None), ((9,), 0), ((3, 4), None), ((0,), None), ((1,), None)])
@pytest.mark.parametrize("in_order", [0, 1])
def test_unique(run_node: Any, dtype: Any, shape: Any, axis: Any, in_order: int, rng: Any) -> None:
    numbers = rng.integers(0, 4, shape)
    x = (
        np.array([f"text {i}" for i in numbers.flat], object).reshape(shape)
        if dtype is object
        else numbers.astype(dtype)
    )
    # numpy has no order along an axis of strings; for one axis it is the same.
    axis_of_numpy = None if dtype is object else axis
    attributes = {"sorted": in_order} | ({} if axis is None else {"axis": axis})
    gots = run_node("Unique", [x], 11, [kind(x.dtype), INT64, INT64, INT64], **attributes)
    for got, want in zip(gots, unique(x, axis_of_numpy, in_order), strict=True):
        same(got, want)


@pytest.mark.parametrize("shape", [(4, 2), (2, 5), (3, 4, 2), (6, 2, 2)], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("in_order", [0, 1])
def test_unique_slices(run_node: Any, shape: Any, axis: int, in_order: int, rng: Any) -> None:
    x = rng.integers(0, 2, shape).astype(np.float32)
    outputs = [1, INT64, INT64, INT64]
    gots = run_node("Unique", [x], 11, outputs, axis=axis, sorted=in_order)
    for got, want in zip(gots, unique(x, axis, in_order), strict=True):
        same(got, want)


def test_unique_of_special_values(run_node: Any) -> None:
    x = np.array([np.nan, 1, -np.inf, np.nan, 0.0, -0.0, np.inf], np.float32)
    y, first, inverse, counts = run_node("Unique", [x], 11, [1, INT64, INT64, INT64])
    assert first.tolist() == [2, 4, 1, 6, 0]
    assert inverse.tolist() == [4, 2, 0, 4, 1, 1, 3]
    assert counts.tolist() == [1, 2, 1, 1, 2]
    np.testing.assert_array_equal(y, x[first])


def test_unique_of_slices_without_elements(run_node: Any) -> None:
    y, counts = run_node("Unique", [np.ones((3, 0), np.float32)], 11, [1, 0, 0, INT64], axis=0)
    assert y.shape == (1, 0)
    assert counts.tolist() == [3]
    (y,) = run_node("Unique", [np.ones((0, 3), np.float32)], 11, [1], axis=0)
    assert y.shape == (0, 3)
