# SPDX-License-Identifier: Apache-2.0
"""And, Or, Xor, Not, their bitwise counterparts, BitShift and Mod, against numpy or Python integers."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
SHAPES = [((), ()), ((5,), (5,)), ((3, 4), ()), ((), (3, 4)), ((3, 1), (1, 4)), ((2, 0), (1,)), ((300, 70), (70,))]
LOGIC = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
BITWISE = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}


def integers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True))


@pytest.mark.parametrize("op_type", LOGIC)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_logic(run_node: Any, rng: Any, op_type: str, shapes: Any) -> None:
    a, b = (np.asarray(rng.integers(0, 2, shape)).astype(bool) for shape in shapes)
    np.testing.assert_array_equal(run_node(op_type, [a, b], 7, threads=2)[0], LOGIC[op_type](a, b))


@pytest.mark.parametrize("op_type", LOGIC)
def test_logic_with_the_broadcast_attribute(run_node: Any, rng: Any, op_type: str) -> None:
    a, b = rng.integers(0, 2, (2, 3, 4)).astype(bool), rng.integers(0, 2, 3).astype(bool)
    (got,) = run_node(op_type, [a, b], 1, broadcast=1, axis=1)
    np.testing.assert_array_equal(got, LOGIC[op_type](a, b[:, None]))
    with pytest.raises(Exception, match=r"input 1 \(B\): without broadcast=1"):
        run_node(op_type, [a, b], 1)


def test_not(run_node: Any) -> None:
    for x in (np.array([[True, False]]), np.array(True), np.zeros((0, 2), bool)):
        np.testing.assert_array_equal(run_node("Not", [x], 1)[0], ~x)


@pytest.mark.parametrize("op_type", BITWISE)
@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_bitwise(run_node: Any, rng: Any, op_type: str, dtype: Any) -> None:
    for shapes in SHAPES[:-1]:
        a, b = (integers(rng, shape, dtype) for shape in shapes)
        np.testing.assert_array_equal(run_node(op_type, [a, b], 18)[0], BITWISE[op_type](a, b))
    np.testing.assert_array_equal(run_node("BitwiseNot", [a], 18)[0], np.bitwise_not(a))


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_bit_shift(run_node: Any, rng: Any, dtype: Any, direction: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 1, 5, 100], dtype)[:, None]
    amounts = [0, 1, 3, info.bits - 1, info.bits, info.bits + 1, 127]
    if info.min < 0:
        amounts += [-1, info.min]
    y = np.array(amounts, dtype)

    def shifted(value: int, amount: int) -> int:
        outside = amount < 0 or amount >= info.bits
        if direction == "RIGHT":
            return (-1 if value < 0 else 0) if outside else value >> amount
        return 0 if outside else (value << amount) % (1 << info.bits)

    want = np.array([[shifted(int(v), int(n)) % (1 << info.bits) for n in y] for v in x.ravel()], f"uint{info.bits}")
    (got,) = run_node("BitShift", [x, y], 28, direction=direction)
    assert got.tolist() == want.view(dtype).tolist()
    if info.min == 0:
        assert run_node("BitShift", [x, y], 11, direction=direction)[0].tolist() == want.tolist()


def test_bit_shift_refuses_other_directions(run_node: Any) -> None:
    x = np.ones(3, np.uint8)
    with pytest.raises(Exception, match=r"direction.*LEFT or RIGHT.*'UP'"):
        run_node("BitShift", [x, x], 11, direction="UP")


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("fmod", [0, 1])
def test_mod_of_integers(run_node: Any, rng: Any, dtype: Any, fmod: int) -> None:
    info = np.iinfo(dtype)
    a = np.concatenate([integers(rng, (40,), dtype), np.array([info.min, info.max, 0], dtype)])
    for b in (integers(rng, (43,), dtype), np.array([[3], [7], [info.max], [info.min or 1]], dtype)):
        b = np.where(b == 0, np.array(1, dtype), b)
        (got,) = run_node("Mod", [a, b], 13, fmod=fmod)
        pairs = np.broadcast(a, b)
        want = [(abs(int(x)) % abs(int(y)) * (-1 if x < 0 else 1)) if fmod else int(x) % int(y) for x, y in pairs]
        assert got.ravel().tolist() == want
    if info.min < 0:
        (got,) = run_node("Mod", [np.array([info.min, 5], dtype), np.array(-1, dtype)], 13, fmod=fmod)
        assert got.tolist() == [0, 0]
    with pytest.raises(Exception, match="divided by zero"):
        run_node("Mod", [a, np.array(0, dtype)], 13, fmod=fmod)


@pytest.mark.parametrize("dtype", FLOATS)
def test_mod_of_floats(run_node: Any, rng: Any, dtype: Any) -> None:
    a = np.asarray(rng.uniform(-20, 20, (9, 50))).astype(dtype)
    b = (rng.uniform(0.5, 4, 50) * rng.choice([-1, 1], 50)).astype(dtype)
    wide = a.astype(np.float64), b.astype(np.float64)
    (got,) = run_node("Mod", [a, b], 13, fmod=1)
    np.testing.assert_array_equal(got.astype(np.float64), np.fmod(*wide))
    tolerance = {"float32": 2e-6, "float64": 1e-14, "float16": 1e-2, "bfloat16": 4e-2}[np.dtype(dtype).name]
    (got,) = run_node("Mod", [a, b], 28)
    np.testing.assert_allclose(got.astype(np.float64), np.mod(*wide), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mod_of_floats_at_the_edges(run_node: Any, dtype: Any) -> None:
    inf, nan = math.inf, math.nan
    a = np.array([0.0, -0.0, inf, 3, 0, 3, -3, 3, nan, 3], dtype)
    b = np.array([-2.0, 2.0, 2, 0, 0, inf, inf, -inf, 2, nan], dtype)
    (got,) = run_node("Mod", [a, b], 28)
    np.testing.assert_array_equal(got, [-0.0, 0.0, nan, nan, nan, 3, inf, -inf, nan, nan])
    assert np.signbit(got[:2]).tolist() == [True, False]
    (got,) = run_node("Mod", [a, b], 28, fmod=1)
    np.testing.assert_array_equal(got, [0, 0, nan, nan, nan, 3, -3, 3, nan, nan])


def test_mod_refuses(run_node: Any) -> None:
    x = np.ones(3, np.float32)
    with pytest.raises(Exception, match=r"fmod.*must be 1 for floats.*got 0"):
        run_node("Mod", [x, x], 13)
    with pytest.raises(Exception, match=r"fmod.*must be 0 or 1, got 2"):
        run_node("Mod", [x, x], 13, fmod=2)
