# SPDX-License-Identifier: Apache-2.0
"""Measure how far results are from the exact ones: measure.py FILE [OPERATOR]...

FILE receives, pickled, a `Measured` for each case and type.
"""

from __future__ import annotations

import argparse
import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from error_bounds import BOUNDS, Bound
from onnx import helper, numpy_helper
from onnx_light_ort_host import InferenceSession, SessionOptions

from error_cases import ALL_CASES
from error_cases.case import Case, Exact, largest, ulp

NOTHING = Exact("1e-4900")  # less than any error


@dataclass
class Measured:
    """The worst of one case in one type."""

    row: str
    case: str
    dtype: str
    share: float
    """The greatest error as a share of what the bound allows."""
    ulps: float
    """The greatest error in units in the last place."""
    terms: float
    """What is left of it beyond the bound's units in the last place, in epsilons of the magnitude of the terms."""
    problem: str = ""
    """What is wrong beside: NaN, infinity or sign."""


def run(case: Case, inputs: list[Any], dtype: Any, winograd: bool = True) -> list[np.ndarray]:
    """Run a node once."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    results = [f"y{i}" for i in range(case.outputs)]
    given = {name: array for name, array in zip(names, inputs, strict=True) if name}
    fixed = {f"x{i}" for i in case.constants}
    node = helper.make_node(case.op_type, names, results, domain=case.domain, **case.attributes)
    info, kind_of = helper.make_tensor_value_info, helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [node],
        "node",
        [info(name, kind_of(array.dtype), array.shape) for name, array in given.items() if name not in fixed],
        [info(name, kind_of(np.dtype(dtype)), None) for name in results],
        [numpy_helper.from_array(given[name], name) for name in fixed],
    )
    opsets = [helper.make_opsetid(case.domain, case.opset), *([helper.make_opsetid("", 21)] if case.domain else [])]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = SessionOptions()
    options.reference_fallback = False
    options.winograd = winograd
    session = InferenceSession(model.SerializeToString(), options)
    outputs: list[np.ndarray] = session.run(None, {name: array for name, array in given.items() if name not in fixed})
    return outputs


def wide(array: Any) -> Any:
    """Return floats in extended precision, and all else as it is."""
    if array is None or np.dtype(array.dtype).kind in "iub":
        return array
    return array.astype(np.float64).astype(Exact)


def compared(case: Case, bound: Bound, dtype: Any, got: np.ndarray, exact: Any, magnitude: Any) -> Measured:
    """Compare one result with the exact one."""
    exact = np.asarray(exact, Exact)
    if magnitude is not None:
        magnitude = np.broadcast_to(np.nan_to_num(np.asarray(magnitude, Exact), nan=0, posinf=0), exact.shape)
    found = Measured(case.row, f"{case.op_type} {case.variant}".strip(), np.dtype(dtype).name, 0, 0, 0)
    if got.shape != exact.shape or got.dtype != dtype:
        found.problem = f"expected {np.dtype(dtype).name}{list(exact.shape)}, got {got.dtype.name}{list(got.shape)}"
        return found
    value = wide(got)
    unit, rounding, allowed = bound.allowed(exact, magnitude, dtype)
    limit = largest(dtype)
    # Beyond the greatest number there is one more before the next is infinity.
    finite = np.isfinite(exact) & (np.abs(exact) < limit + ulp(limit, dtype) / 2)
    may_overflow = finite & (np.abs(exact) + allowed >= limit)
    wrong = np.isnan(exact) != np.isnan(value)
    wrong |= ~finite & ~np.isnan(exact) & ((np.abs(value) < limit) | (np.sign(value) != np.sign(exact)))
    wrong |= finite & ~np.isfinite(value) & ~may_overflow
    if case.signed_zeros:
        wrong |= (exact == 0) & (value == 0) & (np.signbit(exact) != np.signbit(value))
    if wrong.any():
        where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
        one = np.atleast_1d(exact)[where], np.atleast_1d(value)[where]
        found.problem = f"element {where}: expected {one[0]!s}, got {one[1]!s} ({wrong.sum()} such)"
    checked = finite & np.isfinite(value)
    if checked.any():
        error = np.abs(value - exact)[checked]
        allowed = np.broadcast_to(allowed, exact.shape)[checked]
        found.ulps = float((error / unit[checked]).max())
        found.share = float((error / np.maximum(allowed, NOTHING)).max())
        if magnitude is not None:
            beyond = np.maximum(error - rounding[checked], 0)
            scale = magnitude[checked] * bound.epsilon(dtype)
            found.terms = float((beyond / np.maximum(scale, NOTHING)).max())
    return found


def measured(case: Case, dtype: Any) -> list[Measured]:
    """Run a case in one type."""
    rng = np.random.default_rng(17)
    inputs = list(case.inputs(rng, dtype))
    with np.errstate(all="ignore"):
        extra = [dtype] if getattr(case.exact, "takes_dtype", False) else []
        exact = case.exact(*map(wide, inputs), *extra)
        exact = exact if isinstance(exact, list) else [exact]
        pairs = [one if isinstance(one, tuple) else (one, None) for one in exact]
        results = run(case, inputs, dtype, winograd=case.variant != "without Winograd")
        return [compared(case, BOUNDS[case.row], dtype, got, *pair) for got, pair in zip(results, pairs, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("op_types", nargs="*", help="by default all")
    parser.add_argument("--dtype", action="append", help="only this type")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for case in ALL_CASES:
        if options.op_types and case.op_type not in options.op_types:
            continue
        for dtype in case.dtypes:
            if options.dtype and np.dtype(dtype).name not in options.dtype:
                continue
            for one in measured(case, dtype):
                found.append(vars(one))
                numbers = f"share {one.share:.3f}, ulps {one.ulps:.4g}, terms {one.terms:.3f}"
                print(f"{one.case} {one.dtype}: {numbers} {one.problem}", flush=True)
    options.file.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
