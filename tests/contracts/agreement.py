# SPDX-License-Identifier: Apache-2.0
"""How many contract tests agree with ONNX Runtime, in one line."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def agreement(version: str, reports: Iterable[pytest.TestReport], stricter: int) -> str:
    """Return the line: a test agrees if it passed and neither its set-up nor its clean-up failed."""
    outcomes: dict[str, bool] = {}
    for report in reports:
        outcomes[report.nodeid] = outcomes.get(report.nodeid, True) and report.outcome == "passed"
    agree, total = sum(outcomes.values()), len(outcomes)
    share = f" ({100 * agree / total:.1f} %)" if total else ""
    return f"agree with ONNX Runtime {version}: {agree} of {total} tests{share}, {stricter} host_stricter not run"
