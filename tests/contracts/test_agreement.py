# SPDX-License-Identifier: Apache-2.0
"""The line that a run against ONNX Runtime ends with."""

import pytest
from contracts.agreement import agreement

pytestmark = [pytest.mark.host_stricter, pytest.mark.slot()]


def reports(name, **outcomes):
    """Return the reports of one test, by phase."""
    return [pytest.TestReport(name, (name, 0, name), {}, outcome, None, when) for when, outcome in outcomes.items()]


def test_a_test_agrees_if_all_its_phases_passed():
    found = [
        *reports("a", setup="passed", call="passed", teardown="passed"),
        *reports("b", setup="passed", call="failed", teardown="passed"),
        *reports("c", setup="failed", teardown="passed"),
        *reports("d", setup="passed", call="passed", teardown="failed"),
    ]
    line = "agree with ONNX Runtime 1.32.0: 1 of 4 tests (25.0 %), 5 host_stricter not run"
    assert agreement("1.32.0", found, 5) == agreement("1.32.0", reversed(found), 5) == line


def test_no_test_is_no_agreement():
    assert agreement("1.32.0", [], 2) == "agree with ONNX Runtime 1.32.0: 0 of 0 tests, 2 host_stricter not run"
