# SPDX-License-Identifier: Apache-2.0
"""Interpolation in extended precision: each result is a sum of elements with weights that depend on its position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from error_cases.case import FLOATS, Case, Exact, near

Rng = np.random.Generator
STEEP = Exact(-0.75)  # a of the cubic kernel


def taps(mode: str, position: Any) -> list[tuple[int, Any]]:
    """Return the places around a position with their weights."""
    first = int(np.floor(position))
    t = position - first
    if mode == "linear":
        return [(first, 1 - t), (first + 1, t)]

    def kernel(d: Any) -> Any:
        d, a = abs(d), STEEP
        if d <= 1:
            return ((a + 2) * d - (a + 3)) * d * d + 1
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [(first + i, kernel(t - i)) for i in (-1, 0, 1, 2)]


def matrix(mode: str, extent: int, scale: Any) -> Any:
    """Return the weights of all elements of a line for each of the resized one, its ends repeated."""
    out = int(np.floor(extent * float(scale)))
    weights = np.zeros((out, extent), Exact)
    for i in range(out):
        for place, weight in taps(mode, (i + Exact(0.5)) / Exact(float(scale)) - Exact(0.5)):
            weights[i, min(max(place, 0), extent - 1)] += weight
    return weights


def resized(mode: str) -> Any:
    """Return Resize of the last two axes."""

    def exact(x: Any, _: Any, scales: Any) -> Any:
        down, across = (matrix(mode, x.shape[axis], scales[axis]) for axis in (2, 3))
        return down @ x @ across.T, np.abs(down) @ np.abs(x) @ np.abs(across).T

    return exact


def image(rng: Rng, dtype: Any) -> list[Any]:
    """Return an image and its scales."""
    return [near(rng, (2, 2, 6, 8), dtype), None, np.array([1, 1, 2, 1.5], np.float32)]


def sampled(mode: str) -> Any:
    """Return GridSample with zeros around the image; a rounding of a position moves it by as much as the extent."""

    def exact(x: Any, grid: Any) -> Any:
        rows, columns = x.shape[2:]
        y = np.zeros((len(x), x.shape[1], *grid.shape[1:3]), Exact)
        for n, i, j in np.ndindex(len(x), *grid.shape[1:3]):
            at = [
                ((position + 1) * extent - 1) / 2
                for position, extent in zip(grid[n, i, j], (columns, rows), strict=True)
            ]
            for row, a in taps(mode, at[1]):
                for column, b in taps(mode, at[0]):
                    if 0 <= row < rows and 0 <= column < columns:
                        y[n, :, i, j] += a * b * x[n, :, row, column]
        return y, np.abs(x).max() * max(rows, columns)

    return exact


def image_and_grid(rng: Rng, dtype: Any) -> list[Any]:
    """Return an image and where to look at it, partly outside."""
    return [near(rng, (2, 3, 8, 9), dtype), rng.uniform(-1.1, 1.1, (2, 4, 5, 2)).astype(dtype)]


def upsampled(x: Any, scales: Any) -> Any:
    """Upsample, whose first element stays where it is."""
    matrices = []
    for axis in (2, 3):
        extent = x.shape[axis]
        weights = np.zeros((int(extent * scales[axis]), extent), Exact)
        for i in range(len(weights)):
            for place, weight in taps("linear", min(i / Exact(float(scales[axis])), Exact(extent - 1))):
                weights[i, min(place, extent - 1)] += weight
        matrices.append(weights)
    down, across = matrices
    return down @ x @ across.T, np.abs(down) @ np.abs(x) @ np.abs(across).T


def deformed(x: Any, w: Any, offset: Any, b: Any) -> Any:
    """A convolution 3 x 3 whose places are moved by offsets: of rows and of columns, for each weight and result."""
    rows, columns = x.shape[2:]
    y = np.zeros((len(x), len(w), rows - 2, columns - 2), Exact) + b[:, None, None]
    for i, j, k in np.ndindex(rows - 2, columns - 2, 9):
        down, right = divmod(k, 3)
        row, column = i + down + offset[0, 2 * k, i, j], j + right + offset[0, 2 * k + 1, i, j]
        for r, f in taps("linear", row):
            for c, g in taps("linear", column):
                if 0 <= r < rows and 0 <= c < columns:
                    y[0, :, i, j] += f * g * (w[:, :, down, right] @ x[0, :, r, c])
    terms = np.abs(w).sum((1, 2, 3))[:, None, None] * np.abs(x).max()
    return y, terms * rows + np.abs(b)[:, None, None]


def moved(rng: Rng, dtype: Any) -> list[Any]:
    """Return an image, weights, offsets and a bias."""
    shapes = ((1, 3, 7, 6), (4, 3, 3, 3), (1, 18, 5, 4), (4,))
    return [near(rng, shape, dtype) for shape in shapes]


def affine_grid(theta: Any, size: Any) -> Any:
    """The positions of pixels, transformed."""
    batch, _, rows, columns = (int(n) for n in size)
    y, x = ((2 * np.arange(n, dtype=Exact) + 1) / n - 1 for n in (rows, columns))
    places = np.stack([*np.broadcast_arrays(x[None], y[:, None]), np.ones((rows, columns), Exact)], -1)
    return (
        np.einsum("hwk,bjk->bhwj", places, theta.reshape(batch, 2, 3)),
        np.einsum("hwk,bjk->bhwj", np.abs(places), np.abs(theta)),
    )


def cases() -> Iterator[Case]:
    """Yield them."""
    for mode in ("linear", "cubic"):
        yield Case("Resize", 19, image, resized(mode), {"mode": mode}, mode)
        yield Case("GridSample", 22, image_and_grid, sampled(mode), {"mode": mode}, mode)
    upsample = lambda rng, dtype: [near(rng, (2, 2, 6, 8), dtype), np.array([1, 1, 2, 1.5], np.float32)]  # noqa: E731
    yield Case("Upsample", 9, upsample, upsampled, {"mode": "linear"}, dtypes=FLOATS[:3])
    yield Case("DeformConv", 22, moved, deformed, {"kernel_shape": [3, 3]})
    yield Case("AffineGrid", 20, lambda rng, dtype: [near(rng, (2, 2, 3), dtype), np.array([2, 1, 5, 7])], affine_grid)
