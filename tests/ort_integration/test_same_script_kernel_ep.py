# SPDX-License-Identifier: Apache-2.0
"""The same script with the host and with ONNX Runtime: same results, same nodes on the plugin's kernels."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kernel_ep_script.py")

# What the library has kernels for in the model of each case, where nothing else is said; nodes by provider.
EXPECTED = {
    "chain": {"KernelEp": {"matmul", "add", "axpy", "relu", "mul", "squeeze"}},
    "chain_of_some": {"KernelEp": {"matmul", "axpy"}},
    "chain_of_two": {"Second": {"axpy", "relu"}, "KernelEp": {"matmul", "add", "mul", "squeeze"}},
    "chain_unselected": {},
    "types": {"KernelEp": {"add_float32", "add_float64", "add_int32", "add_int64"}},
    "older_operators": {"KernelEp": {"squeeze", "relu", "mul"}},
    "branches": {"KernelEp": {"add", "r"}},
}


def outcome(module: str, case: str) -> dict:
    """Return what the script prints in a process of its own."""
    command = [sys.executable, "-X", "faulthandler", str(SCRIPT), module, case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", EXPECTED)
def test_same_results_and_same_taken_nodes(case):
    theirs, ours = outcome("onnxruntime", case), outcome("onnx_light_ort_host", case)
    assert ours["results"] == theirs["results"]
    assert ours["providers"] == theirs["providers"]
    for provider in ("KernelEp", "Second"):
        nodes = {node for node, owner in ours["providers"].items() if owner == provider}
        assert nodes == EXPECTED[case].get(provider, set())
