# SPDX-License-Identifier: Apache-2.0
"""RoiAlign, MaxRoiPool, NonMaxSuppression against plain float64 loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import int64, same
from onnx import TensorProto

INT64 = TensorProto.INT64


def bilinear(plane: np.ndarray, y: float, x: float) -> list[float]:
    """Return the four weighted corners that RoiAlign takes of a plane."""
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return [0.0] * 4
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    return [
        (1 - down) * (1 - across) * plane[top, left],
        (1 - down) * across * plane[top, right],
        down * (1 - across) * plane[bottom, left],
        down * across * plane[bottom, right],
    ]


def roi_align(
    x: Any, rois: Any, batches: Any, size: Any, ratio: int, scale: float, half: bool, mode: str
) -> np.ndarray:
    out = np.zeros((len(rois), x.shape[1], *size))
    for r, (box, batch) in enumerate(zip(rois * np.float64(scale) - (0.5 if half else 0), batches, strict=True)):
        extents = [box[3] - box[1], box[2] - box[0]]
        if not half:
            extents = [max(e, 1.0) for e in extents]
        bins = [e / s for e, s in zip(extents, size, strict=True)]
        points = [ratio or max(int(np.ceil(b)), 0) for b in bins]
        for c, i, j in np.ndindex(*out.shape[1:]):
            values = [
                bilinear(
                    x[batch, c],
                    box[1] + bins[0] * (i + (a + 0.5) / points[0]),
                    box[0] + bins[1] * (j + (b + 0.5) / points[1]),
                )
                for a in range(points[0])
                for b in range(points[1])
            ]
            if values:
                out[r, c, i, j] = np.max(values) if mode == "max" else np.sum(values) / len(values)
    return out


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(run_node: Any, rng: Any, dtype: Any, mode: str, half: bool, ratio: int) -> None:
    x = uniform(rng, (2, 70, 6, 7), dtype)
    # Sizes of bins stay away from whole numbers, where rounding would decide how many points they have.
    rois = np.array([[0, 0, 6, 5], [1, 2.5, 5, 4.25], [-3, -3, 9, 9], [4, 4, 3, 3], [20, 20, 25, 25]], dtype)
    batches = int64([0, 1, 1, 0, 1])
    where = "half_pixel" if half else "output_half_pixel"
    (got,) = run_node(
        "RoiAlign", [x, rois, batches], 22, threads=2, output_height=3, output_width=2, sampling_ratio=ratio, mode=mode,
        spatial_scale=1.125, coordinate_transformation_mode=where,
    )  # fmt: skip
    want = roi_align(x.astype(np.float64), rois.astype(np.float64), batches, (3, 2), ratio, 1.125, half, mode)
    assert got.dtype == dtype
    close(got, want, dtype, 8)


def test_the_first_roi_align_has_no_half_pixel(run_node: Any, rng: Any) -> None:
    x, rois = uniform(rng, (1, 2, 5, 5), np.float32), np.array([[0, 1, 3.3, 4.2]], np.float32)
    want = roi_align(x.astype(np.float64), rois.astype(np.float64), [0], (1, 1), 0, 1.0, False, "avg")
    close(run_node("RoiAlign", [x, rois, int64([0])], 10)[0], want, np.float32, 4)


@pytest.mark.parametrize(
    ("rois", "batches", "attributes", "message"),
    [
        ([[0, 0, 1, 1]], [1], {}, r"batch_indices.*\[0, 1\)"),
        ([[0, 0, 1, 1]], [0, 0], {}, "vector of 1"),
        ([[0, 0, 1]], [0], {}, r"\[regions, 4\]"),
        ([[0, 0, np.inf, 1]], [0], {}, "finite"),
        ([[0, 0, 1e9, 1]], [0], {}, "at most 32768"),
        ([[0, 0, 1, 1]], [0], {"mode": "sum"}, "avg or max"),
        ([[0, 0, 1, 1]], [0], {"sampling_ratio": -1}, "sampling_ratio"),
    ],
)
def test_roi_align_refuses(run_node: Any, rois: Any, batches: Any, attributes: Any, message: str) -> None:
    inputs = [np.ones((1, 1, 4, 4), np.float32), np.array(rois, np.float32), int64(batches)]
    with pytest.raises(Exception, match=message):
        run_node("RoiAlign", inputs, 16, unranked=True, **attributes)


def test_roi_align_without_regions(run_node: Any) -> None:
    inputs = [np.ones((1, 3, 4, 4), np.float32), np.ones((0, 4), np.float32), int64([])]
    assert run_node("RoiAlign", inputs, 16, output_height=2)[0].shape == (0, 3, 2, 1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_max_roi_pool(run_node: Any, rng: Any, dtype: Any) -> None:
    x = uniform(rng, (2, 3, 7, 9), dtype)
    rois = np.array([[0, 0, 0, 8, 6], [1, 2, 1, 6, 5], [0, 5, 5, 4, 4], [1, 20, 20, 30, 30], [1, -4, -4, 2, 2]], dtype)
    want = np.zeros((5, 3, 2, 3))
    for r, (batch, x1, y1, x2, y2) in enumerate(rois.astype(np.float64).astype(int)):
        height, width = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i, j in np.ndindex(2, 3):
            rows = [y1 + i * height // 2, y1 - (-(i + 1) * height // 2)]
            columns = [x1 + j * width // 3, x1 - (-(j + 1) * width // 3)]
            part = x[batch, :, slice(*np.clip(rows, 0, 7)), slice(*np.clip(columns, 0, 9))].astype(np.float64)
            if part.size:
                want[r, :, i, j] = part.max((1, 2))
    (got,) = run_node("MaxRoiPool", [x, rois], 22, threads=2, pooled_shape=[2, 3])
    assert got.dtype == dtype
    same(got.astype(np.float64), want)


def test_max_roi_pool_scales_and_rounds(run_node: Any) -> None:
    x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    (got,) = run_node(
        "MaxRoiPool", [x, np.array([[0, 1, 1, 5, 7]], np.float32)], 1, pooled_shape=[1, 1], spatial_scale=0.5
    )
    assert got.item() == 4 * 5 + 3  # 0.5, 0.5, 2.5 and 3.5 are rounded away from 0


@pytest.mark.parametrize(
    ("rois", "shape", "message"),
    [
        ([[2, 0, 0, 1, 1]], [1, 1], "batch"),
        ([[0, 0, 1, 1]], [1, 1], "regions, 5"),
        ([[0, 0, 0, 1, 1]], [1], "pooled_shape"),
        ([[0, 0, 0, np.nan, 1]], [1, 1], "less than"),
    ],
)
def test_max_roi_pool_refuses(run_node: Any, rois: Any, shape: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("MaxRoiPool", [np.ones((2, 1, 3, 3), np.float32), np.array(rois, np.float32)], 1, pooled_shape=shape)


def chosen_boxes(boxes: np.ndarray, scores: np.ndarray, most: int, threshold: float, least: float | None) -> list[Any]:
    """Return what NonMaxSuppression chooses, boxes given by corners y1, x1, y2, x2."""
    found = []
    for batch, c in np.ndindex(scores.shape[:2]):
        score, kept = scores[batch, c], []
        for i in np.argsort(-score, kind="stable"):
            if len(kept) == most or (least is not None and not score[i] > least):
                break
            a = boxes[batch, i]
            for k in kept:
                b = boxes[batch, k]
                low = np.maximum(np.minimum(a[:2], a[2:]), np.minimum(b[:2], b[2:]))
                high = np.minimum(np.maximum(a[:2], a[2:]), np.maximum(b[:2], b[2:]))
                shared = np.prod(np.maximum(high - low, 0))
                if (
                    shared > 0
                    and shared / (np.prod(abs(a[2:] - a[:2])) + np.prod(abs(b[2:] - b[:2])) - shared) > threshold
                ):
                    break
            else:
                kept.append(i)
        found += [[batch, c, int(i)] for i in kept]
    return found


@pytest.mark.parametrize("least", [None, 0.4])
@pytest.mark.parametrize("by_center", [0, 1])
@pytest.mark.parametrize("most", [0, 3, 100])
def test_non_max_suppression(run_node: Any, rng: Any, least: Any, by_center: int, most: int) -> None:
    boxes = rng.uniform(0, 1, (2, 40, 4)).astype(np.float32)
    scores = rng.permutation(2 * 3 * 40).reshape(2, 3, 40).astype(np.float32) / 240
    corners = boxes.astype(np.float64)
    if by_center:  # x, y of the middle, width, height
        corners = np.concatenate(
            [boxes[..., 1::-1] - boxes[..., :1:-1] / 2, boxes[..., 1::-1] + boxes[..., :1:-1] / 2], 2
        )
    limits = [int64([most]), np.array([0.3], np.float32), None if least is None else np.array([least], np.float32)]
    (got,) = run_node("NonMaxSuppression", [boxes, scores, *limits], 11, [INT64], threads=2, center_point_box=by_center)
    assert got.shape[1] == 3
    assert got.tolist() == chosen_boxes(corners, scores, most, 0.3, least)


def test_non_max_suppression_of_equal_and_odd_scores(run_node: Any) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 1], [5, 5, 6, 6], [9, 9, 8, 8], [3, 3, 3, 3]]], np.float32)
    scores = np.array([[[1, 1, np.nan, 2, 1]]], np.float32)
    inputs = [boxes, scores, np.array(9, np.int64), np.array(0.5, np.float32)]
    (got,) = run_node("NonMaxSuppression", inputs, 10, [INT64])
    assert got[:, 2].tolist() == [3, 0, 4, 2]  # of equal scores the first; no number comes last; nothing has no overlap
    assert run_node("NonMaxSuppression", [boxes, scores], 10, [INT64])[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("boxes", "scores", "threshold", "message"),
    [
        ((1, 3, 5), (1, 1, 3), 0.5, "boxes, 4"),
        ((1, 3, 4), (1, 1, 2), 0.5, "scores"),
        ((1, 3, 4), (1, 1, 3), 1.5, r"\[0, 1\], got 1.5"),
    ],
)
def test_non_max_suppression_refuses(run_node: Any, boxes: Any, scores: Any, threshold: float, message: str) -> None:
    inputs = [np.ones(boxes, np.float32), np.ones(scores, np.float32), int64([1]), np.array([threshold], np.float32)]
    with pytest.raises(Exception, match=message):
        run_node("NonMaxSuppression", inputs, 11, [INT64])
