# SPDX-License-Identifier: Apache-2.0
"""Take one measurement of a runtime in a fresh process: measure.py MODULE BENCHMARK THREADS; prints one number.

It is in microseconds, for memory in MiB, for files in MB. MODULE is imported here: `onnxruntime` or the host, which has
the same interface. A benchmark that is none of those below is a model whose run is measured.
"""

from __future__ import annotations

import importlib
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from timing import load_feeds, once, repeat, run_time, session

MIB, MB = 2**20, 1e6


def import_and_run(module: str) -> None:
    """From nothing to the first result of a tiny model: what a short script waits for."""
    session(importlib.import_module(module), "relu_1", 1).run(None, load_feeds("relu_1"))


def resident() -> float:
    """Return how much memory this process has, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def memory_after_import(ort: ModuleType) -> float:
    return resident()


def memory_after_session(ort: ModuleType) -> float:
    """All memory of a process that has run a tiny session once."""
    live = session(ort, "relu_1", 1)
    live.run(None, load_feeds("relu_1"))
    return resident()


def peak_of_run(ort: ModuleType, name: str) -> float:
    """How much more memory than before a first run has at its worst moment."""
    live, inputs = session(ort, name, 1), load_feeds(name)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = resident()
    live.run(None, inputs)
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024 - before


def external_memory(ort: ModuleType) -> float:
    """What a session with 1 GiB of external weights takes before it first runs."""
    before = resident()
    live = session(ort, "external_1gib", 1)
    grown = resident() - before
    del live
    return grown


def custom_op_node(ort: ModuleType, threads: int) -> float:
    """What one more custom-op node costs, from chains of 1 and of 1000 nodes."""
    library = os.environ["BENCHMARK_LIBRARY"]
    return (run_time(ort, "scale_1000", threads, library) - run_time(ort, "scale_1", threads, library)) / 999


def native_node(ort: ModuleType, length: int, *, alone: bool = True) -> float:
    """What one more node of a chain of `length` costs; `alone`: that runs by itself."""
    times = [run_time(ort, f"relu_{nodes}", 1, alone=alone) for nodes in (length, 1)]
    return (times[0] - times[1]) / (length - 1)


def session_node(ort: ModuleType, length: int, threads: int) -> float:
    """What a session of `length` nodes takes to make, per node."""
    return repeat(lambda: session(ort, f"relu_{length}", threads)) / length


def package_files(module: str) -> list[Path]:
    from importlib.metadata import distribution

    listed = distribution(module).files or []
    return [Path(str(file.locate())) for file in listed if "__pycache__" not in file.parts and ".." not in file.parts]


def installed_size(ort: ModuleType) -> float:
    """All files of the package."""
    return sum(file.stat().st_size for file in package_files(ort.__name__)) / MB


def wheel_size(ort: ModuleType) -> float:
    """All files of the package, each compressed as in a wheel."""
    return sum(len(zlib.compress(file.read_bytes())) for file in package_files(ort.__name__)) / MB


THREADED: dict[str, Callable[[ModuleType, int], float]] = {
    "first_session": lambda ort, threads: once(lambda: session(ort, "relu_1", threads)),
    "next_session": lambda ort, threads: repeat(lambda: session(ort, "relu_1", threads)),
    "session_node_1000": lambda ort, threads: session_node(ort, 1000, threads),
    "run_one_node": lambda ort, threads: run_time(ort, "relu_1", threads),
    "custom_op_node": custom_op_node,
}
ALONE: dict[str, Callable[[ModuleType], float]] = {
    "fused_node": lambda ort: native_node(ort, 1000, alone=False),
    "memory_import": memory_after_import,
    "memory_session": memory_after_session,
    "external_session": lambda ort: once(lambda: session(ort, "external_1gib", 1)),
    "external_memory": external_memory,
    "wheel_size": wheel_size,
    "installed_size": installed_size,
}
PREFIXES: dict[str, Callable[[ModuleType, str], float]] = {
    "native_node_": lambda ort, length: native_node(ort, int(length)),
    "session_node_": lambda ort, length: session_node(ort, int(length), 1),
    "peak_": peak_of_run,
}


def take(module: str, benchmark: str, threads: int) -> float:
    if benchmark == "import":
        return once(lambda: importlib.import_module(module))
    if benchmark == "import_and_first_run":
        return once(lambda: import_and_run(module))
    ort = importlib.import_module(module)
    if benchmark in THREADED:
        return THREADED[benchmark](ort, threads)
    if benchmark in ALONE:
        return ALONE[benchmark](ort)
    for prefix, measure in PREFIXES.items():
        if benchmark.startswith(prefix):
            return measure(ort, benchmark.removeprefix(prefix))
    return run_time(ort, benchmark, threads)


if __name__ == "__main__":
    print("MEASURED", take(sys.argv[1], sys.argv[2], int(sys.argv[3])))
