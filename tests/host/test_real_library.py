# SPDX-License-Identifier: Apache-2.0
"""A published custom-op library, unmodified, through the host: onnx-extended's tutorial operators."""

from __future__ import annotations

import gc

import onnx_light_ort_host as ort
import pytest
import run_cases
from real_libraries import library_path

NAME = "onnx_extended_tutorial"
CASES = run_cases.load_index(NAME)
GOOD = [case for case in CASES if case["expect"] == "ok"]


@pytest.fixture(scope="module")
def library() -> str:
    return str(library_path(NAME))


def test_the_cases_are_all_here():
    assert len(CASES) == 7
    assert len(GOOD) == 6


@pytest.mark.parametrize("case", CASES, ids=run_cases.key)
def test_case_in_a_process_of_its_own(case, library):
    assert run_cases.verdict("onnx_light_ort_host", library, case) is None


@pytest.mark.parametrize("case", GOOD, ids=run_cases.key)
def test_the_library_ran_the_node(case, library):
    session = run_cases.open_session(ort, case, library)
    (row,) = session.node_assignments()
    assert (row.domain, row.op_type, row.provider) == (case["domain"], case["op"], "CPUExecutionProvider")
    assert row.library == library
    assert row.kernel.endswith(case["op"])


def test_all_cases_fifty_times_in_one_process(library):
    for _ in range(50):
        for case in GOOD:
            assert run_cases.problems_of(run_cases.open_session(ort, case, library), case) == []


def test_two_hundred_sessions_come_and_go(library):
    sessions = []
    for i in range(200):
        case = GOOD[i % len(GOOD)]
        session = run_cases.open_session(ort, case, library)
        assert run_cases.problems_of(session, case) == []
        sessions.append((session, case))
        if len(sessions) > 3:  # dropped out of order, some while others live
            sessions.pop(i % len(sessions))
            gc.collect()
    for session, case in sessions:
        assert run_cases.problems_of(session, case) == []


def test_the_librarys_own_words_reach_the_user(library):
    (case,) = [case for case in CASES if case["case"] == "gemm_f16"]
    with pytest.raises(ort.RuntimeException, match=r"\[onnx-extended\] Not implemented for dtype") as failure:
        run_cases.problems_of(run_cases.open_session(ort, case, library), case)
    assert "CustomGemmFloat16" in str(failure.value)
    assert library in str(failure.value)
