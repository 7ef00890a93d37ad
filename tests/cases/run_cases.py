#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the stored cases of real plugin libraries through any module that speaks ONNX Runtime's Python names.

    run_cases.py --module onnx_light_ort_host --lib onnx_extended_tutorial=/abs/libortops_tutorial_cpu.so [--lib ...]
    run_cases.py --module onnxruntime ...          # the same cases under the real thing

Each case runs in a process of its own, since a plugin may take its process with it. A case passes when every stored
output is matched within its tolerance, or, for a case that must fail, when an exception is raised; for an EP also when
exactly the stored nodes were taken, where the host can tell (``node_assignments``). Exit status 0 when all pass. The
libraries are not stored here: README.md names the wheels that they come from.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent
CHILD_SECONDS = 180


def load_index(library: str | None = None) -> list[dict[str, Any]]:
    """Return the cases of one library, or all."""
    index = json.loads((ROOT / "index.json").read_text())
    return [case for case in index if library is None or case["library"] == library]


def key(case: dict[str, Any]) -> str:
    """Return ``library/case``."""
    return f"{case['library']}/{case['case']}"


def load_sets(case: dict[str, Any]) -> list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Return the stored (inputs, outputs) of a case; strings are object arrays in the inputs."""
    with np.load(ROOT / case["data"], allow_pickle=False) as data:
        arrays = dict(data)

    def named(prefix: str) -> dict[str, np.ndarray]:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    def feed(array: np.ndarray) -> np.ndarray:
        return array.astype(object) if array.dtype.kind in "US" else array

    return [
        ({name: feed(array) for name, array in named(f"in{k}.").items()}, named(f"out{k}."))
        for k in range(case["n_sets"])
    ]


def difference(got: Any, want: np.ndarray, tolerance: float) -> str | None:
    """Say how ``got`` differs from ``want`` by more than ``tolerance`` (absolute), or return None."""
    got = np.asarray(got)
    if want.dtype.kind in "US":
        got = got.astype(str)
        same = got.shape == want.shape and bool((got == want).all())
        return None if same else f"strings differ: {got!r} != {want!r}"
    if got.shape != want.shape:
        return f"shape {got.shape} != {want.shape}"
    same_bits = got.dtype.itemsize == want.dtype.itemsize and want.dtype.kind in "uV"  # a type that .npz cannot name
    if got.dtype.name != want.dtype.name and not same_bits:
        return f"dtype {got.dtype} != {want.dtype}"
    if want.size == 0:
        return None
    if want.dtype.kind == "V":
        got, want = got.view(np.uint8), want.view(np.uint8)
    if want.dtype.kind in "biu" or tolerance == 0:
        both_nan = (got != got) & (want != want)
        return None if np.all((got == want) | both_nan) else "values differ"
    got, want = got.astype(np.float64), want.astype(np.float64)
    gap = np.abs(got - want)
    bad = ~((gap <= tolerance) | (np.isnan(got) & np.isnan(want)))
    return f"max difference {np.nanmax(gap)} > {tolerance}" if bad.any() else None


EP_UNDER_TEST = "ep_under_test"
_registered: set[str] = set()


def devices_of(ort: ModuleType, case: dict[str, Any], library: str) -> list[Any]:
    """Return the first device that an EP's library offers, registering the library when it is wanted first."""
    if library not in _registered:
        if case.get("synthetic_vendor") and hasattr(ort, "add_synthetic_hardware_device"):
            ort.add_synthetic_hardware_device(device_type="CPU", vendor_id=case["synthetic_vendor"], vendor="synthetic")
        ort.register_execution_provider_library(EP_UNDER_TEST, library)
        _registered.add(library)
    devices = [device for device in ort.get_ep_devices() if device.ep_name != "CPUExecutionProvider"][:1]
    if not devices:
        raise RuntimeError("the library offered no device")
    return devices


def open_session(ort: ModuleType, case: dict[str, Any], library: str) -> Any:
    """Create the session of a case."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if ort.__name__ == "onnxruntime":
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    else:
        options.reference_fallback = False
        options.broken_groups = case.get("broken_groups", "auto")
    for name, value in (case.get("session_config") or {}).items():
        options.add_session_config_entry(name, str(value))
    model = str(ROOT / case["model"])
    if case["kind"] == "custom_op":
        options.register_custom_ops_library(library)
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    provider_options = {name: str(value) for name, value in (case.get("provider_options") or {}).items()}
    options.add_provider_for_devices(devices_of(ort, case, library), provider_options)
    session = ort.InferenceSession(model, options)
    if hasattr(session, "disable_fallback"):
        session.disable_fallback()
    return session


def problems_of(session: Any, case: dict[str, Any]) -> list[str]:
    """Run every stored set twice (a repeated run must not differ) and return what is wrong."""
    problems = []
    names = [output.name for output in session.get_outputs()]
    for k, (feeds, wanted) in enumerate(load_sets(case)):
        for repeat in range(2):
            outputs = dict(zip(names, session.run(None, feeds), strict=True))
            for name, want in wanted.items():
                problem = difference(outputs[name], want, case["tolerance"])
                if problem:
                    problems.append(f"set {k} run {repeat} {name}: {problem}")
    wanted_nodes = case.get("taken", case.get("claimed_unique"))  # a claim that ONNX Runtime drops takes none
    if case["kind"] == "ep" and hasattr(session, "node_assignments") and wanted_nodes is not None:
        taken = {row.name for row in session.node_assignments() if row.provider != "CPUExecutionProvider"}
        if taken != set(wanted_nodes):
            problems.append(f"nodes taken {sorted(taken)} != {sorted(wanted_nodes)}")
    return problems


def run_child(module: str, library: str, case: dict[str, Any]) -> None:
    """Run one case here and print what came of it as one line of JSON."""
    try:
        problems = problems_of(open_session(importlib.import_module(module), case, library), case)
        result: dict[str, Any] = {"problems": problems}
    except BaseException as error:
        result = {"raised": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    print("RESULT " + json.dumps(result))


def verdict(module: str, library: str, case: dict[str, Any]) -> str | None:
    """Run one case in a process of its own and return what is wrong, or None."""
    command = [sys.executable, __file__, "--child", module, library, json.dumps(case)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CHILD_SECONDS, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None or done.returncode != 0:  # a crash at the end is one as well
        return f"the process ended with {done.returncode}: {done.stderr[-300:]}"
    result = json.loads(line.removeprefix("RESULT "))
    if case["expect"] == "error":
        return None if "raised" in result else f"expected an exception, got {result}"
    if "raised" in result:
        return str(result["trace"])
    return "; ".join(result["problems"]) or None


def main() -> int:
    """Run the chosen cases and print a closing line."""
    if sys.argv[1:2] == ["--child"]:
        module, library, case = sys.argv[2:]
        run_child(module, library, json.loads(case))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", required=True)
    parser.add_argument("--lib", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--case", action="append", default=[], help="only these cases (library/case)")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    libraries = dict(entry.split("=", 1) for entry in options.lib)
    failed = passed = 0
    for case in load_index():
        if case["library"] not in libraries or (options.case and key(case) not in options.case):
            continue
        wrong = verdict(options.module, libraries[case["library"]], case)
        failed += wrong is not None
        passed += wrong is None
        if wrong or options.verbose:
            print(f"FAIL {key(case)}  {wrong}" if wrong else f"ok   {key(case)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
