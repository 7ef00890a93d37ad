# SPDX-License-Identifier: Apache-2.0
"""Cast between all types that it has, against numpy and ml_dtypes where they define the result."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def kind(dtype: Any) -> int:
    """Return the ONNX element type."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def cast(run_node: Any, x: np.ndarray, to: int) -> np.ndarray:
    """Cast an array."""
    (got,) = run_node("Cast", [x], 13, [to], to=to)
    return got


@pytest.mark.parametrize(("source", "target"), list(itertools.product([*INTEGERS, *FLOATS, np.bool_], repeat=2)))
def test_values_that_fit(run_node: Any, source: Any, target: Any) -> None:
    numbers = [0, 1, 2, 3, 100, 127]
    if source not in (np.bool_, *INTEGERS[4:]) and target not in INTEGERS[4:]:
        numbers += [-1, -100]
    if source in FLOATS:
        numbers += [0.5, 1.75, 99.5]
    x = np.array(numbers).astype(source)
    got = cast(run_node, x, kind(target))
    want = np.array([float(v) for v in x])
    want = want != 0 if target is np.bool_ else np.trunc(want) if target in INTEGERS else want
    assert got.dtype == target
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(target).astype(np.float64))


@pytest.mark.parametrize(("source", "target"), list(itertools.product(INTEGERS, repeat=2)))
def test_integers_wrap(run_node: Any, source: Any, target: Any) -> None:
    info = np.iinfo(source)
    x = np.array([info.min, info.max, info.max // 2 + 1, info.max // 3], source)
    bits = np.iinfo(target).bits
    want = np.array([int(v) % (1 << bits) for v in x], f"uint{bits}").view(target)
    np.testing.assert_array_equal(cast(run_node, x, kind(target)), want)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_beyond_an_integer_type(run_node: Any, source: Any, target: Any) -> None:
    info = np.iinfo(target)
    x = np.array([np.inf, -np.inf, np.nan, -0.75], source)
    assert cast(run_node, x, kind(target)).tolist() == [info.max, info.min, 0, 0]
    if source in (np.float32, np.float64):
        x = np.array([1e30, -1e30, 2.0**info.bits], source)
        assert cast(run_node, x, kind(target)).tolist() == [info.max, info.min, info.max]


@pytest.mark.parametrize("target", [np.float16, ml_dtypes.bfloat16])
def test_rounding_of_every_pattern(run_node: Any, rng: Any, target: Any) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(target)
    wide = cast(run_node, every, TensorProto.FLOAT)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wide, every.astype(np.float32))
    # Every value, the middle between it and its neighbour, and a little to both sides of that.
    finite = np.sort(wide[np.isfinite(wide)])
    middle = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    up, down = np.float32(np.inf), np.float32(-np.inf)
    x = np.concatenate([finite, middle, np.nextafter(middle, up), np.nextafter(middle, down)])
    x = np.concatenate([x, np.array([65519.99, 65520, 1e6, -1e6, 3.4e38, -3.4e38, np.inf, -np.inf], np.float32)])
    with np.errstate(over="ignore"):
        want = x.astype(target)
    np.testing.assert_array_equal(cast(run_node, x, kind(target)).view(np.uint16), want.view(np.uint16))
    assert np.isnan(cast(run_node, np.array([np.nan], np.float32), kind(target)).astype(np.float32)).all()


@pytest.mark.parametrize("target", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("source", [np.float64, np.int64, np.uint64, np.int32])
def test_beside_half_way_it_is_rounded_once(run_node: Any, rng: Any, source: Any, target: Any) -> None:
    bits = 11 if target is np.float16 else 8
    if source is np.float64:
        exponents, step = range(-20, 15 - bits), 2.0**-45
    else:
        longest = 15 if target is np.float16 else 8 * np.dtype(source).itemsize - 2
        exponents, step = range(2, longest - bits), 1
    below, exact = [], []
    for exponent in exponents:
        for low in rng.integers(2 ** (bits - 1), 2**bits - 1, 20).tolist():
            scale = 2.0**exponent if source is np.float64 else 1 << exponent
            half = (2 * low + 1) * scale
            move = half * step if source is np.float64 else 1
            below += [half - move, half, half + move]
            exact += [2 * low * scale, 2 * (low + low % 2) * scale, 2 * (low + 1) * scale]  # the even one in the middle
    x = np.array(below, source)
    for sign in (1, -1) if np.issubdtype(source, np.signedinteger) or source is np.float64 else (1,):
        got = cast(run_node, x * source(sign), kind(target))
        assert got.astype(np.float64).tolist() == [float(sign * v) for v in exact]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (70000,)], ids=str)
