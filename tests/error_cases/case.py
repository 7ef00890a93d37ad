# SPDX-License-Identifier: Apache-2.0
"""What a case of the error bounds is: a node, its inputs, and its exact result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

Exact = np.longdouble
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
EXPONENTS = {"float32": -126, "float64": -1022, "float16": -14, "bfloat16": -126}  # least of normal numbers
DIGITS = {"float32": 24, "float64": 53, "float16": 11, "bfloat16": 8}


@dataclass(frozen=True)
class Case:
    """One node in all types of floats.

    The function `exact` gets the inputs, floats among them as extended precision, and returns the results: each an
    array, or a pair of it and the magnitude of what it was summed from, which the bound may refer to. With an attribute
    `takes_dtype` it also gets the type, last.
    """

    op_type: str
    opset: int
    inputs: Callable[[np.random.Generator, Any], Sequence[Any]]
    exact: Callable[..., Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    variant: str = ""
    bound: str = ""
    """The row of the table, where it is not the operator."""
    dtypes: tuple[Any, ...] = FLOATS
    domain: str = ""
    outputs: int = 1
    constants: tuple[int, ...] = ()
    """Inputs that are initializers."""
    signed_zeros: bool = False
    """Whether a result of zero has a sign that counts."""

    @property
    def row(self) -> str:
        """The row of the table that holds for it."""
        return self.bound or self.op_type


def f32(value: float) -> float:
    """Return what an attribute keeps of a number."""
    return float(np.float32(value))


def ulp(exact: np.ndarray, dtype: Any) -> np.ndarray:
    """Return the distance of numbers of a type around exact values."""
    name = np.dtype(dtype).name
    finite = np.where(np.isfinite(exact), exact, 0)
    exponent = np.where(finite == 0, EXPONENTS[name], np.maximum(np.frexp(finite)[1] - 1, EXPONENTS[name]))
    return np.ldexp(np.ones_like(finite), exponent - (DIGITS[name] - 1))


def epsilon(dtype: Any) -> Any:
    """Return the distance from one to the next number of a type."""
    return np.ldexp(Exact(1), 1 - DIGITS[np.dtype(dtype).name])


def largest(dtype: Any) -> Any:
    """Return the greatest number of a type."""
    return Exact(float(ml_dtypes.finfo(dtype).max))


def least_normal(dtype: Any) -> Any:
    """Return the least number of full precision of the type that a kernel computes in."""
    return np.ldexp(Exact(1), -1022 if np.dtype(dtype) == np.float64 else -126)


def near(rng: np.random.Generator, shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Return numbers of both signs around one."""
    return np.asarray(rng.uniform(-1, 2, shape)).astype(dtype)


def everywhere(rng: np.random.Generator, dtype: Any, count: int = 1 << 15) -> np.ndarray:
    """Return numbers of all magnitudes, denormals, infinities, zeros and NaN among them: the halves all there are."""
    width = np.dtype(dtype).itemsize
    if width == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    bits = rng.integers(0, 1 << 8 * width, count, dtype=f"uint{8 * width}", endpoint=False)
    info = np.finfo(dtype)
    edges = [0.0, 1.0, np.inf, info.max, info.tiny, info.smallest_subnormal, 0.5, 2.0]
    common = rng.uniform(-12, 12, count)
    small = rng.uniform(-1, 1, count)
    return np.concatenate([bits.view(dtype), common, small, edges, np.negative(edges), [np.nan]]).astype(dtype)
