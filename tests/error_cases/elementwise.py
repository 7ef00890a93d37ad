# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators in extended precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from error_cases.case import FLOATS, Case, Exact, everywhere, f32, largest, least_normal

ONE, HALF, TWO = Exact(1), Exact(0.5), Exact(2)
PI = Exact("3.14159265358979323846264338327950288")
ROOT_HALF = np.sqrt(HALF)


def erf_near(x: Any) -> Any:
    """The error function by its series of terms of one sign, for |x| < 3."""
    total = term = np.array(x, Exact)
    for n in range(1, 90):
        term = term * (TWO * x * x) / (2 * n + 1)
        total = total + term
    return TWO / np.sqrt(PI) * np.exp(-x * x) * total


def erfc_far(x: Any) -> Any:
    """One minus the error function by its continued fraction, for x >= 1.5."""
    tail = np.array(x, Exact)
    for n in range(250, 0, -1):
        tail = x + (HALF * n) / tail
    return np.exp(-x * x) / (np.sqrt(PI) * tail)


def erfc(x: Any) -> Any:
    """One minus the error function, without cancellation."""
    x = np.array(x, Exact)
    size = np.abs(x)
    far = erfc_far(np.where(size >= 1.5, np.minimum(size, 150), 2))
    near = erf_near(np.where(size < 1.5, x, 0))
    outer = np.where(x > 0, far, TWO - far)
    return np.where(np.isnan(x), x, np.where(size < 1.5, ONE - near, outer))


def erf(x: Any) -> Any:
    """The error function."""
    x = np.array(x, Exact)
    size = np.abs(x)
    near = erf_near(np.where(size < 3, x, 0))
    far = np.copysign(ONE - erfc_far(np.where(size >= 3, np.minimum(size, 150), 3)), x)
    return np.where(np.isnan(x), x, np.where(size < 3, near, far))


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, ONE) / (ONE + e)


