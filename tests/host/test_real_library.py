# SPDX-License-Identifier: Apache-2.0
"""Published custom-op libraries, unmodified, through the host."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx_light_ort_host as ort
import pytest
import run_cases
from real_libraries import library_path

COUNTS = {"onnx_extended_tutorial": (7, 6), "onnxruntime_extensions": (25, 23)}
CASES = [case for name in COUNTS for case in run_cases.load_index(name)]
GOOD = [case for case in CASES if case["expect"] == "ok"]
GOOD_OF = {name: [case for case in GOOD if case["library"] == name] for name in COUNTS}
THREADS = 8


def open_case(case):
    """Return a session on the case's library."""
    return run_cases.open_session(ort, case, str(library_path(case["library"])))


@pytest.mark.parametrize("name", COUNTS)
def test_the_cases_are_all_here(name):
    assert (len(run_cases.load_index(name)), len(GOOD_OF[name])) == COUNTS[name]


@pytest.mark.parametrize("checked", ["0", "1"], ids=["normal", "checked"])
@pytest.mark.parametrize("case", CASES, ids=run_cases.key)
def test_case_in_a_process_of_its_own(case, checked, monkeypatch):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", checked)
    assert run_cases.verdict("onnx_light_ort_host", str(library_path(case["library"])), case) is None


@pytest.mark.parametrize("case", GOOD, ids=run_cases.key)
def test_the_library_ran_the_node(case):
    (row,) = open_case(case).node_assignments()
    assert (row.domain, row.op_type, row.provider) == (case["domain"], case["op"], "CPUExecutionProvider")
    assert row.library == str(library_path(case["library"]))
    assert row.kernel.endswith(case["op"])


@pytest.mark.parametrize("name", COUNTS)
def test_all_cases_fifty_times_in_one_process(name):
    for _ in range(50):
        for case in GOOD_OF[name]:
            assert run_cases.problems_of(open_case(case), case) == []


@pytest.mark.parametrize("name", COUNTS)
def test_two_hundred_sessions_come_and_go(name):
    good, sessions = GOOD_OF[name], []
    for i in range(200):
        case = good[i % len(good)]
        session = open_case(case)
        assert run_cases.problems_of(session, case) == []
        sessions.append((session, case))
        if len(sessions) > 3:  # dropped out of order, some while others live
            sessions.pop(i % len(sessions))
            gc.collect()
    for session, case in sessions:
        assert run_cases.problems_of(session, case) == []


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("shared", [True, False], ids=["one_session_each_case", "sessions_of_their_own"])
def test_all_cases_from_eight_threads_at_once(name, shared):
    good = GOOD_OF[name]
    sessions = [open_case(case) for case in good] if shared else []
    start = threading.Barrier(THREADS)

    def work(number):
        start.wait()
        problems = []
        for step in range(3 * len(good)):
            i = (step + number) % len(good)
            problems += run_cases.problems_of(sessions[i] if shared else open_case(good[i]), good[i])
        return problems

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(work, range(THREADS))) == [[]] * THREADS


@pytest.mark.parametrize("case", GOOD, ids=run_cases.key)
def test_feeds_are_left_as_they_were(case):
    session = open_case(case)
    for (feeds, _), (same, _) in zip(run_cases.load_sets(case), run_cases.load_sets(case), strict=True):
        session.run(None, feeds)
        for name, array in same.items():
            np.testing.assert_array_equal(feeds[name], array)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("onnx_extended_tutorial/gemm_f16", [r"[onnx-extended] Not implemented for dtype", "CustomGemmFloat16"]),
        ("onnxruntime_extensions/encode_bad_format", ["EncodeImage", "format"]),
        ("onnxruntime_extensions/str_to_vector", ["StringToVector"]),
    ],
)
def test_the_librarys_own_words_reach_the_user(key, words):
    (case,) = [case for case in CASES if run_cases.key(case) == key]
    with pytest.raises(ort.RuntimeException) as failure:
        run_cases.problems_of(open_case(case), case)
    for word in [*words, str(library_path(case["library"]))]:
        assert word in str(failure.value)


@pytest.mark.parametrize("name", COUNTS)
def test_the_library_is_on_the_list_of_tested_ones(name):
    report = ort.inspect_library(library_path(name))
    assert report.verdict.startswith("audited as onnx")
    assert not report.refused_because
