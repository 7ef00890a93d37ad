# SPDX-License-Identifier: Apache-2.0
"""The host and a real ONNX Runtime in one process; beside_cases.py says what each case does there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("beside_cases.py")


@pytest.fixture
def beside(tmp_path):
    """Return a function that runs a case in a process of its own, which must end well, and returns what it logged."""

    def run(case: str, order: str) -> str:
        command = [sys.executable, "-X", "faulthandler", str(CASES), case, order, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stdout + done.stderr
        return done.stderr

    return run


@pytest.mark.parametrize("order", ["host,ort", "ort,host"])
@pytest.mark.parametrize(
    "case",
    [
        "alternate",
        "both_at_once",
        "same_model_of_onnx",
        "each_is_itself",
        "mapped_by_ort",
        "given_back_by_ort",
        "state_of_namespace_ort",
        "state_of_its_own",
        "state_of_its_own_used_by_us_alone",
        "ours_first_and_it_takes_the_latest_table",
        "the_entry_point_is_not_provided",
        "exit_with_everything_open",
        "onnx_extended",
        "onnxruntime_extensions",
    ],
)
def test_case(beside, case, order):
    beside(case, order)


@pytest.mark.parametrize("order", ["host,ort", "ort,host"])
def test_a_library_that_keeps_our_table_is_explained(beside, order):
    log = beside("ours_first_and_it_keeps_our_table", order)
    assert "AddCustomOpDomain: the session options are not this host's: " in log
    assert "has loaded a library that this host has loaded before" in log


def test_the_entry_point_was_provided_before_onnx_runtime_came(beside):
    beside("the_entry_point_was_provided_before", "host")
