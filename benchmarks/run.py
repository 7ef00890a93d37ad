# SPDX-License-Identifier: Apache-2.0
"""Compare the host with ONNX Runtime: run.py [NAME ...]; without names everything.

Both sides run in turn, each measurement in a process of its own, so that neither one's threads nor its memory disturb
the other. Prints `RATIO <name> <median> <min> <max>` over the rounds, ours divided by theirs: below 1 we are faster.
`dispatch_checked` compares checked mode with a normal run. The names with `reverse` compare our plugin inside ONNX
Runtime with ONNX Runtime's own provider, or with a minimal one. `dispatch`, `ep-dispatch`, `partition`, `conv` and
`reverse` take all whose names begin so, `all` everything.
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
import onnx_light_ort_plugin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from real_libraries import library_path

HERE = Path(__file__).resolve().parent
OURS, THEIRS, CHECKED = "onnx_light_ort_host", "onnxruntime", "onnx_light_ort_host in checked mode"
COMPILED, KERNELS, SAMPLE = "our plugin in compile mode", "our plugin in kernel mode", "a minimal plugin"
IN_ONNX_RUNTIME = {COMPILED: "compile", KERNELS: "kernel", SAMPLE: "sample", THEIRS: "cpu"}
ROUNDS = 5
DEMO = Path("packages", "host", "src", "onnx_light_ort_host", "demo")  # of the build directory

WHOLE_MODELS = ("mlp_b1", "mlp_b64", "cnn", "transformer", "elementwise_tree")

# name: (benchmark of measure.py, threads)
BENCHMARKS: dict[str, tuple[str, int]] = {
    "import": ("import", 1),
    "import_and_first_run": ("import_and_first_run", 1),
    "first_session": ("first_session", 1),
    "next_session": ("next_session", 1),
    "session_1000_nodes": ("session_1000_nodes", 1),
    "run_one_node": ("run_one_node", 1),
    "custom_op_node": ("custom_op_node", 1),
    "dispatch_1": ("dispatch_1", 1),
    "dispatch_4": ("dispatch_4", 1),
    "dispatch_checked": ("dispatch_4", 1),
    "ep_dispatch_1": ("ep_dispatch_1", 1),
    "ep_dispatch_4": ("ep_dispatch_4", 1),
    "native_node": ("native_node", 1),
    "fused_node": ("fused_node", 1),
    "external_1gib_session": ("external_session", 1),
    "external_1gib_memory": ("external_memory", 1),
    "partition_1": ("partition_1", 1),
    "partition_4": ("partition_4", 1),
    "partition_session": ("partition_session", 1),
    **{
        f"partition_{library}_{model}": (f"partition_{library}_{model}", 1)
        for library in ("ggml", "openvino")
        for model in WHOLE_MODELS[:-1]
    },
    **{f"{name}_t{threads}": (name, threads) for name in models.MODELS for threads in (1, 2)},
    **{f"reverse_{name}_t{threads}": (name, threads) for name in WHOLE_MODELS for threads in (1, 2)},
    "reverse_chain": ("relu_1000", 1),
    "reverse_kernel_node": ("node", 1),
    "reverse_kernel_node_cpu": ("node", 1),
}

# ggml has no GlobalAveragePool and wants what is around it as one group, which ONNX Runtime drops, and the host does so
# too when told: what is measured then is a session with the library that took nothing.
NOT_TAKEN = {"ggml_cnn"}

GROUPS = {
    "all": list(BENCHMARKS),
    "dispatch": [name for name in BENCHMARKS if name.startswith("dispatch_")],
    "partition": [name for name in BENCHMARKS if name.startswith("partition_")],
    "conv": [name for name in BENCHMARKS if name.startswith("conv")],
    "reverse": [name for name in BENCHMARKS if name.startswith("reverse_")],
    "ep-dispatch": [name for name in BENCHMARKS if name.startswith("ep_dispatch_")],
}


def sides_of(name: str) -> tuple[str, str]:
    """Return what a benchmark compares."""
    if name.startswith("reverse_kernel_node"):
        return KERNELS, THEIRS if name.endswith("_cpu") else SAMPLE
    if name.startswith("reverse_"):
        return COMPILED, THEIRS
    return (CHECKED, OURS) if name == "dispatch_checked" else (OURS, THEIRS)


def write_models(folder: Path) -> None:
    """Write the models and their inputs, so that no measured process imports onnx."""
    made = {name: make() for name, make in models.MODELS.items()}
    for length in (1, 1000):
        made[f"relu_{length}"] = models.chain("Relu", length)
        made[f"scale_{length}"] = models.chain("Scale", length, "fixtures", factor=1.0)
        for elements in (1, 4):
            add_two = models.chain("AddTwo", length, "onnx_light_ort.demo", elements)
            made[f"add_two_{length}_of_{elements}"] = add_two
            made[f"relu_{length}_of_{elements}"] = models.chain("Relu", length, elements=elements)
    for name, model in made.items():
        onnx.save(model, folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", **models.feeds(model))
    models.write_external(folder)


def measure(side: str, name: str, env: dict[str, str]) -> float:
    """Return one measurement: microseconds, or MiB."""
    benchmark, threads = BENCHMARKS[name]
    if name.startswith("reverse_"):
        script, who = "measure_reverse.py", IN_ONNX_RUNTIME[side]
    else:
        script, who = "measure.py", THEIRS if side == THEIRS else OURS
    env = {**env, "ONNX_LIGHT_ORT_CHECKED": "1" if side == CHECKED else "0"}
    command = [sys.executable, str(HERE / script), who, benchmark, str(threads)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{side} {name}: exit code {done.returncode}\n{done.stderr}")
    return float(done.stdout.split("MEASURED", 1)[1])


def main(names: list[str]) -> int:
    chosen = [one for name in names or ["all"] for one in GROUPS.get(name, [name])]
    unknown = sorted(set(chosen) - set(BENCHMARKS))
    if unknown:
        known = ", ".join([*BENCHMARKS, *GROUPS])
        print(f"no such benchmark: {', '.join(unknown)}; there are: {known}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        write_models(Path(folder))
        fixtures = Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"])
        lean = Path(os.environ["ONNX_LIGHT_ORT_BUILD"]) / DEMO / "libadd_two.so"
        libraries = {
            "BENCHMARK_LIBRARY": str(fixtures / "add_two.so"),
            "BENCHMARK_LEAN_LIBRARY": str(lean),
            "BENCHMARK_EP_LIBRARY": str(fixtures / "lean_kernel_ep.so"),
            "BENCHMARK_COMPILE_LIBRARY": str(fixtures / "lean_compile_ep.so"),
        }
        if any(name.startswith("reverse_") for name in chosen):
            libraries["BENCHMARK_PLUGIN"] = onnx_light_ort_plugin.get_library_path()
        env = {**os.environ, "BENCHMARK_MODELS": folder, "BENCHMARK_NOT_TAKEN": " ".join(NOT_TAKEN), **libraries}
        for library in ("ggml", "openvino"):
            if any(name.startswith(f"partition_{library}_") for name in chosen):
                env[f"BENCHMARK_{library.upper()}"] = str(library_path(library))
        for name in chosen:
            sides = sides_of(name)
            pairs = []
            for round_number in range(ROUNDS):
                order = sides if round_number % 2 == 0 else sides[::-1]
                taken = {side: measure(side, name, env) for side in order}
                pairs.append(tuple(taken[side] for side in sides))
            ratios = [ours / theirs for ours, theirs in pairs]
            first, second = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
            scale, unit = (1, "MiB") if name.endswith("_memory") else (1000, "ns")
            if name.removeprefix("partition_") in NOT_TAKEN:
                print(f"# {name}: the library takes nothing of this model on either side")
            print(f"# {name}: {sides[0]} {first * scale:.0f} {unit}, {sides[1]} {second * scale:.0f} {unit}")
            print(f"RATIO {name} {statistics.median(ratios):.3f} {min(ratios):.3f} {max(ratios):.3f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
