# SPDX-License-Identifier: Apache-2.0
"""Cases that hold each operator to its bound of error_bounds.py."""

from error_cases import by_reference, elementwise, interpolation, layers, others, specials, sums

_MODULES = (elementwise, sums, specials, layers, interpolation, others, by_reference)
ALL_CASES = [case for module in _MODULES for case in module.cases()]
