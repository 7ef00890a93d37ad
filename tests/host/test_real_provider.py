# SPDX-License-Identifier: Apache-2.0
"""Published execution providers, unmodified, through the host; `./dev wild` asks more of them."""

from __future__ import annotations

import ep_scenarios
import onnx_light_ort_host as ort
import pytest
import run_cases
from real_libraries import library_path

HOST = "onnx_light_ort_host"
COUNTS = {"ggml": 7, "openvino": 7, "nxrt": 6}
CASES = [case for name in COUNTS for case in run_cases.load_index(name)]
SCENARIOS = [name for name in ep_scenarios.SCENARIOS if name != "50 sessions"]


@pytest.mark.parametrize("name", COUNTS)
def test_the_cases_are_all_here(name):
    assert len(run_cases.load_index(name)) == COUNTS[name]


@pytest.mark.parametrize("case", CASES, ids=run_cases.key)
def test_case_in_a_process_of_its_own(case, monkeypatch):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", "1")
    assert run_cases.verdict(HOST, str(library_path(case["library"])), case) is None


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", COUNTS)
def test_scenario_in_a_process_of_its_own(name, scenario, monkeypatch):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", "0")
    assert ep_scenarios.verdict(HOST, name, str(library_path(name)), scenario) is None


@pytest.mark.parametrize(
    ("name", "package"),
    [("ggml", "onnxruntime-ggml"), ("openvino", "onnxruntime-ep-openvino"), ("nxrt", "nxrt-ep-cpu")],
)
def test_the_library_is_on_the_list_of_tested_ones(name, package):
    report = ort.inspect_library(library_path(name))
    assert report.verdict.startswith(f"audited as {package}")
    assert not report.refused_because


def test_groups_of_a_tested_library_are_split_where_the_list_says_so():
    policies = {row.name: row.broken_groups for row in ort.tested_libraries()}
    assert {name for name, policy in policies.items() if policy != "refuse"} == {"onnxruntime-ggml"}
    assert policies["onnxruntime-ggml"] == "split"
    assert ort.SessionOptions().broken_groups == "auto"
    (case,) = [case for case in run_cases.load_index("ggml") if case["case"] == "mixed_nonzero_opts"]
    assert "broken_groups" not in case
    wrong = run_cases.verdict(HOST, str(library_path("ggml")), {**case, "broken_groups": "refuse"})
    assert wrong is not None
    assert "depends on itself through nodes outside it" in wrong
