# SPDX-License-Identifier: Apache-2.0
"""GridSample and AffineGrid against float64 formulas: ten units of the type's precision (float_checks.TOLERANCE)."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import int64, numbered, same

NAMES_16 = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}


def weights_of(mode: str, x: float) -> list[tuple[int, float]]:
    """Return the places that a position looks at, and how much of each it takes."""
    floor = int(np.floor(x))
    t = x - floor
    if mode == "nearest":
        return [(int(np.rint(x)), 1.0)]
    if mode == "linear":
        return [(floor, 1 - t), (floor + 1, t)]

    def kernel(d: float) -> float:  # Keys, a = -0.75
        d, a = abs(d), -0.75
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a

    return [(floor + i, kernel(t - i)) for i in (-1, 0, 1, 2)]


def reflected(x: float, low: float, high: float) -> float:
    """Fold a position into [low, high], as a triangle wave."""
    if high <= low:
        return 0.0
    phase = (x - low) % (2 * (high - low))
    return low + min(phase, 2 * (high - low) - phase)


def along(position: float, extent: int, mode: str, padding: str, align: bool) -> list[tuple[int | None, float]]:
    """Return the taps along one axis; a place of None is outside."""
    low, high = (0.0, extent - 1.0) if align else (-0.5, extent - 0.5)
    x = (position + 1) / 2 * (extent - 1) if align else ((position + 1) * extent - 1) / 2
    if mode == "nearest":
        x = float(np.rint(x))
    if not low <= x <= high and padding == "border":
        x = min(max(x, 0.0), extent - 1.0)
    elif not low <= x <= high and padding == "reflection":
        x = reflected(x, low, high)
    taps: list[tuple[int | None, float]] = []
    for place, weight in weights_of(mode, x):
        inside: int | None = place
        if not 0 <= place < extent:
            if padding == "zeros":
                inside = None
            elif padding == "border":
                inside = min(max(place, 0), extent - 1)
            else:
                inside = int(np.clip(reflected(place, low, high), 0, extent - 1))
        taps.append((inside, weight))
    return taps


def sample(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, align: bool) -> np.ndarray:
    """Return what GridSample gives, in float64."""
    batch, channels, *extents = x.shape
    out = np.zeros((batch, channels, *grid.shape[1:-1]))
    for n, *place in np.ndindex(batch, *grid.shape[1:-1]):
        position = grid[(n, *place)].astype(np.float64)[::-1]
        axes = [along(p, e, mode, padding, align) for p, e in zip(position, extents, strict=True)]
        for taps in itertools.product(*axes):
            if all(where is not None for where, _ in taps):
                weight = np.prod([w for _, w in taps])
                out[(n, slice(None), *place)] += weight * x[(n, slice(None), *(w for w, _ in taps))].astype(np.float64)
    return out


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize(
    ("shape", "out"),
    [
        ((2, 3, 4, 5), (3, 2)),
        ((2, 2, 4, 3), (7, 11)),
        ((1, 2, 1, 3), (2, 2)),
        ((1, 2, 3, 2, 4), (2, 1, 3)),
        ((2, 1, 6), (4,)),
    ],
    ids=str,
)
def test_grid_sample(run_node: Any, rng: Any, mode: str, padding: str, align: int, shape: Any, out: Any) -> None:
    for dtype in (np.float32, np.float64):
        x = uniform(rng, shape, dtype)
        grid = rng.uniform(-2.2, 2.2, (shape[0], *out, len(shape) - 2)).astype(dtype)
        want = sample(x, grid, mode, padding, bool(align))
        attributes = {"padding_mode": padding, "align_corners": align}
        close(run_node("GridSample", [x, grid], 20, threads=2, mode=mode, **attributes)[0], want, dtype, 10)
        if len(shape) == 4:
            close(run_node("GridSample", [x, grid], 16, mode=NAMES_16[mode], **attributes)[0], want, dtype, 10)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("grid_dtype", FLOATS)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_grid_sample_of_every_float(run_node: Any, rng: Any, dtype: Any, grid_dtype: Any, mode: str) -> None:
    x, grid = uniform(rng, (1, 2, 5, 4), dtype), rng.uniform(-1.2, 1.2, (1, 3, 3, 2)).astype(grid_dtype)
    (got,) = run_node("GridSample", [x, grid], 22, mode=mode)
    assert got.dtype == dtype
    close(got, sample(x, grid, mode, "zeros", False), dtype, 10)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32])
def test_interpolated_integers_are_rounded(run_node: Any, rng: Any, dtype: Any) -> None:
    x, grid = rng.integers(0, 100, (1, 2, 4, 4)).astype(dtype), rng.uniform(-1.2, 1.2, (1, 5, 5, 2)).astype(np.float32)
    want = sample(x, grid, "linear", "border", False)
    (got,) = run_node("GridSample", [x, grid], 20, mode="linear", padding_mode="border")
    assert got.dtype == dtype
    assert np.abs(got - want).max() <= 0.5001


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int32, np.uint64, *FLOATS])
def test_nearest_takes_every_number(run_node: Any, rng: Any, dtype: Any) -> None:
    x, grid = numbered((2, 3, 4, 5), dtype), rng.uniform(-1, 1, (2, 3, 4, 2)).astype(np.float32)
    want = np.empty((2, 3, 3, 4), x.dtype)
    for n, row, column in np.ndindex(2, 3, 4):
        at = [round(((float(p) + 1) * e - 1) / 2) for p, e in zip(grid[n, row, column][::-1], (4, 5), strict=True)]
        want[n, :, row, column] = x[n, :, min(max(at[0], 0), 3), min(max(at[1], 0), 4)]
    same(run_node("GridSample", [x, grid], 22, mode="nearest", padding_mode="border")[0], want)


def test_positions_that_are_no_place(run_node: Any) -> None:
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    grid = np.array([[np.nan, 0], [np.inf, 0], [-np.inf, 0], [1e30, -1e30]], np.float32).reshape(1, 4, 1, 2)
    for mode in ("linear", "nearest", "cubic"):
        assert run_node("GridSample", [x, grid], 20, mode=mode)[0].ravel().tolist() == [0, 0, 0, 0]
        for padding in ("border", "reflection"):
            (got,) = run_node("GridSample", [x, grid], 20, mode=mode, padding_mode=padding)
            assert np.isfinite(got).all()
            assert 1 <= got.min() <= got.max() <= 6


def test_what_has_no_weight_is_not_looked_at(run_node: Any) -> None:
    x = np.array([1, np.nan, np.inf], np.float32).reshape(1, 1, 1, 3)
    grid = np.array([[-1, 0]], np.float32).reshape(1, 1, 1, 2)
    assert run_node("GridSample", [x, grid], 20, mode="linear", align_corners=1)[0].item() == 1
    square = np.array([[np.inf, 1], [np.nan, 2]], np.float32).reshape(1, 1, 2, 2)
    grid = np.array([[1, -1], [1, 1], [5, 5], [1, 0]], np.float32).reshape(1, 1, 4, 2)
    got = run_node("GridSample", [square, grid], 20, mode="linear", align_corners=1)[0]
    assert got.ravel().tolist() == [1, 2, 0, 1.5]


def test_grid_sample_without_elements(run_node: Any) -> None:
    x, grid = np.ones((2, 3, 4, 5), np.float32), np.zeros((2, 0, 3, 2), np.float32)
    assert run_node("GridSample", [x, grid], 20)[0].shape == (2, 3, 0, 3)
    assert run_node("GridSample", [x[:, :0], np.zeros((2, 1, 3, 2), np.float32)], 20)[0].shape == (2, 0, 1, 3)
    with pytest.raises(Exception, match="must have elements to sample"):
        run_node("GridSample", [x[:, :, :0], np.zeros((2, 1, 3, 2), np.float32)], 20)


@pytest.mark.parametrize(
    ("shape", "grid", "attributes", "message"),
    [
        ((1, 1, 2, 2), (1, 2, 2, 3), {}, "positions of 2 numbers"),
        ((1, 1, 2, 2), (2, 2, 2, 2), {}, "batch 1"),
        ((1, 1, 2, 2), (1, 2, 2), {}, "rank 4"),
        ((1, 1, 2, 2), (1, 2, 2, 2), {"mode": "bilinear"}, "must be nearest, linear or cubic, got bilinear"),
        ((1, 1, 2, 2), (1, 2, 2, 2), {"padding_mode": "none"}, "padding_mode"),
    ],
)
def test_grid_sample_refuses(run_node: Any, shape: Any, grid: Any, attributes: Any, message: str) -> None:
    inputs = [np.ones(shape, np.float32), np.ones(grid, np.float32)]
    with pytest.raises(Exception, match=message):
        run_node("GridSample", inputs, 20, unranked=True, **attributes)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("extents", [(3, 4), (2, 1), (1, 5), (2, 3, 4), (1, 1, 2)], ids=str)
def test_affine_grid(run_node: Any, rng: Any, dtype: Any, align: int, extents: Any) -> None:
    axes = len(extents)
    theta = uniform(rng, (2, axes, axes + 1), dtype)
    lines = []
    for extent in extents:
        step = 2 / max(extent - 1, 1) if align else 2 / extent
        lines.append((-1 if align else -1 + step / 2) + step * np.arange(extent))
    mesh = np.meshgrid(*lines, indexing="ij")[::-1]  # x, the last axis, first
    points = np.stack([*mesh, np.ones(extents)], -1)
    want = np.einsum("nij,...j->n...i", theta.astype(np.float64), points)
    (got,) = run_node("AffineGrid", [theta, int64([2, 7, *extents])], 20, threads=2, align_corners=align)
    assert got.dtype == dtype
    close(got, want, dtype, 4)


@pytest.mark.parametrize(
    ("theta", "size", "message"),
    [
        ((1, 2, 3), [1, 1, 2], "2 or 3 extents"),
        ((1, 2, 3), [2, 1, 2, 2], "theta"),
        ((1, 2, 3), [1, 1, 2, 2, 2], "3, 4"),
    ],
)
def test_affine_grid_refuses(run_node: Any, theta: Any, size: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("AffineGrid", [np.ones(theta, np.float32), int64(size)], 20)


def test_affine_grid_without_elements(run_node: Any) -> None:
    theta = np.ones((0, 2, 3), ml_dtypes.bfloat16)
    assert run_node("AffineGrid", [theta, int64([0, 1, 3, 4])], 20)[0].shape == (0, 3, 4, 2)
    assert run_node("AffineGrid", [np.ones((1, 2, 3), np.float16), int64([1, 1, 0, 4])], 20)[0].shape == (1, 0, 4, 2)