def test_shapes(run_node: Any, shape: Any) -> None:
    x = np.ones(shape, np.float32)
    (got,) = run_node("Cast", [x], 13, [TensorProto.INT64], to=TensorProto.INT64, threads=2)
    assert got.shape == shape
    assert (got == 1).all()


def test_text_to_numbers(run_node: Any) -> None:
    x = np.array(["1.5", " -2e3 ", "+7", "NaN", "INF", "-inf", "0"], object)
    got = cast(run_node, x, TensorProto.DOUBLE)
    np.testing.assert_array_equal(got, [1.5, -2000, 7, np.nan, np.inf, -np.inf, 0])
    got = cast(run_node, np.array(["9223372036854775807", "-9223372036854775808"], object), TensorProto.INT64)
    assert got.tolist() == [2**63 - 1, -(2**63)]
    for text, to in [
        ("seven", TensorProto.FLOAT),
        ("1.5", TensorProto.INT32),
        ("", TensorProto.INT8),
        ("300", TensorProto.UINT8),
        ("1e400", TensorProto.DOUBLE),
        ("1e39", TensorProto.FLOAT),
    ]:
        with pytest.raises(Exception, match=f"got '{text}'"):
            cast(run_node, np.array([text], object), to)


def test_numbers_to_text(run_node: Any) -> None:
    x = np.array([1.5, -0.1, np.nan, np.inf, -np.inf, 1e30], np.float32)
    got = cast(run_node, x, TensorProto.STRING).tolist()
    assert got[2:5] == ["NaN", "INF", "-INF"]
    np.testing.assert_array_equal(np.array([got[i] for i in (0, 1, 5)], np.float32), x[[0, 1, 5]])
    # As many digits as it takes, plain where ONNX Runtime (float) and onnx.reference (double) write them so.
    for dtype, texts in (
        (np.float32, ["0", "-0", "0.1", "0.33333334", "100000", "10000000", "33554432", "1.2345679e+08", "1e+20"]),
        (np.float32, ["0.0001", "9.9999e-05", "1e-05", "3.4028235e+38", "1e-45"]),
        (np.float64, ["0.3333333333333333", "123456789.125", "100000", "1000000000000000", "1e+16", "1e-05", "5e-324"]),
        (np.float16, ["0.33325195", "65504", "0.099975586"]),
        (ml_dtypes.bfloat16, ["99840", "3.140625"]),
    ):
        values = np.array([float(text) for text in texts], dtype)
        assert cast(run_node, values, TensorProto.STRING).tolist() == texts
        np.testing.assert_array_equal(np.array([float(text) for text in texts]).astype(dtype), values)
    assert cast(run_node, np.array([True, False]), TensorProto.STRING).tolist() == ["True", "False"]
    got = cast(run_node, np.array([-(2**63), 2**63 - 1], np.int64), TensorProto.STRING)
    assert got.tolist() == [str(-(2**63)), str(2**63 - 1)]


@pytest.mark.parametrize(("name", "to"), [("FLOAT", 1), ("INT64", 7), ("BOOL", 9), ("DOUBLE", 11), ("FLOAT16", 10)])
def test_the_first_version_names_the_type(run_node: Any, name: str, to: int) -> None:
    x = np.array([0, 1.5, -3], np.float32)
    (got,) = run_node("Cast", [x], 1, [to], to=name)
    want = x.astype(helper.tensor_dtype_to_np_dtype(to))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
