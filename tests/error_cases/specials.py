# SPDX-License-Identifier: Apache-2.0
"""Sums of what is no number, of infinities, denormals and zeros: each row has another kind of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from error_cases.case import FLOATS, Case, near
from error_cases.sums import REDUCTIONS, conv, gemm, layer_norm, log_softmax, product, rms_norm, softmax

COLUMNS = 37


def rows(rng: np.random.Generator, dtype: Any) -> np.ndarray:
    """Return a matrix whose rows have NaN, one infinity, the other, both, denormals alone, zeros, a denormal, none."""
    x = near(rng, (9, COLUMNS), dtype)
    x[0, 11] = np.nan
    x[1, 3] = np.inf
    x[2, 36] = -np.inf
    x[3, [5, 30]] = np.inf, -np.inf
    x[4] = (near(rng, (COLUMNS,), np.float64) * 30).astype(dtype) * ml_dtypes.finfo(dtype).smallest_subnormal
    x[5] = -0.0
    x[6, 20] = ml_dtypes.finfo(dtype).smallest_subnormal
    x[7] = -np.inf
    return x


def reduced(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return the rows and the axis to reduce."""
    return [rows(rng, dtype), np.array([1])]


def across(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return the rows as columns and the axis to reduce."""
    return [np.ascontiguousarray(rows(rng, dtype).T), np.array([0])]


def with_matrix(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return the rows and a matrix with zeros, which make NaN of infinities."""
    b = near(rng, (COLUMNS, 19), dtype)
    b[:, 7] = 0
    return [rows(rng, dtype), b]


def for_gemm(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return the rows, a matrix and what is added."""
    a, b = with_matrix(rng, dtype)
    return [a, np.ascontiguousarray(b.T), near(rng, (19,), dtype)]


def images(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return an image of one channel for each row, weights and a bias."""
    x = rows(rng, dtype)[:, :36].reshape(9, 1, 6, 6)
    return [x, near(rng, (3, 1, 3, 3), dtype), near(rng, (3,), dtype)]


def scaled(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return the rows and a scale."""
    return [rows(rng, dtype), near(rng, (COLUMNS,), dtype)]


def shifted(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return the rows, a scale and a bias."""
    return [*scaled(rng, dtype), near(rng, (COLUMNS,), dtype)]


def cases() -> Iterator[Case]:
    """Yield them."""
    for op_type, opset, exact in REDUCTIONS:
        # Squares of denormals are lost in float64, which has no wider type to compute in.
        dtypes = tuple(dtype for dtype in FLOATS if op_type != "ReduceL2" or dtype != np.float64)
        yield Case(op_type, opset, reduced, exact, variant="special rows", dtypes=dtypes)
        yield Case(op_type, opset, across, exact, variant="special columns", dtypes=dtypes)
    for name, function in (("Softmax", softmax), ("LogSoftmax", log_softmax)):
        yield Case(name, 13, lambda rng, dtype: [rows(rng, dtype)], function, variant="special rows")
    yield Case("LayerNormalization", 17, shifted, layer_norm, variant="special rows")
    yield Case("RMSNormalization", 23, scaled, rms_norm, variant="special rows")
    for constants in ((), (1,)):
        variant = "special rows" + (", constant" if constants else "")
        yield Case("MatMul", 13, with_matrix, product, variant=variant, constants=constants)
    yield Case("Gemm", 13, for_gemm, gemm, {"alpha": 0.5, "beta": 2.0, "transB": 1}, "special rows", constants=(1, 2))
    attributes = {"kernel_shape": [3, 3], "pads": [1] * 4}
    exact = lambda x, w, b: conv(x, w, b, [1, 1], [1] * 4)  # noqa: E731
    yield Case("Conv", 22, images, exact, attributes, "special images", constants=(1, 2))
