# SPDX-License-Identifier: Apache-2.0
"""Write docs/error_bounds.md from the table that the tests hold every operator to, tests/error_bounds.py.

`./dev support-matrix` runs it; a test fails when the page is not what it would write.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

# The folder of the tests is known only now.
from error_bounds import BOUNDS, WITHOUT_BOUND, Bound  # noqa: E402
from error_cases.elementwise import UNSIGNED  # noqa: E402

HEAD = """\
# Error bounds

How far the result of a native kernel may be from the exact one. The tests hold every row to it on each instruction-set
level of the machine, in all types of floats that the operator has, with references in extended precision (a few are
`onnx.reference` in float64): functions of one number on all numbers of float16 and bfloat16 and on a sample of all
numbers of float32 and float64, NaN, infinities, zeros of both signs and denormals among them; what sums on tensors of
some hundreds to some thousands of terms. `./dev support-matrix` writes this page from the table of the tests.

A bound is a number of units in the last place (ulp) of the exact result, and for some operators a number of epsilons
(2^-23 in float32, 2^-52 in float64) times a magnitude. float16 and bfloat16 are computed in float32, with the same
bound, and rounded to the type at the end, which adds the units of the last column. Half a unit is what rounding once
costs, and 0 is exact. "root of n" is how n independent roundings add up; it is not the worst that can be made up.

What is not a number or overflows is as IEEE 754 and ONNX's formula have it: NaN gives NaN (`ThresholdedRelu`, `Shrink`
and comparisons choose the other branch), a result beyond the type is an infinity, denormals are computed with, and the
sign of a zero that is a function of one or two numbers is that of the formula, but for {unsigned}.

What squares its elements (`ReduceL2`, `LpNormalization`) loses in float64 those whose square underflows; the other
types have a wider one to square in.

Winograd's transform computes tiles of 2 x 2 or 4 x 4 results together. Each of them has the error of the greatest, and
if one sees an infinity, a NaN or an element beyond 1e37, all may become NaN. `SessionOptions.winograd` switches the
transform off, for the bound of the other convolutions.
"""
HEADING = "| operators | ulp, float32 | ulp, float64 | more: epsilons of | ulp more in float16, bfloat16 |"


def cells(names: list[str], bound: Bound) -> list[str]:
    """Return the row of a bound and the operators that have it."""
    double = bound.ulps if bound.double is None else bound.double
    terms = f"{bound.terms:g} of {bound.what}" if bound.terms else ""
    return [", ".join(names), units(bound.ulps), units(double), terms, f"{bound.half:g}"]


def units(ulps: float) -> str:
    """Return units in the last place; what the tests allow for the rounding of the reference is left out."""
    return f"{ulps:.2g}"


def page() -> str:
    """Return the page in Markdown."""
    rows: dict[Bound, list[str]] = {}
    for name, bound in BOUNDS.items():
        rows.setdefault(bound, []).append(name.replace("Conv, Winograd", "Conv by Winograd's transform"))
    lines = [HEAD.format(unsigned=", ".join(sorted(UNSIGNED))), HEADING, "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(cells(sorted(names), bound)) + " |" for bound, names in rows.items()]
    lines += ["", "## Operators without a row", "", "| operators | results |", "|---|---|"]
    lines += [f"| {', '.join(names)} | {reason} |" for reason, names in WITHOUT_BOUND.items()]
    return "\n".join([*lines, ""])


def pages() -> dict[Path, str]:
    """Return the content of each file."""
    return {DOCS / "error_bounds.md": page()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
