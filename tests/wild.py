#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run every tested library through everything there is for it, and write docs/tested_libraries.md.

wild.py [LIBRARY ...]; without names all, and only then the page is written. `./dev wild` calls it. Each case and each
scenario runs in a process of its own, cases in both modes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ep_scenarios  # makes run_cases known
import onnx
import onnx_light_ort_host as ort
import run_cases
from real_libraries import REAL_LIBRARIES, library_path

ROOT = Path(__file__).resolve().parent.parent
HOST = "onnx_light_ort_host"
PAGE = ROOT / "docs" / "tested_libraries.md"
PLATFORM = "Linux on x86-64"
NO_CONTEXT = "`ep.context_enable=1`: models with EPContext nodes are neither written nor read"
NO_SUCH_DEVICES = (
    "GPU and NPU: where the machine has none, the library offers no such device, and a synthetic one changes nothing"
)
ROWLESS = "a batch without rows: "
# What a library offers that is refused or left alone, and why.
REFUSED = {
    "onnx_extended_tutorial": ["`gemm_f16`: the library itself has no kernel for that type and says so"],
    "onnxruntime_extensions": [
        "inputs that the library itself refuses (two cases)",
        "use outside of a Python process, whose symbols it needs",
    ],
    "ggml": [
        NO_CONTEXT,
        "`partial=1` around a node in the middle of its group: one step cannot run before and after that node. The "
        "group is split, which is what `SessionOptions.broken_groups` is for this library unless it is set; ONNX "
        "Runtime drops all that the library wants of the graph",
        "2-D convolutions with `partial=1`: the library wants them and cannot compile them, so where its group is "
        "split the first run fails with its words; with `broken_groups` = `drop` it runs without the library, as in "
        "ONNX Runtime",
        ROWLESS + "the library ends the process (`GGML_ASSERT`), under ONNX Runtime too",
        "a value that is fed for an initializer: the library goes on with the initializer, under ONNX Runtime too",
    ],
    "openvino": [
        NO_CONTEXT,
        NO_SUCH_DEVICES,
        "a CPU that is not Intel's, by the library; a synthetic device helps",
        "initializers that may be fed, and values of unknown rank: the library refuses the model, under ONNX Runtime "
        "too",
    ],
    "nxrt": [
        NO_CONTEXT,
        "the CNN: the library leaves it alone, under ONNX Runtime too",
        ROWLESS + "the library fails the run, under ONNX Runtime too",
    ],
}

REFUSES_CONTEXT = """
import json, sys
import onnx_light_ort_host as ort
import run_cases
path, case = sys.argv[1], json.loads(sys.argv[2])
case["session_config"] = {"ep.context_enable": "1"}
try:
    run_cases.open_session(ort, case, path)
except ort.NotImplemented as error:
    print("REFUSED", error)
"""


@dataclass
class Outcome:
    """What came of a library."""

    cases: int = 0
    passed: int = 0
    scenarios: int = 0
    borne: int = 0
    works: str = ""
    sha256: str = ""
    problems: tuple[str, ...] = ()


def nodes_of(case: dict[str, Any]) -> str:
    """Return which share of a model the library took, as its case insists."""
    taken = set(case.get("taken", case["claimed_unique"]))
    found = list(all_nodes(onnx.load(run_cases.ROOT / case["model"]).graph, taken))
    name, count = case["case"].removesuffix("_opts"), sum(found)
    how = ", with `partial=1`" if (case.get("provider_options") or {}).get("partial") == "1" else ""
    if how and count < len(found):  # what is left lies within its group
        how += ", split" if count else ", dropped"
    return f"{name} ({'all' if count == len(found) else count or 'none'} of {len(found)} nodes{how})"


def all_nodes(graph: onnx.GraphProto, taken: set[str], inside: bool = False) -> Iterator[bool]:
    """Tell of each node, those in bodies included, whether it was taken, by itself or with the node around it."""
    for node in graph.node:
        is_taken = inside or node.name in taken
        yield is_taken
        for attribute in node.attribute:
            yield from all_nodes(attribute.g, taken, is_taken)


