# SPDX-License-Identifier: Apache-2.0
"""Every operator keeps to its row of error_bounds.py, on each instruction-set level of this machine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import operators_page
import pytest
from error_bounds import BOUNDS, WITHOUT_BOUND, Bound
from error_cases import ALL_CASES, measure
from error_cases.case import Case, Exact
from simd_levels import levels

SCRIPT = Path(measure.__file__)
TESTS = SCRIPT.parents[1]
LEVELS = levels()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Return what was measured on each level, in all types of floats."""
    folder = tmp_path_factory.mktemp("errors")
    found = {}
    for level in LEVELS:
        command = [sys.executable, str(SCRIPT), str(folder / level)]
        path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "ONNX_LIGHT_SIMD": level, "PYTHONPATH": path}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-200:] + done.stderr
        found[level] = pickle.loads((folder / level).read_bytes())
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", BOUNDS)
def test_errors_are_within_the_bound(measured: dict[str, list[dict[str, Any]]], level: str, row: str) -> None:
    found = [one for one in measured[level] if one["row"] == row]
    assert "float32" in {one["dtype"] for one in found}
    beyond = [
        f"{one['case']} {one['dtype']}: {one['share']:.3g} of the bound, {one['ulps']:.4g} units in the last place"
        for one in found
        if not one["share"] <= 1
    ]
    assert beyond + [f"{one['case']} {one['dtype']}: {one['problem']}" for one in found if one["problem"]] == []


def test_every_operator_has_a_bound_or_a_reason() -> None:
    native = {one.name for found in operators_page.operators().values() for one in found if one.native}
    reasons = [name for names in WITHOUT_BOUND.values() for name in names]
    assert sorted([*reasons, *{row.split(",")[0] for row in BOUNDS}]) == sorted(native)
    assert {case.row for case in ALL_CASES} == set(BOUNDS)


def compared(got: list[float], exact: list[float], bound: Bound, magnitude: Any = None, zeros: bool = False) -> Any:
    case = Case("Exp", 13, lambda *_: [], lambda: None, signed_zeros=zeros)
    with np.errstate(all="ignore"):
        return measure.compared(case, bound, np.float32, np.array(got, np.float32), np.array(exact, Exact), magnitude)


def test_errors_are_found() -> None:
    next_to_one = float(np.nextafter(np.float32(1), np.float32(2)))
    assert compared([1], [1], Bound(0)).share == 0
    assert compared([next_to_one], [1], Bound(1)).share == 1
    assert compared([next_to_one], [1], Bound(0.5)).share == 2
    assert compared([next_to_one], [1], Bound(0, terms=0.5), 4).share == 0.5
    assert compared([1e-45], [0], Bound(0.5)).share > 1


@pytest.mark.parametrize(
    ("got", "exact"),
    [(np.nan, 1), (1, np.nan), (np.inf, 1), (1, np.inf), (-np.inf, np.inf), (3e38, 4e38), (np.inf, 3e38), (-0.0, 0.0)],
)
def test_what_is_no_number_or_has_the_wrong_sign_is_found(got: float, exact: float) -> None:
    assert compared([got], [exact], Bound(100), zeros=True).problem
    assert not compared([exact], [exact], Bound(1), zeros=True).problem


def test_overflow_is_infinity() -> None:
    assert not compared([np.inf, -np.inf], [4e38, -4e38], Bound(0.5)).problem
