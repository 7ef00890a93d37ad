#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a published execution provider must bear in one process, beyond its cases: use over and over, by many.

``verdict(module, library, path, scenario)`` runs a scenario in a process of its own, since a plugin may take its
process with it, and tells what is wrong. A scenario ends with the sessions gone and the library unregistered.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "cases"))

import run_cases

THREADS, RUNS = 8, 20
BATCHES = (1, 3, 2, 17, 1, 64, 5)
CHILD_SECONDS = 600

Case = dict[str, Any]
Open = Callable[[Case], Any]


def with_rows(case: Case, count: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return feeds and outputs of ``count`` rows, repeated out of the stored ones; each row stands for itself."""
    stored = run_cases.load_sets(case)

    def rows(part: int) -> dict[str, np.ndarray]:
        whole = {name: np.concatenate([arrays[part][name] for arrays in stored]) for name in stored[0][part]}
        return {name: np.resize(array, (count, *array.shape[1:])) for name, array in whole.items()}

    return rows(0), rows(1)


def repeated(open_case: Open, cases: list[Case]) -> list[str]:
    """Run each case many times in one session."""
    problems = []
    for case in cases:
        session = open_case(case)
        for _ in range(RUNS):
            problems += run_cases.problems_of(session, case)
    return problems


def concurrent(open_case: Open, cases: list[Case]) -> list[str]:
    """Run one session of each case on eight threads at once."""
    sessions = [open_case(case) for case in cases]
    start = threading.Barrier(THREADS)

    def work(number: int) -> list[str]:
        start.wait()
        problems = []
        for step in range(3 * len(cases)):
            i = (step + number) % len(cases)
            problems += run_cases.problems_of(sessions[i], cases[i])
        return problems

    with ThreadPoolExecutor(THREADS) as pool:
        return [problem for problems in pool.map(work, range(THREADS)) for problem in problems]


def changing_batch(open_case: Open, cases: list[Case]) -> list[str]:
    """Run models of independent rows with another number of rows each time."""
    problems, chosen = [], [case for case in cases if case["case"] in ("mlp", "mlp_opts", "linear")]
    assert chosen
    for case in chosen:
        session = open_case(case)
        for count in BATCHES:
            feeds, wanted = with_rows(case, count)
            for output, got in zip(session.get_outputs(), session.run(None, feeds), strict=True):
                problem = run_cases.difference(got, wanted[output.name], case["tolerance"])
                problems += [f"{case['case']} with {count} rows, {output.name}: {problem}"] if problem else []
    return problems


def many_sessions(open_case: Open, cases: list[Case], count: int) -> list[str]:
    """Let sessions come and go, out of order, some while others live."""
    problems, sessions = [], []
    for i in range(count):
        case = cases[i % len(cases)]
        sessions.append((open_case(case), case))
        problems += run_cases.problems_of(*sessions[-1])
        if len(sessions) > 3:
            sessions.pop(i % len(sessions))
            gc.collect()
    for session, case in sessions:
        problems += run_cases.problems_of(session, case)
    return problems


SCENARIOS = {
    "repeated": repeated,
    "eight threads": concurrent,
    "changing batch": changing_batch,
    "10 sessions": functools.partial(many_sessions, count=10),
    "50 sessions": functools.partial(many_sessions, count=50),
}


def run(ort: ModuleType, library: str, path: str, scenario: str) -> list[str]:
    """Run a scenario here, unregister the library and return what is wrong."""
    cases = [case for case in run_cases.load_index(library) if case["expect"] == "ok"]
    problems = SCENARIOS[scenario](lambda case: run_cases.open_session(ort, case, path), cases)
    gc.collect()
    ort.unregister_execution_provider_library(run_cases.EP_UNDER_TEST)
    left = [device.ep_name for device in ort.get_ep_devices() if device.ep_name != "CPUExecutionProvider"]
    return [*problems, *(f"device of {name} is left" for name in left)]


def verdict(module: str, library: str, path: str, scenario: str) -> str | None:
    """Run a scenario in a process of its own and return what is wrong, or None."""
    command = [sys.executable, "-X", "faulthandler", __file__, module, library, path, scenario]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CHILD_SECONDS, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None or done.returncode != 0:
        return f"the process ended with {done.returncode}: {done.stderr[-2000:]}"
    return "; ".join(json.loads(line.removeprefix("RESULT "))[:5]) or None


if __name__ == "__main__":
    try:
        result = run(importlib.import_module(sys.argv[1]), *sys.argv[2:])
    except BaseException:
        result = [traceback.format_exc()]
    print("RESULT " + json.dumps(result), flush=True)
