# SPDX-License-Identifier: Apache-2.0
"""Activations against their formulas in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
Formula = Callable[..., float]


def f32(value: float) -> float:
    """Return what an attribute keeps of a number."""
    return float(np.float32(value))


# Defaults of attributes.
LEAK, SLOPE = f32(0.01), f32(0.2)
SELU = (f32(1.67326319217681884765625), f32(1.05070102214813232421875))


def softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def gelu(x: float) -> float:
    return 0.5 * x * math.erfc(-x / math.sqrt(2))


def gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def celu(x: float, alpha: float = 1.0) -> float:
    return max(0.0, x) + min(0.0, alpha * math.expm1(x / alpha))


def elu(x: float, alpha: float = 1.0) -> float:
    return alpha * math.expm1(x) if x < 0 else x


def selu(x: float, alpha: float = SELU[0], gamma: float = SELU[1]) -> float:
    return gamma * (x if x > 0 else alpha * math.expm1(x))


def leaky_relu(x: float, alpha: float = LEAK) -> float:
    return alpha * x if x < 0 else x


def hard_sigmoid(x: float, alpha: float = SLOPE, beta: float = 0.5) -> float:
    return max(0.0, min(1.0, alpha * x + beta))


def shrink(x: float, bias: float = 0.0, lambd: float = 0.5) -> float:
    return x + bias if x < -lambd else x - bias if x > lambd else 0.0


# Operator, first version for all four types, formula, attributes.
CASES: list[tuple[str, int, Formula, dict[str, Any]]] = [
    ("Celu", 28, celu, {}),
    ("Celu", 28, celu, {"alpha": 2.0}),
    ("Elu", 22, elu, {}),
    ("Elu", 22, elu, {"alpha": 0.5}),
    ("Gelu", 20, gelu, {}),
    ("Gelu", 20, gelu_tanh, {"approximate": "tanh"}),
    ("HardSigmoid", 22, hard_sigmoid, {}),
    ("HardSigmoid", 22, hard_sigmoid, {"alpha": 0.5, "beta": 0.25}),
    ("HardSwish", 22, lambda x: x * max(0.0, min(1.0, x / 6 + 0.5)), {}),
    ("LeakyRelu", 16, leaky_relu, {}),
    ("LeakyRelu", 16, leaky_relu, {"alpha": 0.25}),
    ("Mish", 22, lambda x: x * math.tanh(softplus(x)), {}),
    ("Selu", 22, selu, {}),
    ("Selu", 22, selu, {"alpha": 2.0, "gamma": 3.0}),
    ("Softplus", 22, softplus, {}),
    ("Softsign", 22, lambda x: x / (1 + abs(x)), {}),
    ("Swish", 24, lambda x, alpha=1.0: x / (1 + math.exp(-alpha * x)), {}),
    ("Swish", 24, lambda x, alpha: x / (1 + math.exp(-alpha * x)), {"alpha": 0.5}),
    ("ThresholdedRelu", 22, lambda x, alpha=1.0: x if x > alpha else 0.0, {}),
    ("ThresholdedRelu", 22, lambda x, alpha: x if x > alpha else 0.0, {"alpha": 2.0}),
]


@pytest.mark.parametrize(("op_type", "opset", "formula", "attributes"), CASES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (7,), (3, 0), (4, 33), (20000,)], ids=str)
def test_formula(
    run_node: Any, rng: Any, op_type: str, opset: int, formula: Formula, attributes: Any, dtype: Any, shape: Any
) -> None:
    x = np.asarray(rng.uniform(-8, 8, shape)).astype(dtype)
    parameters = {name: value for name, value in attributes.items() if name != "approximate"}
    want = np.array([formula(float(v), **parameters) for v in x.ravel()]).reshape(shape)
    (got,) = run_node(op_type, [x], opset, threads=2, **attributes)
    assert got.dtype == dtype
    assert got.shape == shape
    tolerance = TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance * 0.1)


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize(
    ("op_type", "formula"), [("Elu", elu), ("HardSigmoid", hard_sigmoid), ("LeakyRelu", leaky_relu)]
)
def test_first_versions(run_node: Any, op_type: str, formula: Formula, opset: int) -> None:
    x = np.array([-3, -1, 0, 0.5, 2], np.float32)
    want = [formula(float(v)) for v in x]
    np.testing.assert_allclose(run_node(op_type, [x], opset)[0], want, rtol=1e-6)


def test_the_first_selu_has_its_own_defaults(run_node: Any) -> None:
    x = np.array([-3, -1, 0, 0.5, 2], np.float64)
    want = [selu(float(v), alpha=f32(1.6732), gamma=f32(1.0507)) for v in x]
    np.testing.assert_allclose(run_node("Selu", [x], 1)[0], want, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("op_type", "opset", "want"),
    [
        ("Softplus", 22, [1e4, 0, math.nan]),
        ("Mish", 22, [1e4, 0, math.nan]),
        ("Gelu", 20, [1e4, 0, math.nan]),
        ("Swish", 24, [1e4, 0, math.nan]),
        ("Elu", 22, [1e4, -1, math.nan]),
        ("Celu", 12, [1e4, -1, math.nan]),
        ("HardSigmoid", 22, [1, 0, math.nan]),
        ("HardSwish", 22, [1e4, 0, math.nan]),
        ("LeakyRelu", 16, [1e4, -1e4 * f32(0.01), math.nan]),
    ],
)
def test_far_out(run_node: Any, op_type: str, opset: int, want: list[float], dtype: Any) -> None:
    opset = 28 if op_type == "Celu" and dtype is np.float64 else opset
    (got,) = run_node(op_type, [np.array([1e4, -1e4, math.nan], dtype)], opset)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS[:3]])
def test_shrink(run_node: Any, dtype: Any) -> None:
    x = np.arange(0 if np.dtype(dtype).kind == "u" else -6, 7).astype(dtype)
    for attributes in ({}, {"lambd": 2.5}, {"lambd": 1.5, "bias": 1.5}):
        want = np.array([shrink(float(v), **attributes) for v in x]).astype(dtype)
        np.testing.assert_array_equal(run_node("Shrink", [x], 9, **attributes)[0], want)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_shrink_of_integers_that_double_does_not_hold(run_node: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([2**53 + 1, info.max, info.min], dtype)
    assert run_node("Shrink", [x], 9)[0].tolist() == x.tolist()
    assert run_node("Shrink", [x], 9, bias=-1.0)[0].tolist() == [2**53 + 2, info.max, info.min]


def test_gelu_refuses_other_approximations(run_node: Any) -> None:
    with pytest.raises(Exception, match=r"approximate.*none or tanh.*'fast'"):
        run_node("Gelu", [np.ones(3, np.float32)], 20, approximate="fast")
