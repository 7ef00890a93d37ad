# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators against numpy in float64 or in Python integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
TOLERANCE = {"float32": 3e-7, "float64": 1e-15, "float16": 1e-3, "bfloat16": 8e-3}

# Pairs of shapes: equal, scalars, rows, columns, planes, both sides stretched, zero extents, many axes.
SHAPES = [
    ((), ()),
    ((5,), (5,)),
    ((1,), ()),
    ((3, 4), ()),
    ((), (3, 4)),
    ((3, 4), (4,)),
    ((4,), (3, 4)),
    ((3, 4), (3, 1)),
    ((3, 1), (1, 4)),
    ((2, 3, 5, 7), (3, 1, 1)),
    ((2, 1, 5, 1), (1, 3, 1, 7)),
    ((1, 1, 1), (2, 1, 3)),
    ((0,), (1,)),
    ((2, 0, 3), (1, 1, 3)),
    ((1, 2, 1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1, 2, 1, 2, 1)),
    ((300, 70), (70,)),
    ((300, 1), (1, 70)),
]


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return numbers of both signs where the type has them, none of them 0."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        array = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(array == 0, np.array(1, dtype), array).astype(dtype)
    array = rng.uniform(0.5, 2, shape) * rng.choice([-1.0, 1.0], shape)
    return np.asarray(array).astype(dtype)


