# SPDX-License-Identifier: Apache-2.0
"""Compare the host with ONNX Runtime and other engines: run.py [--rounds N] [NAME ...]; without names everything.

Both sides run in turn, each measurement in a process of its own, so that neither one's threads nor its memory disturb
the other. Prints `RATIO <name> <median> <min> <max>` over the rounds, ours divided by theirs: below 1 we are faster.
The beginning of names takes all of them (`conv`, `dispatch`, `reverse`, `tract`). A run of everything writes
docs/benchmarks.md when it has come to its end. quantities.py lists what there is.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_plugin
from memory_models import MEMORY, write_external
from models import MODELS, chain, feeds
from operator_models import OPERATORS
from page import Result, magnitude, write_page
from quantities import LENGTHS, NOT_TAKEN, QUANTITIES, REFERENCE, TRACT, Quantity, Side, chosen

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from real_libraries import library_path  # noqa: E402  the folder of the tests is known only now

DEMO = Path("packages", "host", "src", "onnx_light_ort_host", "demo")  # of the build directory


def write_models(folder: Path) -> None:
    """Write the models and their inputs, so that no measured process imports onnx."""
    made = {name: make() for name, make in (MODELS | OPERATORS).items()}
    made |= {name: make() for name, (make, _) in MEMORY.items()}
    made |= {f"relu_{length}": chain("Relu", length) for length in (1, *LENGTHS)}
    for length in (1, 1000):
        made[f"scale_{length}"] = chain("Scale", length, "fixtures", factor=1.0)
        for elements in (1, 4):
            made[f"add_two_{length}_of_{elements}"] = chain("AddTwo", length, "onnx_light_ort.demo", elements)
            made[f"relu_{length}_of_{elements}"] = chain("Relu", length, elements=elements)
    for name, model in made.items():
        onnx.save(model, folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", **feeds(model))
    write_external(folder)


def environment(folder: Path, quantities: list[Quantity]) -> dict[str, str]:
    """Return the environment of the measured processes, which find models and libraries by it."""
    fixtures = Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"])
    env = {
        **os.environ,
        "BENCHMARK_MODELS": str(folder),
        "BENCHMARK_NOT_TAKEN": " ".join(NOT_TAKEN),
        "BENCHMARK_LIBRARY": str(fixtures / "add_two.so"),
        "BENCHMARK_LEAN_LIBRARY": str(Path(os.environ["ONNX_LIGHT_ORT_BUILD"]) / DEMO / "libadd_two.so"),
        "BENCHMARK_EP_LIBRARY": str(fixtures / "lean_kernel_ep.so"),
        "BENCHMARK_COMPILE_LIBRARY": str(fixtures / "lean_compile_ep.so"),
        "BENCHMARK_PLUGIN": onnx_light_ort_plugin.get_library_path(),
    }
    for library in ("ggml", "openvino"):
        if any(quantity.name.startswith(f"partition_{library}_") for quantity in quantities):
            env[f"BENCHMARK_{library.upper()}"] = str(library_path(library))
    return env


def measure(side: Side, quantity: Quantity, env: dict[str, str]) -> float | str:
    """Return one measurement in the unit of the quantity, or why there is none: the side does not run the model."""
    if side.number is not None:
        return side.number
    # numpy's products, in onnx.reference, take their threads from the environment.
    env = {**env, "ONNX_LIGHT_ORT_CHECKED": "1" if side.checked else "0"}
    if side in (REFERENCE, TRACT):
        env["OPENBLAS_NUM_THREADS"] = str(quantity.threads)
    command = [sys.executable, str(HERE / side.script), side.who, quantity.benchmark, str(quantity.threads)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode < 0 and side in (REFERENCE, TRACT):
        return f"the process ended with signal {-done.returncode}"
    if done.returncode != 0:
        raise RuntimeError(f"{side.title} {quantity.name}: exit code {done.returncode}\n{done.stderr}")
    kind, value = done.stdout.strip().rsplit("\n", 1)[-1].split(" ", 1)
    return value if kind == "UNSUPPORTED" else float(value)


def compare(quantity: Quantity, env: dict[str, str], rounds: int) -> Result:
    """Measure both sides in turn, each first in every other round."""
    pairs = []
    for round_number in range(rounds if quantity.varies else 1):
        order = quantity.sides if round_number % 2 == 0 else quantity.sides[::-1]
        taken = {side: measure(side, quantity, env) for side in order}
        pair = [taken[side] for side in quantity.sides]
        for value in pair:
            if isinstance(value, str):
                return Result(quantity, why_not=value)
        pairs.append(pair)
    return Result(
        quantity,
        ratios=[ours / theirs for ours, theirs in pairs],
        values=tuple(statistics.median(column) for column in zip(*pairs, strict=True)),
    )


def report(result: Result) -> None:
    """Print a result."""
    name, sides = result.quantity.name, result.quantity.sides
    if result.why_not:
        print(f"# {name}: {sides[1].title} does not run it: {result.why_not}", flush=True)
        return
    values = [
        f"{side.title} {magnitude(value, result.quantity.unit)}"
        for side, value in zip(sides, result.values, strict=True)
    ]
    print(f"# {name}: {', '.join(values)}")
    print(f"RATIO {name} {result.median:.4g} {min(result.ratios):.4g} {max(result.ratios):.4g}", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="what to measure: names or their beginnings")
    parser.add_argument("--rounds", type=int, default=5, help="how often both sides are measured (5)")
    options = parser.parse_args(arguments)
    try:
        quantities = chosen(options.names)
    except KeyError as unknown:
        print(f"no such benchmark: {unknown.args[0]}; there are: {', '.join(QUANTITIES)}", file=sys.stderr)
        return 2
    results, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        write_models(Path(folder))
        env = environment(Path(folder), quantities)
        for quantity in quantities:
            try:
                results.append(compare(quantity, env, options.rounds))
            except RuntimeError as error:  # the others are still worth measuring
                print(error, file=sys.stderr)
                failed = True
            else:
                report(results[-1])
    if len(results) == len(QUANTITIES):
        write_page(HERE.parent / "docs" / "benchmarks.md", results, options.rounds)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
