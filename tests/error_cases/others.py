# SPDX-License-Identifier: Apache-2.0
"""Windows, spectra, ranges, scales and linear models in extended precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from error_cases.case import FLOATS, Case, Exact, f32, near

Rng = np.random.Generator
TAU = 2 * Exact("3.14159265358979323846264338327950288")
SINGLE = (np.float32,)
COEFFICIENTS = [-0.5, 1.25, 3.0, -2.0, 0.75, 0.1]


def window(*weights: Any) -> Any:
    """Return a sum of cosines over a period."""

    def exact(size: Any) -> Any:
        angles = TAU * np.arange(int(size)) / int(size)
        return sum(weight * np.cos(k * angles) for k, weight in enumerate(weights)), Exact(1)

    return exact


WINDOWS = {
    "HannWindow": window(Exact(1) / 2, -Exact(1) / 2),
    "HammingWindow": window(Exact(25) / 46, -Exact(21) / 46),
    "BlackmanWindow": window(Exact("0.42"), -Exact(1) / 2, Exact("0.08")),
}
ELEMENT = {np.float32: 1, np.float64: 11, np.float16: 10, ml_dtypes.bfloat16: 16}


def spectra(signal: Any, step: Any, shape: Any, length: Any) -> Any:
    """The transforms of windows of a signal, of as many frequencies as tell them all."""
    n, advance = int(length), int(step)
    frames = np.stack([signal[:, at : at + n, 0] for at in range(0, signal.shape[1] - n + 1, advance)], 1) * shape
    angles = -TAU * (np.arange(n // 2 + 1)[:, None] * np.arange(n) % n) / n
    y = np.stack([frames @ np.cos(angles).T, frames @ np.sin(angles).T], -1)
    return y, np.sqrt((frames * frames).sum(-1))[..., None, None] * np.log2(Exact(n)) * np.ones_like(y)


def range_of(start: Any, limit: Any, delta: Any) -> Any:
    """Numbers at equal distances."""
    y = start + np.arange(int(np.ceil((limit - start) / delta))) * delta
    return y, np.abs(start) + np.abs(y - start)


def dequantized(x: Any, scale: Any, zero: Any) -> Any:
    """Numbers of codes."""
    return (x.astype(Exact) - zero.astype(Exact)) * scale


def codes(rng: Rng, dtype: Any) -> list[np.ndarray]:
    """Return codes, their scale and their zero."""
    scale = np.array(0.0371, np.float64).astype(dtype)
    return [rng.integers(-128, 128, 500).astype(np.int8), scale, np.array(-5, np.int8)]


def linear_model(x: Any) -> Any:
    """Two rows of coefficients and their intercepts."""
    w = np.array([f32(v) for v in COEFFICIENTS], Exact).reshape(2, 3)
    b = np.array([f32(0.3), f32(-1.7)], Exact)
    return x @ w.T + b, np.abs(x) @ np.abs(w).T + np.abs(b)


def scaled(x: Any) -> Any:
    """Numbers less an offset, times a scale, for each column."""
    offset, scale = (np.array([f32(v) for v in values], Exact) for values in ([0.3, 0.1, -2.0], [1.7, 0.25, 3.1]))
    return (x - offset) * scale, (np.abs(x) + np.abs(offset)) * scale


def unit_rows(x: Any) -> Any:
    """Rows by their length."""
    y = x / np.sqrt((x * x).sum(1, keepdims=True))
    return y, np.abs(y)


def power_sums(x: Any) -> Any:
    """The cube root of the sum of cubes of an image."""
    y = np.cbrt((np.abs(x) ** 3).sum((2, 3), keepdims=True))
    return y, y


def cases() -> Iterator[Case]:
    """Yield them."""
    for name, exact in WINDOWS.items():
        for dtype in FLOATS:
            yield Case(name, 17, lambda rng, dtype: [np.array(30)], exact, {"output_datatype": ELEMENT[dtype]},
                       dtypes=(dtype,))  # fmt: skip
    frame = lambda rng, dtype: [near(rng, (2, 200, 1), dtype), np.array(20), near(rng, (60,), dtype), np.array(60)]  # noqa: E731
    yield Case("STFT", 17, frame, spectra)
    yield Case("Range", 27, lambda rng, dtype: [np.array(v, dtype) for v in (0.25, 30, 0.3)], range_of)
    yield Case("DequantizeLinear", 25, codes, dequantized, dtypes=(np.float32, np.float16, ml_dtypes.bfloat16))
    yield Case("GlobalLpPool", 22, lambda rng, dtype: [near(rng, (2, 3, 12, 11), dtype)], power_sums, {"p": 3})
    rows = lambda rng, dtype: [near(rng, (50, 3), dtype)]  # noqa: E731
    coefficients = {"coefficients": COEFFICIENTS, "intercepts": [0.3, -1.7], "targets": 2}
    yield Case("LinearRegressor", 1, rows, linear_model, coefficients, domain="ai.onnx.ml", dtypes=SINGLE)
    offsets = {"offset": [0.3, 0.1, -2.0], "scale": [1.7, 0.25, 3.1]}
    yield Case("Scaler", 1, rows, scaled, offsets, domain="ai.onnx.ml", dtypes=SINGLE)
    yield Case("Normalizer", 1, rows, unit_rows, {"norm": "L2"}, domain="ai.onnx.ml", dtypes=SINGLE)
