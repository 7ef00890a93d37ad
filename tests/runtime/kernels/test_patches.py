# SPDX-License-Identifier: Apache-2.0
"""Col2Im, DeformConv, CenterCropPad against plain float64 loops."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import MOVED_DTYPES, int64, numbered, same


def col2im(x: Any, image: Any, block: Any, strides: Any, dilations: Any, pads: Any) -> np.ndarray:
    axes = len(image)
    positions = [
        (image[d] + pads[d] + pads[d + axes] - dilations[d] * (block[d] - 1) - 1) // strides[d] + 1 for d in range(axes)
    ]
    columns = x.reshape(x.shape[0], -1, *block, *positions)
    out = np.zeros((*columns.shape[:2], *image), x.dtype)
    for k in np.ndindex(*block):
        for p in np.ndindex(*positions):
            at = tuple(p[d] * strides[d] - pads[d] + k[d] * dilations[d] for d in range(axes))
            if all(0 <= a < e for a, e in zip(at, image, strict=True)):
                out[(slice(None), slice(None), *at)] += columns[(slice(None), slice(None), *k, *p)]
    return out


@pytest.mark.parametrize(
    ("image", "block", "strides", "dilations", "pads"),
    [
        ((5, 5), (1, 5), (1, 1), (1, 1), (0, 0, 0, 0)),
        ((5, 6), (2, 3), (2, 1), (1, 2), (1, 0, 0, 1)),
        ((7,), (3,), (2,), (1,), (1, 1)),
        ((3, 4, 5), (2, 2, 2), (1, 2, 1), (1, 1, 2), (0, 1, 0, 0, 1, 1)),
    ],
)
def test_col2im(run_node: Any, rng: Any, image: Any, block: Any, strides: Any, dilations: Any, pads: Any) -> None:
    axes = len(image)
    count = np.prod(
        [
            (image[d] + pads[d] + pads[d + axes] - dilations[d] * (block[d] - 1) - 1) // strides[d] + 1
            for d in range(axes)
        ]
    )
    shape = (2, 3 * int(np.prod(block)), int(count))
    attributes = {"strides": strides, "dilations": dilations, "pads": pads}
    for dtype in (np.int8, np.uint16, np.int32, np.int64, np.uint64):
        x = rng.integers(0, 100, shape).astype(dtype)
        (got,) = run_node("Col2Im", [x, int64(image), int64(block)], 18, threads=2, **attributes)
        same(got, col2im(x, image, block, strides, dilations, pads))
    for dtype in FLOATS:
        x = uniform(rng, shape, dtype)
        (got,) = run_node("Col2Im", [x, int64(image), int64(block)], 18, **attributes)
        assert got.dtype == dtype
        close(got, col2im(x.astype(np.float64), image, block, strides, dilations, pads), dtype, 10)


def test_col2im_of_bools_is_their_or(run_node: Any) -> None:
    x = np.array([[[1, 0, 1], [0, 0, 1]]], bool)
    assert run_node("Col2Im", [x, int64([4]), int64([2])], 18)[0].tolist() == [[[True, False, True, True]]]


@pytest.mark.parametrize(
    ("shape", "image", "block", "message"),
    [
        ((1, 5, 9), [4, 4], [2, 2], "multiple of the block's 4"),
        ((1, 4, 8), [4, 4], [2, 2], "9 positions"),
        ((1, 4, 9), [4, 4], [2], "as many extents"),
        ((1, 4, 9), [4, 4], [2, 0], "positive"),
        ((4, 9), [4, 4], [2, 2], "batch, channels times block"),
        ((1, 25, 1), [4, 4], [5, 5], "more than there are"),
    ],
)
def test_col2im_refuses(run_node: Any, shape: Any, image: Any, block: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("Col2Im", [np.ones(shape, np.float32), int64(image), int64(block)], 18, unranked=True)


def deform_conv(x: Any, w: Any, offset: Any, bias: Any, mask: Any, a: dict[str, Any]) -> np.ndarray:
    n, channels, *extents = x.shape
    filters, per_group, *taps = w.shape
    axes = len(extents)
    groups, offset_groups = a.get("group", 1), a.get("offset_group", 1)
    strides, dilations = a.get("strides", (1,) * axes), a.get("dilations", (1,) * axes)
    pads = a.get("pads", (0,) * 2 * axes)[:axes]
    made = offset.shape[2:]
    offset = offset.reshape(n, offset_groups, *taps, axes, *made)
    mask = np.ones((n, offset_groups, *taps, *made)) if mask is None else mask.reshape(n, offset_groups, *taps, *made)
    out = np.zeros((n, filters, *made))
    padded = np.pad(x, [(0, 0), (0, 0), *[(1, 1)] * axes])
    for b, f, c, *rest in np.ndindex(n, filters, per_group, *made, *taps):
        at, tap = rest[:axes], rest[axes:]
        channel = f // (filters // groups) * per_group + c
        group = channel // (channels // offset_groups)
        places = np.array(at) * strides - pads + np.array(tap) * dilations
        point = places + offset[(b, group, *tap, slice(None), *at)]
        if not all(-1 < y < extent for y, extent in zip(point, extents, strict=True)):
            continue
        low = np.floor(point).astype(int)
        value = padded[(b, channel, *(slice(i + 1, i + 3) for i in low))]
        for part in point - low:
            value = np.tensordot([1 - part, part], value, 1)
        out[(b, f, *at)] += w[(f, c, *tap)] * value * mask[(b, group, *tap, *at)]
    return out if bias is None else out + bias.reshape(1, -1, *[1] * axes)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("attributes", "extents"),
    [
        ({}, (4, 5)),
        ({"group": 2, "offset_group": 2, "pads": (1, 0, 1, 2), "strides": (2, 1)}, (3, 7)),
        ({"dilations": (2, 3), "offset_group": 4, "pads": (0, 1, 0, 0)}, (3, 4)),
    ],
)
@pytest.mark.parametrize("extras", [False, True])
def test_deform_conv(run_node: Any, rng: Any, dtype: Any, attributes: Any, extents: Any, extras: bool) -> None:
    groups, offset_groups = attributes.get("group", 1), attributes.get("offset_group", 1)
    x, w = uniform(rng, (2, 4, 5, 6), dtype), uniform(rng, (6, 4 // groups, 2, 2), dtype)
    offset = rng.uniform(-2, 2, (2, offset_groups * 8, *extents)).astype(dtype)
    bias = uniform(rng, (6,), dtype) if extras else None
    mask = uniform(rng, (2, offset_groups * 4, *extents), dtype) if extras else None
    wide = [None if a is None else a.astype(np.float64) for a in (x, w, offset, bias, mask)]
    # An offset in 16 bits is exact, but its sum with a position is rounded to float32 first.
    (got,) = run_node("DeformConv", [x, w, offset, bias, mask], 22, threads=2, **attributes)
    assert got.dtype == dtype
    close(got, deform_conv(*wide, attributes), dtype, 20)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("extents", "taps", "made", "attributes"),
    [
        ((9,), (3,), (5,), {"strides": (2,), "pads": (1, 1), "group": 2, "offset_group": 2}),
        ((4, 3, 5), (2, 1, 2), (3, 3, 2), {"dilations": (1, 1, 3)}),
        ((3, 2, 2, 3), (2, 1, 2, 1), (2, 2, 1, 3), {"offset_group": 2}),
    ],
)
def test_deform_conv_of_other_ranks(
    run_node: Any, rng: Any, dtype: Any, extents: Any, taps: Any, made: Any, attributes: Any
) -> None:
    points = attributes.get("offset_group", 1) * int(np.prod(taps))
    x = uniform(rng, (2, 4, *extents), dtype)
    w = uniform(rng, (2, 4 // attributes.get("group", 1), *taps), dtype)
    offset = rng.uniform(-2, 2, (2, points * len(extents), *made)).astype(dtype)
    mask = uniform(rng, (2, points, *made), dtype)
    bias = uniform(rng, (2,), dtype)
    wide = [a.astype(np.float64) for a in (x, w, offset, bias, mask)]
    (got,) = run_node("DeformConv", [x, w, offset, bias, mask], 22, threads=2, **attributes)
    assert got.dtype == dtype
    close(got, deform_conv(*wide, attributes), dtype, 20)


@pytest.mark.parametrize(
    ("inputs", "attributes", "message"),
    [
        ([(1, 2, 3, 3), (1, 2, 2, 2), (1, 7, 2, 2)], {}, r"offset.*\[1, 8, 2, 2\]"),
        ([(1, 2, 3, 3), (1, 3, 2, 2), (1, 8, 2, 2)], {}, r"W\)"),
        ([(1, 2, 3, 3), (1, 2, 2, 2), (1, 8, 2, 2), (2,)], {}, "vector of 1"),
        ([(1, 2, 3, 3), (1, 2, 2, 2), (1, 8, 2, 2), None, (1, 5, 2, 2)], {}, r"mask.*\[1, 4, 2, 2\]"),
        ([(1, 2, 3, 3), (1, 2, 2, 2), (1, 8, 2, 2)], {"offset_group": 3}, "offset_group"),
        ([(1, 2, 3), (1, 2, 2), (1, 3, 2)], {}, r"offset.*\[1, 2, 2\]"),
        ([(1, 2), (1, 2), (1, 2)], {}, r"X\): must have 1 to 6 spatial axes"),
        ([(1,) * 9, (1,) * 9, (1,) * 9], {}, r"X\): must have 1 to 6 spatial axes"),
        ([(1, 2, 3, 3), (1, 2, 2, 2), (1, 8, 2, 2)], {"kernel_shape": [3, 3]}, "kernel_shape"),
    ],
)
def test_deform_conv_refuses(run_node: Any, inputs: Any, attributes: Any, message: str) -> None:
    arrays = [None if shape is None else np.ones(shape, np.float32) for shape in inputs]
    with pytest.raises(Exception, match=message):
        run_node("DeformConv", arrays, 19, unranked=True, **attributes)


@pytest.mark.parametrize("dtype", [*MOVED_DTYPES, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    ("shape", "wanted", "axes"),
    [
        ((5, 4), (3, 7), None),
        ((4, 5, 3), (7, 2), [2, 0]),
        ((3, 3), (3, 2), None),
        ((2, 3), (5,), [-1]),
        ((2, 0), (3, 3), None),
    ],
)
def test_center_crop_pad(run_node: Any, dtype: Any, shape: Any, wanted: Any, axes: Any) -> None:
    x = numbered(shape, dtype)
    want = x
    for axis, extent in zip(range(len(shape)) if axes is None else axes, wanted, strict=True):
        have = want.shape[axis]
        if extent <= have:
            first = (have - extent) // 2
            want = np.take(want, range(first, first + extent), axis)
        else:
            before = (extent - have) // 2
            filler = "" if dtype is object else np.zeros((), x.dtype)
            pads = [(0, 0)] * want.ndim
            pads[axis] = (before, extent - have - before)
            want = np.pad(want, pads, constant_values=filler)
    attributes = {} if axes is None else {"axes": axes}
    same(run_node("CenterCropPad", [x, int64(wanted)], 18, threads=2, **attributes)[0], want)


@pytest.mark.parametrize(
    ("wanted", "axes", "message"),
    [([1], {}, "2 extents"), ([-1, 2], {}, "negative"), ([1, 1], {"axes": [0, -2]}, "twice")],
)
def test_center_crop_pad_refuses(run_node: Any, wanted: Any, axes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("CenterCropPad", [np.ones((2, 2), np.float32), int64(wanted)], 18, **axes)


def test_deform_conv_of_no_channels_is_the_bias(run_node: Any) -> None:
    for dtype in FLOATS:
        arrays = [np.ones(shape, dtype) for shape in ((1, 0, 3, 3), (2, 0, 2, 2), (1, 8, 2, 2))]
        (got,) = run_node("DeformConv", [*arrays, np.array([1.5, -2], dtype)], 22)
        assert got.tolist() == [[[[1.5] * 2] * 2, [[-2] * 2] * 2]]


@pytest.mark.parametrize("extents", [(0, 3), (3, 0), (0, 0)])
def test_deform_conv_of_nothing_but_padding_is_the_bias(run_node: Any, extents: Any) -> None:
    """A point may lie between the padding and a plane that has no elements to be read."""
    outputs = [extent + 1 for extent in extents]
    x, offset = np.zeros((1, 2, *extents), np.float32), np.full((1, 2, *outputs), 0.5, np.float32)
    arrays = [x, np.ones((1, 2, 1, 1), np.float32), offset, np.array([1.5], np.float32)]
    (got,) = run_node("DeformConv", arrays, 22, pads=[1, 1, 0, 0])
    np.testing.assert_array_equal(got, np.full((1, 1, *outputs), 1.5))


def test_deform_conv_looks_at_nothing_of_no_weight(run_node: Any) -> None:
    x = np.array([[1, np.inf, 3], [np.nan, 5, 6]], np.float32).reshape(1, 1, 2, 3)
    offset = np.zeros((1, 2, 2, 3), np.float32)
    weight = np.ones((1, 1, 1, 1), np.float32)
    np.testing.assert_array_equal(run_node("DeformConv", [x, weight, offset], 22)[0], x)
    (got,) = run_node("DeformConv", [x, weight, np.full_like(offset, 100)], 22)
    np.testing.assert_array_equal(got, np.zeros_like(x))
