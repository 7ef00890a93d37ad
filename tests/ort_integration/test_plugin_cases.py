# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package with the plugin: nothing that ONNX Runtime passes alone may fail.

Once with the plugin's provider first, once rewritten for its custom operators. And the same library gives the same bits
in ONNX Runtime and in our own host.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx_light_ort_plugin
import pytest
from onnx_node_cases import Case, compare, load_cases
from plugin_ep import CPU, EP_NAME

SCRIPT = Path(__file__).with_name("plugin_cases.py")

# Cases that fail though ONNX Runtime passes them alone, each with its reason: none with the provider.
FAILING = {
    "kernel": {},
    "compile": {},
    "custom_ops": {
        # Nodes that are custom operators round to float16 one by one, as the types say.
        "test_attention_4d_causal_fp16_expanded": "2 of 192 values are off by one unit in the last place of float16",
    },
}

# Operators of which the provider takes no node: the runtime has no kernel, or the kernel is for other than tensors, or
# it has subgraphs, whose nodes are taken one by one.
NEVER_TAKEN = {
    "If", "Loop", "Optional", "RegexFullMatch", "Scan", "SequenceAt", "SequenceConstruct", "SequenceEmpty",
    "SequenceInsert", "SequenceLength", "SplitToSequence",
}  # fmt: skip

# Operators that ONNX Runtime replaces by the nodes of their definition in ONNX, and our host does not.
REPLACED_BY_ONNX_RUNTIME = {
    "Attention", "CausalConvWithState", "CenterCropPad", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss",
    "SwiGLU",
}  # fmt: skip

Results = dict[str, tuple[list[Any] | str, dict[str, list[str]]]]


def outcome(tmp: Path, module: str, use: str, optimize: bool = True) -> Results:
    file = tmp / f"{module}_{use}_{optimize}"
    command = [sys.executable, "-X", "faulthandler", str(SCRIPT), module, use, str(int(optimize)), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return pickle.loads(file.read_bytes())


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load_cases()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Results]:
    tmp = tmp_path_factory.mktemp("results")
    return {
        (use, optimize): outcome(tmp, "onnxruntime", use, optimize)
        for use in ("cpu", "kernel", "compile", "custom_ops")
        for optimize in (True, False)
    }


def verdict(case: Case, results: list[Any] | str) -> str:
    """Return what is wrong with the results of a case, or ""."""
    if isinstance(results, str):
        return results
    try:
        for got, (_, want) in zip(results, case.data_sets, strict=True):
            for one, other in zip(got, want, strict=True):
                compare(one, other, case.rtol, case.atol)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("use", ["kernel", "compile", "custom_ops"])
def test_nothing_fails_that_onnx_runtime_passes_alone(
    cases: list[Case], results: dict[tuple[str, bool], Results], use: str, optimize: bool
) -> None:
    passed_alone = [case for case in cases if not verdict(case, results["cpu", optimize][case.name][0])]
    assert len(passed_alone) > 1500
    failing = {case.name: verdict(case, results[use, optimize][case.name][0]) for case in passed_alone}
    assert {name: reason for name, reason in failing.items() if reason and name not in FAILING[use]} == {}
    assert [name for name in FAILING[use] if not failing[name]] == [], "they pass now: take them off the list"


def test_every_operator_is_taken_but_those_listed(results: dict[tuple[str, bool], Results]) -> None:
    taken: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for _, by_provider in results["kernel", False].values():
        for provider, operators in by_provider.items():
            (taken if provider == EP_NAME else left).update(operators)
    assert set(left) - set(taken) == NEVER_TAKEN
    assert len(taken) >= 150


def same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and one.dtype.kind != "O":
        # ONNX Runtime gives the codes of 8-bit floats, and those of 4 bits in pairs at the front of as many bytes.
        if other.dtype == np.uint8 and one.dtype.name == "float4_e2m1fn":
            codes = np.append(one.view(np.uint8).ravel(), np.zeros(one.size % 2, np.uint8))
            packed = codes[::2] | codes[1::2] << 4
            return one.shape == other.shape and packed.tobytes() == other.tobytes()[: packed.size]
        kind = np.dtype(np.uint8) if one.dtype.name.startswith("float8") and other.dtype == np.uint8 else one.dtype
        return kind == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, list):
        return len(one) == len(other) and all(same_bits(a, b) for a, b in zip(one, other, strict=True))
    return np.array_equal(one, other)


def test_every_operator_is_rewritten_but_those_that_are_never_taken(
    cases: list[Case], results: dict[tuple[str, bool], Results]
) -> None:
    rewritten = {op for _, taken in results["custom_ops", False].values() for op in taken.get("custom_ops", [])}
    assert rewritten & NEVER_TAKEN == set()
    assert len(rewritten) >= 150
    assert rewritten <= set(onnx_light_ort_plugin.list_custom_ops())


def bits_that_differ(cases: list[Case], ours: Results, theirs: Results, names: set[str]) -> list[tuple[str, Any]]:
    """Return the cases among those named whose results are not the same in both."""
    different = []
    for case in cases:
        one, other = ours[case.name][0], theirs[case.name][0]
        if case.name not in names or (isinstance(one, str) and case.op_type in REPLACED_BY_ONNX_RUNTIME):
            continue
        if isinstance(one, str) or not same_bits(one, other):
            different.append((case.name, one))
    return different


def has_strings(case: Case) -> bool:
    return any(isinstance(value, np.ndarray) and value.dtype.kind in "OUS" for value in case.data_sets[0][0])


@pytest.mark.parametrize("mode", ["kernel", "compile"])
def test_our_own_host_gets_the_same_bits_from_the_provider(
    cases: list[Case], results: dict[tuple[str, bool], Results], tmp_path: Path, mode: str
) -> None:
    theirs, ours = results[mode, False], outcome(tmp_path, "onnx_light_ort_host", mode)
    # Our host shows no nodes of strings to a provider that compiles.
    left = {case.name for case in cases if has_strings(case)} if mode == "compile" else set()
    names = {
        name
        for name, (result, taken) in theirs.items()
        # Random values aside; and no provider is asked for Constant in our host.
        if not isinstance(result, str) and set(taken) == {EP_NAME} and not name.startswith("test_bernoulli")
    } - left
    assert len(names) > 1000
    assert {op for name in names for op in ours[name][1].get(CPU, [])} <= {"Constant"}
    assert bits_that_differ(cases, ours, theirs, names) == []


def test_our_own_host_gets_the_same_bits_from_the_custom_operators(
    cases: list[Case], results: dict[tuple[str, bool], Results], tmp_path: Path
) -> None:
    theirs, ours = results["custom_ops", False], outcome(tmp_path, "onnx_light_ort_host", "custom_ops")
    names = {
        case.name
        for case in cases
        if not isinstance(theirs[case.name][0], str)
        and len(theirs[case.name][1]["custom_ops"]) == case.node_count
        and case.op_type != "Bernoulli"
    }
    assert len(names) > 800
    assert bits_that_differ(cases, ours, theirs, names) == []