def refuses_context(path: str, case: dict[str, Any]) -> str | None:
    """Return what is wrong when the export of a compiled model is asked for, or None."""
    folders = [str(run_cases.ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-c", REFUSES_CONTEXT, path, json.dumps(case)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env)
    said = done.stdout.split("REFUSED ", 1)[-1].strip()
    return None if done.returncode == 0 and "context" in said else f"export of a context: {done.stdout}{done.stderr}"


def run_library(name: str) -> Outcome:
    """Run a library's cases and scenarios, telling each as it ends."""
    path, cases = str(library_path(name)), run_cases.load_index(name)
    outcome, problems = Outcome(len(cases)), []
    outcome.sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    listed = row_of(name).sha256
    if outcome.sha256 != listed:
        problems.append(f"the file has the SHA-256 {outcome.sha256}, and the list of tested libraries {listed}")

    def tell(what: str, problem: str | None, start: float) -> None:
        line = f"{name:24} {what:32} {time.monotonic() - start:6.1f} s  {problem or 'ok'}"
        print(line, flush=True)
        if problem:
            problems.append(f"{what}: {problem}")

    for case in cases:
        wrong = []
        start = time.monotonic()
        for checked in ("0", "1"):
            os.environ["ONNX_LIGHT_ORT_CHECKED"] = checked
            problem = run_cases.verdict(HOST, path, case)
            wrong += [f"{'checked mode: ' if checked == '1' else ''}{problem}"] if problem else []
        outcome.passed += not wrong
        tell(case["case"], "; ".join(wrong) or None, start)
    if cases[0]["kind"] == "ep":
        for checked in ("0", "1"):
            os.environ["ONNX_LIGHT_ORT_CHECKED"] = checked
            for scenario in ep_scenarios.SCENARIOS:
                start = time.monotonic()
                mode = ", checked mode" if checked == "1" else ""
                problem = ep_scenarios.verdict(HOST, name, path, scenario)
                outcome.scenarios += 1
                outcome.borne += problem is None
                tell(scenario + mode, problem, start)
        start = time.monotonic()
        tell("no context is written", refuses_context(path, cases[0]), start)
        default = {str(case["case"]).removesuffix("_opts"): case for case in cases}
        outcome.works = "models taken: " + ", ".join(nodes_of(case) for case in default.values())
    else:
        outcome.works = "operators: " + ", ".join(
            f"`{op}`" for op in sorted({case["op"] for case in cases if case["expect"] == "ok"})
        )
    outcome.problems = tuple(problems)
    return outcome


def row_of(name: str) -> ort.TestedLibrary:
    """Return what the list of tested libraries says of a library."""
    (row,) = [row for row in ort.tested_libraries() if row.file_name == library_path(name).name]
    return row


def page(outcomes: dict[str, Outcome]) -> str:
    """Return the page in Markdown."""
    lines = [
        "# Tested libraries",
        "",
        "Published libraries that run here unmodified, out of their wheels. `./dev wild` downloads them, runs all of",
        "this and writes this page: every case against what ONNX Runtime 1.32.0 gave with the same library, in normal",
        "and in checked mode; for execution providers also which nodes they take, use over and over, eight threads at",
        "once, batches of changing size and fifty sessions in one process, with everything released at the end.",
        "",
        f"Platform: {PLATFORM}. Another library may load and still need what is not supported.",
        "",
        "| library | version | asks for API version | profiles | cases passed | scenarios passed |",
        "|---|---|---|---|---|---|",
    ]
    for name, outcome in outcomes.items():
        library = row_of(name)
        cells = [library.name, library.version, library.api_version, library.profile.replace(",", ", ")]
        borne = f"{outcome.borne} of {outcome.scenarios}" if outcome.scenarios else ""
        cells += [f"{outcome.passed} of {outcome.cases}", borne]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for name, outcome in outcomes.items():
        library = row_of(name)
        lines += ["", f"## {library.name}", "", f"`{library.file_name}`, SHA-256 `{outcome.sha256}`.", ""]
        lines += [f"Works: {outcome.works}.", "", "Refused or left alone:", ""]
        lines += [f"- {what}." for what in REFUSED[name]]
        if outcome.problems:
            lines += ["", "Wrong:", "", *(f"- {problem}" for problem in outcome.problems)]
    return "\n".join([*lines, ""])


def main(names: list[str]) -> int:
    """Run the chosen libraries; the exit status tells whether all went well."""
    with_cases = [name for name in REAL_LIBRARIES if run_cases.load_index(name)]
    outcomes = {name: run_library(name) for name in names or with_cases}
    if not names:
        PAGE.write_text(page(outcomes), encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome.passed} of {outcome.cases} cases, {len(outcome.problems)} problems")
    return 1 if any(outcome.problems for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
