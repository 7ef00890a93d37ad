# SPDX-License-Identifier: Apache-2.0
"""Einsum and Det against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
TOLERANCE = {"float32": 2e-6, "float64": 1e-13, "float16": 2e-3, "bfloat16": 1.6e-2}

EQUATIONS = [
    ("ij->ji", [(3, 4)]),
    ("ij->i", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ij", [(3, 4)]),
    ("ba", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("iji->ij", [(4, 3, 4)]),
    ("->", [()]),
    (",", [(), ()]),
    ("i,->i", [(5,), ()]),
    ("i,i", [(5,), (5,)]),
    ("i,j->ij", [(3,), (4,)]),
    ("i,j->", [(300,), (400,)]),
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    (" i j , jk -> k i ", [(3, 4), (4, 5)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("bhij,bhjd->bihd", [(2, 3, 4, 6), (2, 3, 6, 5)]),
    ("Aa,ab->Ab", [(3, 4), (4, 5)]),
    ("Ba,aC", [(3, 4), (4, 5)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
    ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 6)]),
    ("...,...->...", [(2, 1, 3), (4, 1)]),
    ("...ii->...i", [(2, 3, 3)]),
    ("i...->...", [(4, 2, 3)]),
    ("...i->i...", [(2, 3, 4)]),
    ("ij,j->ij", [(3, 4), (1,)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("a,ab,abc->abc", [(2,), (2, 3), (2, 3, 4)]),
    ("ijk,k,j->i", [(3, 4, 5), (5,), (4,)]),
    ("i,i,i,i->", [(6,), (6,), (6,), (6,)]),
    ("ij,jk->ik", [(3, 0), (0, 5)]),
    ("ij,jk->ik", [(0, 4), (4, 5)]),
    ("ij->j", [(0, 3)]),
    ("ij,jk->ik", [(40, 70), (70, 300)]),
    ("abcdefghij->jihgfedcba", [(2, 1, 2, 1, 2, 1, 2, 1, 2, 3)]),
    # Large enough to be products of matrices.
    ("ij,jk->ki", [(40, 30), (30, 50)]),
    ("ji,kj->ik", [(30, 40), (50, 30)]),
    ("bhid,bhjd->bhij", [(2, 3, 9, 8), (2, 3, 11, 8)]),
    ("bhij,bhjd->bihd", [(2, 3, 9, 8), (2, 3, 8, 10)]),
    ("bihd,bjhd->bhij", [(2, 9, 3, 8), (2, 11, 3, 8)]),
    ("bij,bjk->ikb", [(3, 9, 8), (3, 8, 11)]),
    ("ibj,kjb->kbi", [(9, 3, 8), (11, 8, 3)]),
    ("abc,cad->bd", [(6, 9, 7), (7, 6, 12)]),
    ("abc,acd->bd", [(6, 9, 7), (6, 7, 12)]),
    ("abcd,ceaf->bedf", [(4, 5, 6, 3), (6, 7, 4, 8)]),
    ("...ij,...jk->...ik", [(2, 1, 9, 8), (5, 8, 11)]),
    ("...ij,...jk->ik...", [(2, 1, 9, 8), (5, 8, 11)]),
    ("ij,jk->ik", [(40, 1), (30, 50)]),
    ("iij,jk->ik", [(9, 9, 8), (8, 11)]),
    ("ij,j->i", [(40, 70), (70,)]),
    ("j,ij->i", [(70,), (40, 70)]),
    ("bi,bi->b", [(5, 700), (5, 700)]),
    ("ij,ij->", [(40, 70), (40, 70)]),
    ("ij,jk->", [(40, 30), (30, 50)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_einsum(run_node: Any, rng: Any, equation: str, shapes: Any, dtype: Any) -> None:
    arrays = [np.asarray(rng.uniform(-1, 1, shape)).astype(dtype) for shape in shapes]
    want = np.asarray(np.einsum(equation, *(a.astype(np.float64) for a in arrays)))
    (got,) = run_node("Einsum", arrays, 28 if dtype is ml_dtypes.bfloat16 else 12, equation=equation, threads=2)
    assert got.dtype == dtype
    assert got.shape == want.shape
    tolerance = TOLERANCE[np.dtype(dtype).name]
    scale = max(1, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_einsum_of_integers_wraps(run_node: Any, rng: Any, kind: str) -> None:
    info = np.iinfo(kind)
    a, b = (np.asarray(rng.integers(info.min, info.max, shape, dtype=kind)) for shape in ((3, 4), (4, 5)))
    (got,) = run_node("Einsum", [a, b], 12, equation="ij,jk->ik")
    modulus = 2**info.bits
    exact = a.astype(object) @ b.astype(object)
    want = [[(int(v) - info.min) % modulus + info.min for v in row] for row in exact]
    assert got.tolist() == want


def test_an_ellipsis_that_the_output_does_not_name_is_summed(run_node: Any) -> None:
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    (got,) = run_node("Einsum", [x], 12, equation="...i->i")
    np.testing.assert_array_equal(got, x.sum((0, 1)))


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij,jk->ik", [(3, 4)], "a term for each of the 1 inputs"),
        ("i1->i", [(3, 4)], "must consist of letters"),
        ("i..->i", [(3, 4)], "must consist of letters"),
        ("i......->i", [(3, 4)], "at most one ellipsis"),
        ("ij->ik", [(3, 4)], "on the right alone"),
        ("ij->ii", [(3, 4)], "must not repeat"),
        ("ij,jk->ik", [(3, 4), (5, 6)], "input 1: must have extent 4 at axis 0"),
        ("ii->i", [(3, 4)], "input 0: must have extent 3 at axis 1"),
        ("ijk->i", [(3, 4)], "input 0: must have 3 axes"),
        ("ijk...->i", [(3, 4)], "input 0: must have at least 3 axes"),
    ],
)
def test_einsum_refuses(run_node: Any, equation: str, shapes: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("Einsum", [np.ones(shape, np.float32) for shape in shapes], 12, equation=equation, unranked=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (3, 4, 4), (2, 0, 3, 3), (0, 0), (2, 0, 0)], ids=str)
def test_determinant(run_node: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)
    (got,) = run_node("Det", [x], 22 if dtype is ml_dtypes.bfloat16 else 11, threads=2)
    want = np.linalg.det(x.astype(np.float64))
    assert got.shape == want.shape
    tolerance = TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


def test_determinant_with_zero_pivots(run_node: Any) -> None:
    x = np.array([[[0, 2], [3, 4]], [[1, 2], [2, 4]], [[0, 0], [0, 0]]], np.float32)
    assert run_node("Det", [x], 11)[0].tolist() == [-6, 0, 0]
    for shape in [(3,), (2, 3), ()]:
        with pytest.raises(Exception, match=r"input 0 \(X\): must have square matrices"):
            run_node("Det", [np.ones(shape, np.float32)], 11, unranked=True)
