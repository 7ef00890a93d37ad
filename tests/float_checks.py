# SPDX-License-Identifier: Apache-2.0
"""Random floats of every type, and how near a kernel must come to numpy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
TOLERANCE = {"float32": 2e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}


def uniform(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return elements between -1 and 2."""
    return np.asarray(rng.uniform(-1, 2, shape)).astype(dtype)


def close(got: np.ndarray, want: np.ndarray, dtype: Any, scale: float = 1.0) -> None:
    """Check shape and values, the tolerance of the type times `scale`."""
    assert got.shape == want.shape
    tolerance = TOLERANCE[np.dtype(dtype).name] * scale
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)