def softplus(x: Any) -> Any:
    """log(1 + e^x)."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gated(gate: Any) -> Any:
    """Return a function: x times a gate that underflows, so that few of its digits are left where x is far below zero.

    The gate may be a pair with the magnitude of an argument whose rounding counts.
    """

    def function(x: Any, dtype: Any) -> Any:
        found = gate(x)
        factor, argument = found if isinstance(found, tuple) else (found, 0)
        y = x * factor
        return y, np.abs(y) * (ONE + argument) + np.abs(x) * least_normal(dtype)

    function.takes_dtype = True  # type: ignore[attr-defined]
    return function


def gelu_gate(x: Any) -> Any:
    """The distribution function of the normal distribution, and what a rounding of x does to its exponent."""
    return HALF * erfc(-x * ROOT_HALF), x * x


def gelu_tanh_gate(x: Any) -> Any:
    """0.5 (1 + tanh(y)), as a logistic function, which does not cancel, and its argument."""
    y = TWO * np.sqrt(TWO / PI) * (x + Exact("0.044715") * x * x * x)
    return sigmoid(y), np.abs(y)


def elu(x: Any, alpha: Any = ONE) -> Any:
    """Alpha (e^x - 1) below zero."""
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


SELU = (Exact(f32(1.67326319217681884765625)), Exact(f32(1.05070102214813232421875)))
LEAK, SLOPE = Exact(f32(0.01)), Exact(f32(0.2))

# Operator, version, function, attributes.
UNARY: list[tuple[str, int, Any, dict[str, Any]]] = [
    ("Abs", 13, np.abs, {}),
    ("Neg", 13, np.negative, {}),
    ("Ceil", 13, np.ceil, {}),
    ("Floor", 13, np.floor, {}),
    ("Round", 22, np.rint, {}),
    ("Sign", 13, np.sign, {}),
    ("Relu", 14, lambda x: np.where(x < 0, 0, x), {}),
    ("Sqrt", 13, np.sqrt, {}),
    ("Reciprocal", 13, lambda x: ONE / x, {}),
    ("Exp", 13, np.exp, {}),
    ("Log", 13, np.log, {}),
    ("Sin", 22, np.sin, {}),
    ("Cos", 22, np.cos, {}),
    ("Tan", 22, np.tan, {}),
    ("Asin", 22, np.arcsin, {}),
    ("Acos", 22, np.arccos, {}),
    ("Atan", 22, np.arctan, {}),
    ("Sinh", 22, np.sinh, {}),
    ("Cosh", 22, np.cosh, {}),
    ("Tanh", 13, np.tanh, {}),
    ("Asinh", 22, np.arcsinh, {}),
    ("Acosh", 22, np.arccosh, {}),
    ("Atanh", 22, np.arctanh, {}),
    ("Erf", 13, erf, {}),
    ("Sigmoid", 13, sigmoid, {}),
    ("Softplus", 22, softplus, {}),
    ("Softsign", 22, lambda x: x / (ONE + np.abs(x)), {}),
    ("Elu", 22, elu, {}),
    ("Celu", 28, lambda x: np.where(x < 0, TWO * np.expm1(np.minimum(x, 0) / TWO), x), {"alpha": 2.0}),
    ("Selu", 22, lambda x: SELU[1] * elu(x, SELU[0]), {}),
    ("LeakyRelu", 16, lambda x: np.where(x < 0, LEAK * x, x), {}),
    ("HardSigmoid", 22, lambda x: (np.clip(SLOPE * x + HALF, 0, 1), HALF + 0 * x), {}),
    ("ThresholdedRelu", 22, lambda x: np.where(x > 1, x, 0), {}),
    ("Shrink", 9, lambda x: np.where(x < -HALF, x + HALF, np.where(x > HALF, x - HALF, 0)), {"bias": 0.5}),
    ("Gelu", 20, gated(gelu_gate), {}),
    ("Gelu", 20, gated(gelu_tanh_gate), {"approximate": "tanh"}),
    ("HardSwish", 22, lambda x: (x * np.clip(x / 6 + HALF, 0, 1), np.minimum(np.abs(x), 3)), {}),
    ("Mish", 22, gated(lambda x: np.tanh(softplus(x))), {}),
    ("Swish", 24, gated(sigmoid), {}),
]


def pairs(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return two vectors of numbers of all magnitudes, half of the pairs of like ones."""
    a = everywhere(rng, dtype)
    b = rng.permutation(a)
    near = (a[: len(a) // 2].astype(np.float64) * rng.uniform(0.25, 4, len(a) // 2)).astype(dtype)
    b[: len(a) // 2] = near
    return [a, b]


def powers(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return bases and exponents, many of whose powers are numbers of the type."""
    bases = np.abs(everywhere(rng, dtype).astype(np.float64))
    limit = float(np.log(largest(dtype)))
    with np.errstate(all="ignore"):
        scale = limit / np.maximum(np.abs(np.log(np.where(bases > 0, bases, 1))), 0.5)
    exponents = rng.uniform(-1.1, 1.1, bases.shape) * scale
    whole = rng.integers(-6, 7, bases.shape)
    exponents = np.where(rng.random(bases.shape) < 0.3, whole, exponents)
    signs = np.where((exponents == np.rint(exponents)) & (rng.random(bases.shape) < 0.5), -1.0, 1.0)
    return [(bases * signs).astype(dtype), exponents.astype(dtype)]


BINARY: list[tuple[str, int, Any, dict[str, Any]]] = [
    ("Add", 14, np.add, {}),
    ("Sub", 14, np.subtract, {}),
    ("Mul", 14, np.multiply, {}),
    ("Div", 14, np.divide, {}),
    ("Max", 13, np.maximum, {}),
    ("Min", 13, np.minimum, {}),
    ("Mod", 13, np.fmod, {"fmod": 1}),
    ("PRelu", 16, lambda x, slope: np.where(x < 0, slope * x, x), {}),
]
# Zeros of either sign are one number to these.
UNSIGNED = {"Max", "Min", "Shrink", "HardSwish", "ThresholdedRelu", "Relu", "Celu", "HardSigmoid", "PRelu"}


def mean_of_three(a: Any, b: Any, c: Any) -> Any:
    """A mean and the magnitude of its terms."""
    return (a + b + c) / 3, (np.abs(a) + np.abs(b) + np.abs(c)) / 3


def three(rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    """Return three vectors of moderate numbers."""
    return [np.asarray(rng.standard_normal(3001)).astype(dtype) for _ in range(3)]


def cases() -> Iterator[Case]:
    """Yield them."""
    for op_type, opset, function, attributes in UNARY:
        yield Case(
            op_type, opset, lambda rng, dtype: [everywhere(rng, dtype)], function, attributes,
            variant=str(attributes.get("approximate", "")), bound="Gelu, tanh" if attributes.get("approximate") else "",
            signed_zeros=op_type not in UNSIGNED, dtypes=FLOATS[:3] if op_type == "Shrink" else FLOATS,
        )  # fmt: skip
    for op_type, opset, function, attributes in BINARY:
        yield Case(op_type, opset, pairs, function, attributes, signed_zeros=op_type not in UNSIGNED)
    yield Case("Pow", 15, powers, np.power)
    yield Case("Sum", 13, three, lambda a, b, c: (a + b + c, np.abs(a) + np.abs(b) + np.abs(c)))
    yield Case("Mean", 13, three, mean_of_three)
    yield Case("Clip", 13, lambda rng, dtype: [everywhere(rng, dtype), np.array(-1.5, dtype), np.array(3.25, dtype)],
               lambda x, low, high: np.minimum(np.maximum(x, low), high))  # fmt: skip
