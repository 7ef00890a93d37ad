# SPDX-License-Identifier: Apache-2.0
"""Compare the host with ONNX Runtime: run.py [NAME ...]; without names everything.

Both sides run in turn, each measurement in a process of its own, so that neither one's threads nor its memory disturb
the other. Prints `RATIO <name> <median> <min> <max>` over the rounds, ours divided by theirs: below 1 we are faster.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import models
import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
OURS, THEIRS = "onnx_light_ort_host", "onnxruntime"
ROUNDS = 5

# name: (benchmark of measure.py, threads)
BENCHMARKS: dict[str, tuple[str, int]] = {
    "import": ("import", 1),
    "import_and_first_run": ("import_and_first_run", 1),
    "first_session": ("first_session", 1),
    "next_session": ("next_session", 1),
    "session_1000_nodes": ("session_1000_nodes", 1),
    "run_one_node": ("run_one_node", 1),
    "custom_op_node": ("custom_op_node", 1),
    "native_node": ("native_node", 1),
    "external_1gib_session": ("external_session", 1),
    "external_1gib_memory": ("external_memory", 1),
    **{f"{name}_t{threads}": (name, threads) for name in models.MODELS for threads in (1, 2)},
}


def write_models(folder: Path) -> None:
    """Write the models and their inputs, so that no measured process imports onnx."""
    made = {name: make() for name, make in models.MODELS.items()}
    for length in (1, 1000):
        made[f"relu_{length}"] = models.chain("Relu", length)
        made[f"scale_{length}"] = models.chain("Scale", length, "fixtures", factor=1.0)
    for name, model in made.items():
        onnx.save(model, folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", **models.feeds(model))
    models.write_external(folder)


def measure(module: str, benchmark: str, threads: int, env: dict[str, str]) -> float:
    """Return one measurement: microseconds, or MiB."""
    command = [sys.executable, str(HERE / "measure.py"), module, benchmark, str(threads)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{module} {benchmark}: exit code {done.returncode}\n{done.stderr}")
    return float(done.stdout.split("MEASURED", 1)[1])


def main(names: list[str]) -> int:
    chosen = [name for name in names if name != "all"] or list(BENCHMARKS)
    unknown = sorted(set(chosen) - set(BENCHMARKS))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        write_models(Path(folder))
        library = Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"]) / "add_two.so"
        env = {**os.environ, "BENCHMARK_MODELS": folder, "BENCHMARK_LIBRARY": str(library)}
        for name in chosen:
            benchmark, threads = BENCHMARKS[name]
            pairs = []
            for round_number in range(ROUNDS):
                sides = (OURS, THEIRS) if round_number % 2 == 0 else (THEIRS, OURS)
                taken = {side: measure(side, benchmark, threads, env) for side in sides}
                pairs.append((taken[OURS], taken[THEIRS]))
            ratios = [ours / theirs for ours, theirs in pairs]
            ours, theirs = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
            scale, unit = (1, "MiB") if name.endswith("_memory") else (1000, "ns")
            print(f"# {name}: ours {ours * scale:.0f} {unit}, onnxruntime {theirs * scale:.0f} {unit}")
            print(f"RATIO {name} {statistics.median(ratios):.3f} {min(ratios):.3f} {max(ratios):.3f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
