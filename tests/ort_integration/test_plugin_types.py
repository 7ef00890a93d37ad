# SPDX-License-Identifier: Apache-2.0
"""Every operator of the plugin with every element type of its table, in ONNX Runtime, against onnx.reference.

As custom operator and through the provider in both modes, at the newest version of each operator. Each type parameter
has each of its types in up to three cases; type_cases.py says of what they are made, type_references.py what they are
compared with, and plugin_types.py runs them.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from onnx_light_ort_plugin import list_custom_ops
from onnx_light_ort_plugin.operators import supported_operators

SCRIPT = Path(__file__).with_name("plugin_types.py")
Key = tuple[str, str, str]  # operator, type parameter, element type
USES = ("custom_ops", "kernel", "compile")

# Operators that a use never has, each with its reason. Everything else of the table must be covered.
NOT_COVERED: dict[str, dict[str, str]] = {
    "custom_ops": {},
    "kernel": {"Constant": "ONNX Runtime makes an initializer of it before it asks a provider"},
    "compile": {"Constant": "ONNX Runtime makes an initializer of it before it asks a provider"},
}


class Outcome:
    """What the script found, by use: what went wrong, what passed, and in how many cases."""

    def __init__(self, file: Path) -> None:
        command = [sys.executable, "-X", "faulthandler", str(SCRIPT), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        self.failures: dict[str, list[tuple[Key, str]]]
        self.covered: dict[str, set[Key]]
        self.counts: dict[str, int]
        self.failures, self.covered, self.counts = pickle.loads(file.read_bytes())


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome(tmp_path_factory.mktemp("types") / "outcome")


@pytest.mark.parametrize("use", USES)
def test_what_is_computed_is_right(outcome: Outcome, use: str) -> None:
    failing = [(key, reason) for key, reason in outcome.failures[use] if key[0] not in NOT_COVERED[use]]
    assert failing == []
    assert outcome.counts[use] > 4500


@pytest.mark.parametrize("use", USES)
def test_every_operator_and_element_type_is_covered(outcome: Outcome, use: str) -> None:
    table = {
        (op_type, where, element)
        for op_type, versions in supported_operators().items()
        for where, elements in versions[max(versions)].types.items()
        for element in elements
    }
    assert {op_type for op_type, _, _ in table} == set(list_custom_ops())
    missing = {key for key in table if key[0] not in NOT_COVERED[use]} - outcome.covered[use]
    assert sorted(missing) == []
    assert {op_type for op_type, _, _ in outcome.covered[use]}.isdisjoint(NOT_COVERED[use])
