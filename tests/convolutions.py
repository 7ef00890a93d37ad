# SPDX-License-Identifier: Apache-2.0
"""Convolutions as sums over windows, in float64 or, of such inputs, in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np


def wide(x: np.ndarray) -> Any:
    """Return the type to compute in."""
    return np.longdouble if x.dtype == np.longdouble else np.float64


def windows(x: np.ndarray, kernel: Any, strides: Any, dilations: Any, pads: Any, fill: float) -> np.ndarray:
    """Return what each output position sees: [batch, channels, *outputs, *kernel]."""
    rank = len(kernel)
    widths = [(0, 0), (0, 0), *((pads[d], pads[d + rank]) for d in range(rank))]
    padded = np.pad(x.astype(wide(x)), widths, constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=tuple(range(2, 2 + rank)))
    steps = [slice(None)] * 2 + [slice(None, None, s) for s in strides] + [slice(None, None, d) for d in dilations]
    return view[tuple(steps)]


def convolve(x: Any, w: Any, b: Any, strides: Any, dilations: Any, pads: Any, group: int) -> np.ndarray:
    """Return a convolution in float64; the bias `b` may be None."""
    rank = x.ndim - 2
    seen = windows(x, w.shape[2:], strides, dilations, pads, 0)
    filters = w.astype(wide(w))
    parts = []
    for g in range(group):
        channels, out = w.shape[1], w.shape[0] // group
        part = seen[:, g * channels : (g + 1) * channels]
        axes = ([1, *range(2 + rank, 2 + 2 * rank)], [1, *range(2, 2 + rank)])
        parts.append(np.moveaxis(np.tensordot(part, filters[g * out : (g + 1) * out], axes), -1, 1))
    y = np.concatenate(parts, 1)
    return y if b is None else y + b.astype(wide(b)).reshape((-1,) + (1,) * rank)