def wrapped(function: Callable[[int, int], int], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Apply a function of Python integers and wrap the results into the type of `a`."""
    bits = a.dtype.itemsize * 8
    a, b = np.broadcast_arrays(a, b)
    results = [function(int(x), int(y)) % (1 << bits) for x, y in zip(a.ravel(), b.ravel(), strict=True)]
    return np.array(results, dtype=f"uint{bits}").view(a.dtype).reshape(a.shape)


def truncated(x: int, y: int) -> int:
    """Divide as C does."""
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


ARITHMETIC: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, int], int]]] = {
    "Add": (np.add, lambda x, y: x + y),
    "Sub": (np.subtract, lambda x, y: x - y),
    "Mul": (np.multiply, lambda x, y: x * y),
    "Div": (np.divide, truncated),
}


@pytest.mark.parametrize("op_type", ARITHMETIC)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("unranked", [False, True])
def test_arithmetic_broadcasts(run_node: Any, rng: Any, op_type: str, shapes: Any, unranked: bool) -> None:
    a, b = (values(rng, shape, np.float32) for shape in shapes)
    (got,) = run_node(op_type, [a, b], 14, threads=2, unranked=unranked)
    want = ARITHMETIC[op_type][0](a.astype(np.float64), b.astype(np.float64))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("op_type", ARITHMETIC)
@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_arithmetic_of_other_floats(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    for shapes in [((37,), (37,)), ((3, 5), (5,)), ((3, 5), ()), ((), (3, 5))]:
        a, b = (values(rng, shape, dtype) for shape in shapes)
        (got,) = run_node(op_type, [a, b], 14)
        want = ARITHMETIC[op_type][0](a.astype(np.float64), b.astype(np.float64))
        tolerance = TOLERANCE[np.dtype(dtype).name]
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("op_type", ARITHMETIC)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    for shapes in [((50,), (50,)), ((7, 5), (5,)), ((3, 5), ()), ((), (3, 5)), ((4, 1), (1, 3))]:
        a, b = (values(rng, shape, dtype) for shape in shapes)
        (got,) = run_node(op_type, [a, b], 14)
        np.testing.assert_array_equal(got, wrapped(ARITHMETIC[op_type][1], a, b))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_division_of_integers_at_the_edges(run_node: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    if info.min < 0:
        a = np.array([info.min, info.max, -7, 7], dtype)
        (got,) = run_node("Div", [a, np.array(-1, dtype)], 14)
        assert got.tolist() == [info.min, -info.max, 7, -7]
    with pytest.raises(Exception, match="divided by zero"):
        run_node("Div", [np.ones((2, 3), dtype), np.zeros(3, dtype)], 14)


def test_division_by_zero_of_floats(run_node: Any) -> None:
    (got,) = run_node("Div", [np.array([1, -1, 0], np.float32), np.zeros(3, np.float32)], 14)
    np.testing.assert_array_equal(got, np.array([np.inf, -np.inf, np.nan], np.float32))


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize(
    ("shape", "attributes", "aligned"),
    [
        ((2, 3, 4), {}, (2, 3, 4)),
        ((4,), {"broadcast": 1}, (1, 1, 4)),
        ((3, 4), {"broadcast": 1}, (1, 3, 4)),
        ((3,), {"broadcast": 1, "axis": 1}, (1, 3, 1)),
        ((2, 3), {"broadcast": 1, "axis": 0}, (2, 3, 1)),
        ((), {"broadcast": 1}, (1, 1, 1)),
    ],
)
def test_broadcast_attribute(run_node: Any, rng: Any, opset: int, shape: Any, attributes: Any, aligned: Any) -> None:
    a, b = values(rng, (2, 3, 4), np.float32), values(rng, shape, np.float32)
    (got,) = run_node("Sub", [a, b], opset, unranked=True, **attributes)
    np.testing.assert_array_equal(got, a - b.reshape(aligned))


def test_shapes_that_do_not_broadcast(run_node: Any) -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((2, 4), np.float32)
    with pytest.raises(Exception, match=r"input 1.*\[2, 3\].*\[2, 4\]"):
        run_node("Add", [a, b], 14, unranked=True)


UNARY: dict[str, tuple[int, Callable[[float], float], float, float]] = {
    "Abs": (6, abs, -3, 3),
    "Neg": (6, lambda x: -x, -3, 3),
    "Sqrt": (6, math.sqrt, 0, 50),
    "Exp": (6, math.exp, -20, 20),
    "Log": (6, math.log, 1e-3, 50),
    "Erf": (9, math.erf, -4, 4),
    "Relu": (6, lambda x: max(x, 0.0), -3, 3),
    "Sigmoid": (6, lambda x: 1 / (1 + math.exp(-x)), -20, 20),
    "Tanh": (6, math.tanh, -8, 8),
    "Acos": (7, math.acos, -0.9, 0.9),
    "Acosh": (9, math.acosh, 1.5, 50),
    "Asin": (7, math.asin, -0.9, 0.9),
    "Asinh": (9, math.asinh, -50, 50),
    "Atan": (7, math.atan, -50, 50),
    "Atanh": (9, math.atanh, -0.9, 0.9),
    "Ceil": (6, math.ceil, -9, 9),
    "Cos": (7, math.cos, -1.5, 1.5),
    "Cosh": (9, math.cosh, -5, 5),
    "Floor": (6, math.floor, -9, 9),
    "Reciprocal": (6, lambda x: 1 / x, 0.1, 9),
    "Round": (11, round, -9, 9),
    "Sign": (9, lambda x: float(np.sign(x)), -3, 3),
    "Sin": (7, math.sin, -1.5, 1.5),
    "Sinh": (9, math.sinh, -5, 5),
    "Tan": (7, math.tan, -1.2, 1.2),
}
BFLOAT16_SINCE_22 = {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Round", "Sin", "Sinh", "Tan"}


@pytest.mark.parametrize("op_type", UNARY)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5, 11), (0,), (2, 0), (60000,)], ids=str)
def test_unary(run_node: Any, rng: Any, op_type: str, dtype: Any, shape: Any) -> None:
    opset, function, low, high = UNARY[op_type]
    if dtype is np.float16 and op_type in ("Exp", "Sigmoid"):
        low, high = -9, 9  # results that are normal numbers of the type
    x = np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    if dtype is ml_dtypes.bfloat16:
        opset = 22 if op_type in BFLOAT16_SINCE_22 else 13
    (got,) = run_node(op_type, [x], opset, threads=2)
    want = np.array([function(float(v)) for v in x.ravel()]).reshape(shape)
    tolerance = TOLERANCE[np.dtype(dtype).name]
    assert got.dtype == dtype
    assert got.shape == shape
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=1e-30)


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("Exp", [math.inf, 0, math.nan, math.inf, 0, 1]),
        ("Log", [math.inf, math.nan, math.nan, math.log(1e30), math.nan, -math.inf]),
        ("Tanh", [1, -1, math.nan, 1, -1, 0]),
        ("Erf", [1, -1, math.nan, 1, -1, 0]),
        ("Sigmoid", [1, 0, math.nan, 1, 0, 0.5]),
        ("Sqrt", [math.inf, math.nan, math.nan, 1e15, math.nan, 0]),
        ("Relu", [math.inf, 0, math.nan, 1e30, 0, 0]),
        ("Reciprocal", [0, 0, math.nan, 1e-30, -1e-30, math.inf]),
        ("Sign", [1, -1, math.nan, 1, -1, 0]),
        ("Floor", [math.inf, -math.inf, math.nan, 1e30, -1e30, 0]),
        ("Atan", [math.pi / 2, -math.pi / 2, math.nan, math.pi / 2, -math.pi / 2, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unary_at_the_edges(run_node: Any, op_type: str, expected: Any, dtype: Any) -> None:
    x = np.array([math.inf, -math.inf, math.nan, 1e30, -1e30, 0], dtype)
    for repeat in (1, 5):  # within a vector and in its tail
        (got,) = run_node(op_type, [np.tile(x, repeat)], 14)
        np.testing.assert_allclose(got, np.tile(np.array(expected, dtype), repeat), rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_round_takes_halves_to_even(run_node: Any, dtype: Any) -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5], dtype)
    (got,) = run_node("Round", [x], 22)
    assert got.astype(np.float64).tolist() == [-2, -2, 0, 0, 2, 2, 4]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("opset", [20])
def test_is_nan_and_is_inf(run_node: Any, dtype: Any, opset: int) -> None:
    x = np.array([math.nan, math.inf, -math.inf, 0, 1, -1], dtype)
    bools = [TensorProto.BOOL]
    assert run_node("IsNaN", [x], opset, bools)[0].tolist() == [True] + [False] * 5
    for negative, positive in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        (got,) = run_node("IsInf", [x], opset, bools, detect_negative=negative, detect_positive=positive)
        assert got.tolist() == [False, bool(positive), bool(negative), False, False, False]
    assert run_node("IsInf", [x], opset, bools)[0].tolist() == [False, True, True, False, False, False]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_unary_of_integers(run_node: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 5], dtype)
    zero = np.zeros((), dtype)
    assert run_node("Abs", [x], 13)[0].tolist() == wrapped(lambda v, _: abs(v), x, zero).tolist()
    assert run_node("Sign", [x], 13)[0].tolist() == [(v > 0) - (v < 0) for v in x.tolist()]
    erf = [int(math.erf(v)) for v in (info.min, info.max, 0, 5)]
    assert run_node("Erf", [x], 9)[0].tolist() == erf
    if info.min < 0:
        assert run_node("Neg", [x], 13)[0].tolist() == wrapped(lambda v, _: -v, x, zero).tolist()
        assert run_node("Relu", [x], 14)[0].tolist() == [0, info.max, 0, 5]


COMPARISONS: dict[str, tuple[int, Any]] = {
    "Equal": (11, np.equal),
    "Less": (9, np.less),
    "Greater": (9, np.greater),
    "LessOrEqual": (12, np.less_equal),
    "GreaterOrEqual": (12, np.greater_equal),
}


@pytest.mark.parametrize("op_type", COMPARISONS)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_comparison(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    opset, function = COMPARISONS[op_type]
    opset = 16 if dtype is ml_dtypes.bfloat16 else opset
    for shapes in SHAPES[:13]:
        a, b = (np.asarray(rng.integers(0, 3, shape)).astype(dtype) for shape in shapes)
        (got,) = run_node(op_type, [a, b], opset, [TensorProto.BOOL])
        np.testing.assert_array_equal(got, function(a, b))


def test_comparison_with_nan(run_node: Any) -> None:
    a = np.array([math.nan, math.nan, 1], np.float32)
    b = np.array([math.nan, 1, math.nan], np.float32)
    for op_type, (opset, _) in COMPARISONS.items():
        assert run_node(op_type, [a, b], opset, [TensorProto.BOOL])[0].tolist() == [False] * 3


def test_equal_of_bools_and_strings(run_node: Any) -> None:
    a, b = np.array([[True], [False]]), np.array([True, False])
    np.testing.assert_array_equal(run_node("Equal", [a, b], 13, [TensorProto.BOOL])[0], a == b)
    a, b = (
        np.array([["a"], ["longer than inline storage"]], object),
        np.array(["longer than inline storage", "a"], object),
    )
    np.testing.assert_array_equal(run_node("Equal", [a, b], 19, [TensorProto.BOOL])[0], a == b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int64])
@pytest.mark.parametrize("exponent", [np.float32, np.float64, np.int8, np.int64, np.uint64])
def test_pow(run_node: Any, rng: Any, dtype: Any, exponent: Any) -> None:
    x = np.array([1, 2, 3, 5, 7], dtype)
    for y in (np.array([0, 1, 2, 3, 4], exponent), np.array(2, exponent), np.array([[1], [3]], exponent)):
        (got,) = run_node("Pow", [x, y], 15)
        assert got.dtype == dtype
        np.testing.assert_allclose(
            got, np.power(x.astype(np.float64), y.astype(np.float64)), rtol=1e-3 if dtype is np.float16 else 1e-6
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("constant", [False, True])
def test_pow_of_zeros_and_infinities(run_node: Any, dtype: Any, constant: bool) -> None:
    bases = np.array([0.0, -0.0, np.inf, -np.inf], dtype)
    for exponent in (0.5, 1, 1.5, 2, 3, -0.5, -1, -2, -3):  # a zero is negative for odd powers alone
        want = [math.pow(x, exponent) if x or exponent > 0 else math.copysign(math.inf, x if exponent % 2 == 1 else 1)
                for x in bases.astype(float).tolist()]  # fmt: skip
        for y in (np.full(4, exponent, dtype), np.array(exponent, dtype)):
            (got,) = run_node("Pow", [bases, y], 15, constants=[1] if constant else [])
            np.testing.assert_array_equal(got.astype(np.float64), want)
            np.testing.assert_array_equal(np.signbit(got.astype(np.float64)), np.signbit(want))


def test_pow_at_the_edges(run_node: Any) -> None:
    (got,) = run_node(
        "Pow", [np.array([4, 2, -8, 0, -2], np.float32), np.array([0.5, -1, 1 / 3, 0, 3], np.float32)], 12
    )
    np.testing.assert_allclose(got, [2, 0.5, math.nan, 1, -8], rtol=1e-6)
    (got,) = run_node("Pow", [np.array([1, -1, 2, 2, -1], np.int32), np.array([-3, -3, -1, 31, 2], np.int32)], 12)
    assert got.tolist() == [1, -1, 0, -(2**31), 1]
    (got,) = run_node("Pow", [np.array([3, -2], np.int64), np.array([2.0, 3.0], np.float32)], 12)
    assert got.tolist() == [9, -8]
    # Beyond the type integers wrap, and a float exponent gives the nearest number.
    (got,) = run_node("Pow", [np.array([3, -3, 2**31 - 1, 0], np.int32), np.array([41, 41, 2, -1], np.int32)], 12)
    assert got.tolist() == [(v + 2**31) % 2**32 - 2**31 for v in (3**41, (-3) ** 41, (2**31 - 1) ** 2, 0)]
    (got,) = run_node("Pow", [np.array([3, -3, 2], np.int32), np.array([41, 41, 0.5], np.float32)], 12)
    assert got.tolist() == [2**31 - 1, -(2**31), 1]


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.uint8, np.float16, np.float32, np.int64, np.complex64, np.complex128, object]
)
@pytest.mark.parametrize(
    "shapes",
    [((5,), (5,), (5,)), ((3, 1), (4,), ()), ((), (2, 3), (3,)), ((2, 1, 3), (4, 1), (1, 4, 1)), ((0, 2), (2,), ())],
    ids=str,
)
def test_where(run_node: Any, rng: Any, dtype: Any, shapes: Any) -> None:
    condition = rng.integers(0, 2, shapes[0]).astype(bool)
    x, y = (np.asarray(rng.integers(0, 100, shape)) for shape in shapes[1:])
    if dtype is object:
        x, y = (np.array([f"text number {v}" for v in a.ravel()], object).reshape(a.shape) for a in (x, y))
    else:
        x, y = x.astype(dtype), y.astype(dtype)
    from onnx import helper

    kind = TensorProto.STRING if dtype is object else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    (got,) = run_node("Where", [np.asarray(condition), x, y], 16, [kind], unranked=True)
    want = np.where(condition, x, y)
    assert got.shape == want.shape
    assert got.tolist() == want.tolist()
