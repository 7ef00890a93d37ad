# SPDX-License-Identifier: Apache-2.0
"""Cases that hold each operator to its bound of error_bounds.py."""

from error_cases import by_reference, elementwise, interpolation, layers, others, sums

ALL_CASES = [
    case for module in (elementwise, sums, layers, interpolation, others, by_reference) for case in module.cases()
]
