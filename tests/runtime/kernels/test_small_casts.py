# SPDX-License-Identifier: Apache-2.0
"""Cast from and to numbers of at most 8 bits against ml_dtypes and ONNX's table, exactly; and BitCast."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernel_arrays import kind, numbered
from onnx import TensorProto

FLOAT8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]
SMALL_FLOATS = [*FLOAT8, ml_dtypes.float4_e2m1fn]
SMALL_INTEGERS = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2]
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def opset_of(dtype: Any) -> int:
    return 25 if dtype in (ml_dtypes.int2, ml_dtypes.uint2) else 24


def every(dtype: Any) -> np.ndarray:
    """Return every number of a small type."""
    bits = 8 if dtype in FLOAT8 else 2 if "2" in np.dtype(dtype).name[-2:] and dtype in SMALL_INTEGERS else 4
    if dtype in SMALL_INTEGERS:
        low = 0 if "u" in np.dtype(dtype).name else -(2 ** (bits - 1))
        return np.arange(low, low + 2**bits).astype(dtype)
    return np.arange(2**bits, dtype=np.uint8).view(dtype)


def bits_of(x: np.ndarray) -> list[int]:
    """Return the codes, with one code for all that is no number."""
    values, codes = x.astype(np.float64).ravel(), x.view(np.uint8).ravel()
    return [-1 if np.isnan(v) else int(c) for v, c in zip(values, codes, strict=True)]


@pytest.mark.parametrize("small", [*SMALL_FLOATS, *SMALL_INTEGERS, ml_dtypes.float8_e8m0fnu])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_small_number_as_a_float(run_node: Any, small: Any, dtype: Any) -> None:
    x = np.arange(256, dtype=np.uint8).view(small) if small is ml_dtypes.float8_e8m0fnu else every(small)
    x = np.concatenate([x] * 3)[:-1]  # an odd number of them, too
    (got,) = run_node("Cast", [x], opset_of(small), [kind(dtype)], to=kind(dtype))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got.astype(np.float64), x.astype(np.float32).astype(dtype).astype(np.float64))


@pytest.mark.parametrize("small", [*SMALL_FLOATS, *SMALL_INTEGERS])
@pytest.mark.parametrize("dtype", [*INTEGERS, np.bool_])
def test_every_small_number_as_an_integer(run_node: Any, small: Any, dtype: Any) -> None:
    x = every(small)
    wide = x.astype(np.float64)
    x, wide = x[np.isfinite(wide)], wide[np.isfinite(wide)]
    if dtype is np.bool_:
        want = wide != 0
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        keep = (wide >= low) & (wide <= high)
        x, want = x[keep], wide[keep].astype(dtype)
    (got,) = run_node("Cast", [x], opset_of(small), [kind(dtype)], to=kind(dtype))
    assert got.dtype == dtype
    assert got.tolist() == want.tolist()


def numbers_for(dtype: Any, source: Any) -> np.ndarray:
    """Return all numbers of a small float, what is between them, the ties, and what is beyond."""
    values = every(dtype).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    between = [values, (values[1:] + values[:-1]) / 2, values * (1 + 2**-9), values * (1 - 2**-9)]
    beyond = values[-1] * np.array([1.03, 1.0625, 1.07, 1.125, 1.13, 2, 1e3])
    specials = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30]
    with np.errstate(over="ignore"):
        return np.concatenate([*between, beyond, -beyond, specials]).astype(source)


@pytest.mark.parametrize("small", SMALL_FLOATS)
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("saturate", [1, 0])
def test_floats_as_small_floats(run_node: Any, small: Any, source: Any, saturate: int) -> None:
    x = numbers_for(small, source)
    if small not in FLOAT8:
        x = x[~np.isnan(x.astype(np.float64))]
    wide = x.astype(np.float64)
    info = ml_dtypes.finfo(small)
    clipped = np.clip(wide, float(info.min), float(info.max)) if saturate else wide
    want = clipped.astype(np.float32).astype(small) if source is not np.float64 else clipped.astype(small)
    (got,) = run_node("Cast", [x], 24, [kind(small)], to=kind(small), saturate=saturate)
    assert got.dtype == small
    assert bits_of(got) == bits_of(want)


@pytest.mark.parametrize("small", [*SMALL_FLOATS])
@pytest.mark.parametrize("source", [*INTEGERS, np.bool_])
def test_integers_as_small_floats(run_node: Any, small: Any, source: Any) -> None:
    x = np.arange(120).astype(source)
    want = np.clip(x.astype(np.float32), None, float(ml_dtypes.finfo(small).max)).astype(small)
    assert bits_of(run_node("Cast", [x], 24, [kind(small)], to=kind(small))[0]) == bits_of(want)


@pytest.mark.parametrize("small", SMALL_INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_as_small_integers(run_node: Any, small: Any, source: Any) -> None:
    # Within the type's range cut off; beyond it the low bits of the whole number, as of integers.
    info, bits = ml_dtypes.iinfo(small), 2 if small in (ml_dtypes.int2, ml_dtypes.uint2) else 4
    low, high = int(info.min), int(info.max)
    ends = [high, high + 0.9, low, low - 0.9, high + 1, low - 1]
    x = np.array([-0.0, 0.5, 0.9, 1.2, -0.7, 1.99, *ends, 100, -100, np.nan]).astype(source)
    whole = np.trunc(np.nan_to_num(x.astype(np.float64))).astype(int)
    want = [(int(v) - low) % 2**bits + low for v in whole]
    (got,) = run_node("Cast", [x], opset_of(small), [kind(small)], to=kind(small))
    assert got.astype(int).tolist() == want


@pytest.mark.parametrize("small", SMALL_INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_keep_their_low_bits(run_node: Any, small: Any, source: Any) -> None:
    info = np.iinfo(source)
    x = np.array([info.min, info.max, 0, 1, 2, 3, 7, 8, 9, 15, 16, 100], source)
    bits = 2 if small in (ml_dtypes.int2, ml_dtypes.uint2) else 4
    low = [int(v) % 2**bits for v in x]
    signed = small in (ml_dtypes.int4, ml_dtypes.int2)
    want = [v - 2**bits if signed and v >= 2 ** (bits - 1) else v for v in low]
    assert run_node("Cast", [x], opset_of(small), [kind(small)], to=kind(small))[0].astype(int).tolist() == want


@pytest.mark.parametrize("source", [ml_dtypes.float8_e4m3fn, ml_dtypes.int4])
@pytest.mark.parametrize("small", [ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn, ml_dtypes.uint4])
def test_small_numbers_as_others(run_node: Any, source: Any, small: Any) -> None:
    x = every(source)
    x = x[np.isfinite(x.astype(np.float32))]
    wide = x.astype(np.float32)
    if small is ml_dtypes.uint4:
        x, wide = x[wide >= 0], wide[wide >= 0]
        want = np.trunc(wide) % 16
    else:
        want = np.clip(wide, float(ml_dtypes.finfo(small).min), float(ml_dtypes.finfo(small).max))
        want = want.astype(small).astype(np.float32)
    (got,) = run_node("Cast", [x], 24, [kind(small)], to=kind(small))
    assert got.astype(np.float32).tolist() == want.tolist()


@pytest.mark.parametrize(
    ("mode", "saturate", "want"),
    [
        # 0, the smallest, less than it, 1, 1.25, 1.5, 1.75, 3, the largest, more, infinity, no number
        ("up", 1, [0, 0, 0, 127, 128, 128, 128, 129, 254, 254, 254, 255]),
        ("down", 1, [0, 0, 0, 127, 127, 127, 127, 128, 254, 254, 254, 255]),
        ("nearest", 0, [255, 0, 255, 127, 127, 128, 128, 129, 254, 255, 255, 255]),
    ],
)
def test_exponents(run_node: Any, mode: str, saturate: int, want: Any) -> None:
    x = np.array([0, 2.0**-127, 2.0**-140, 1, 1.25, 1.5, 1.75, 3, 2.0**127, 2.0**127 * 1.9, np.inf, np.nan], np.float32)
    e8m0 = TensorProto.FLOAT8E8M0
    (got,) = run_node("Cast", [x], 24, [e8m0], to=e8m0, round_mode=mode, saturate=saturate)
    assert got.view(np.uint8).tolist() == want


@pytest.mark.parametrize(
    ("mode", "want"), [("up", [187, 188, 190]), ("down", [187, 187, 189]), ("nearest", [187, 187, 190])]
)
def test_exponents_of_integers_that_no_float_holds(run_node: Any, mode: str, want: Any) -> None:
    x = np.array([2**60, 2**60 + 1, 2**63 - 1], np.int64)
    e8m0 = TensorProto.FLOAT8E8M0
    (got,) = run_node("Cast", [x], 24, [e8m0], to=e8m0, round_mode=mode)
    assert got.view(np.uint8).tolist() == want


def test_cast_like_small_numbers(run_node: Any) -> None:
    x, like = np.array([1.3, 500, -2], np.float32), np.zeros(1, ml_dtypes.float8_e4m3fn)
    (got,) = run_node("CastLike", [x, like], 24, [TensorProto.FLOAT8E4M3FN])
    assert got.astype(float).tolist() == [1.25, 448, -2]


def test_round_mode_must_be_one(run_node: Any) -> None:
    e8m0 = TensorProto.FLOAT8E8M0
    with pytest.raises(Exception, match="up, down or nearest, got half"):
        run_node("Cast", [np.ones(1, np.float32)], 24, [e8m0], to=e8m0, round_mode="half")


WIDTHS = {
    1: [np.int8, np.uint8, np.bool_, *FLOAT8],
    2: [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16],
    4: [np.int32, np.uint32, np.float32],
    8: [np.int64, np.uint64, np.float64, np.complex64],
    0: [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn],
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 2)], ids=str)
def test_bit_cast(run_node: Any, width: int, shape: Any) -> None:
    for source in WIDTHS[width]:
        x = numbered(shape, np.int8).astype(np.uint8 if source is not np.bool_ else bool).astype(source)
        for target in WIDTHS[width]:
            (got,) = run_node("BitCast", [x], 26, [kind(target)], to=kind(target))
            assert got.dtype == target
            assert got.shape == shape
            if target is np.bool_:
                assert got.tolist() == (x.view(np.uint8) != 0).tolist()
            else:
                assert got.tobytes() == x.tobytes()


def test_bit_cast_keeps_every_bit(run_node: Any) -> None:
    x = np.array([0x7F800001, 0xFFC12345, 0x80000000, 1], np.uint32)
    (got,) = run_node("BitCast", [x], 26, [TensorProto.FLOAT], to=TensorProto.FLOAT)
    assert got.view(np.uint32).tolist() == x.tolist()


def test_bit_cast_needs_types_of_one_width(run_node: Any) -> None:
    with pytest.raises(Exception, match="as wide as float"):
        run_node("BitCast", [np.ones(2, np.float32)], 26, [TensorProto.INT64], to=TensorProto.INT64)
