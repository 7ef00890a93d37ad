# SPDX-License-Identifier: Apache-2.0
"""Take one measurement in a fresh process: measure.py MODULE BENCHMARK THREADS; prints one number.

It is in microseconds, or, for memory, in MiB.

Every number is the lower quartile of many repetitions: on a shared machine the slow ones measure the neighbours.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(os.environ["BENCHMARK_MODELS"])
CPU = "CPUExecutionProvider"


def lower_quartile(samples: list[float]) -> float:
    return sorted(samples)[len(samples) // 4]


def repeat(call: Callable[[], object], seconds: float = 0.6, at_least: int = 15) -> float:
    """Return the lower quartile of the duration of `call`, in microseconds."""
    call()
    samples: list[float] = []
    end = time.perf_counter() + seconds
    gc.disable()
    while len(samples) < at_least or time.perf_counter() < end:
        start = time.perf_counter_ns()
        call()
        samples.append((time.perf_counter_ns() - start) / 1000)
    gc.enable()
    return lower_quartile(samples)


def options(ort: ModuleType, threads: int) -> Any:
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.log_severity_level = 3
    if ort.__name__ != "onnxruntime":
        settings.reference_fallback = False
    return settings


def session(ort: ModuleType, name: str, threads: int, library: str | None = None, settings: Any = None) -> Any:
    settings = settings or options(ort, threads)
    if library is not None:
        settings.register_custom_ops_library(library)
    return ort.InferenceSession(str(FOLDER / f"{name}.onnx"), settings, providers=[CPU])


def load_feeds(name: str) -> dict[str, Any]:
    import numpy as np

    with np.load(FOLDER / f"{name}.npz") as arrays:
        return dict(arrays)


def import_time(module: str) -> float:
    start = time.perf_counter_ns()
    importlib.import_module(module)
    return (time.perf_counter_ns() - start) / 1000


def import_and_run(module: str) -> float:
    """From nothing to the first result of a tiny model: what a short script waits for."""
    start = time.perf_counter_ns()
    session(importlib.import_module(module), "relu_1", 1).run(None, load_feeds("relu_1"))
    return (time.perf_counter_ns() - start) / 1000


def first_session(ort: ModuleType) -> float:
    start = time.perf_counter_ns()
    session(ort, "relu_1", 1)
    return (time.perf_counter_ns() - start) / 1000


def resident() -> float:
    """Return how much memory this process has, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def external_memory(ort: ModuleType) -> float:
    """What a session with 1 GiB of external weights takes before it first runs."""
    before = resident()
    live = session(ort, "external_1gib", 1)
    grown = resident() - before
    del live
    return grown


def external_session(ort: ModuleType) -> float:
    start = time.perf_counter_ns()
    session(ort, "external_1gib", 1)
    return (time.perf_counter_ns() - start) / 1000


def run_time(ort: ModuleType, name: str, threads: int, library: str | None = None, *, alone: bool = False) -> float:
    """How long a run takes; `alone`: every node is a step of its own."""
    settings = options(ort, threads)
    if alone:
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    live = session(ort, name, threads, library, settings)
    inputs = load_feeds(name)
    return repeat(lambda: live.run(None, inputs))


def custom_op_node(ort: ModuleType) -> float:
    """What one more custom-op node costs, from chains of 1 and of 1000 nodes; in microseconds."""
    library = os.environ["BENCHMARK_LIBRARY"]
    return (run_time(ort, "scale_1000", 1, library) - run_time(ort, "scale_1", 1, library)) / 999


def dispatch(ort: ModuleType, elements: int) -> float:
    """What one more node costs whose library hardly does anything, from chains of 1 and of 1000 nodes."""
    library = os.environ["BENCHMARK_LEAN_LIBRARY"]
    long, short = (run_time(ort, f"add_two_{length}_of_{elements}", 1, library) for length in (1000, 1))
    return (long - short) / 999


def session_on_library(
    ort: ModuleType, name: str, library: str, entries: dict[str, str] | None = None, *, expected: str = "all"
) -> Any:
    """Return a session with the execution provider of a library, which must have ``all``, ``some`` or ``none``."""
    if not any(device.ep_name != CPU for device in ort.get_ep_devices()):
        ort.register_execution_provider_library("measured", library)  # ggml looks its options up by it
    settings = options(ort, 1)
    settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # both give it the model's own nodes
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    devices = [device for device in ort.get_ep_devices() if device.ep_name != CPU][:1]
    settings.add_provider_for_devices(devices, entries or {})
    if ort.__name__ != "onnxruntime":
        settings.broken_groups = "drop"  # as ONNX Runtime does
    live = ort.InferenceSession(str(FOLDER / f"{name}.onnx"), settings)
    if ort.__name__ == "onnxruntime":
        owners = {graph.ep_name for graph in live.get_provider_graph_assignment_info()}
    else:
        owners = {row.provider for row in live.node_assignments()}
    others = owners - {CPU}
    taken = "none" if not others else "all" if others == owners else "some"
    if taken != expected and (taken, expected) != ("all", "some"):
        raise RuntimeError(f"{name}: expected {expected} of the nodes on the library, got {taken}, {owners}")
    return live


def ep_dispatch(ort: ModuleType, elements: int, library: str) -> float:
    """What one more node costs that an execution provider runs, from chains of 1 and of 1000 nodes."""
    times = []
    for length in (1000, 1):
        name = f"relu_{length}_of_{elements}"
        live, inputs = session_on_library(ort, name, library), load_feeds(name)
        times.append(repeat(lambda live=live, inputs=inputs: live.run(None, inputs)))
    return (times[0] - times[1]) / 999


# Options of published libraries, so that both sides compute in the same precision.
LIBRARY_OPTIONS = {
    "ggml": {"weights": "f32", "partial": "1", "threads": "1"},
    "openvino": {"load_config": '{"CPU":{"INFERENCE_PRECISION_HINT":"f32","INFERENCE_NUM_THREADS":"1"}}'},
}


def partition(ort: ModuleType, what: str) -> float:
    """What a compiled group costs: one more in a chain, a session of 1000, or a model on a published library."""
    lean = os.environ["BENCHMARK_COMPILE_LIBRARY"]
    if what == "session":
        return repeat(lambda: session_on_library(ort, "relu_1000", lean))
    if what.isdigit():
        return ep_dispatch(ort, int(what), lean)
    library, model = what.split("_", 1)
    path = os.environ[f"BENCHMARK_{library.upper()}"]
    expected = "none" if what in os.environ["BENCHMARK_NOT_TAKEN"].split() else "some"
    live = session_on_library(ort, model, path, LIBRARY_OPTIONS[library], expected=expected)
    inputs = load_feeds(model)
    return repeat(lambda: live.run(None, inputs), seconds=2)


def native_node(ort: ModuleType) -> float:
    """What one more native node costs that runs by itself."""
    return (run_time(ort, "relu_1000", 1, alone=True) - run_time(ort, "relu_1", 1, alone=True)) / 999


def fused_node(ort: ModuleType) -> float:
    """What one more node of an elementwise chain costs."""
    return (run_time(ort, "relu_1000", 1) - run_time(ort, "relu_1", 1)) / 999


def take(module: str, benchmark: str, threads: int) -> float:
    if benchmark == "import":
        return import_time(module)
    if benchmark == "import_and_first_run":
        return import_and_run(module)
    ort = importlib.import_module(module)
    if benchmark == "first_session":
        return first_session(ort)
    if benchmark == "next_session":
        return repeat(lambda: session(ort, "relu_1", 1))
    if benchmark == "session_1000_nodes":
        return repeat(lambda: session(ort, "relu_1000", 1))
    if benchmark == "run_one_node":
        return run_time(ort, "relu_1", 1)
    if benchmark == "custom_op_node":
        return custom_op_node(ort)
    if benchmark.startswith("ep_dispatch_"):
        return ep_dispatch(ort, int(benchmark.removeprefix("ep_dispatch_")), os.environ["BENCHMARK_EP_LIBRARY"])
    if benchmark.startswith("partition_"):
        return partition(ort, benchmark.removeprefix("partition_"))
    if benchmark.startswith("dispatch_"):
        return dispatch(ort, int(benchmark.removeprefix("dispatch_")))
    if benchmark == "native_node":
        return native_node(ort)
    if benchmark == "fused_node":
        return fused_node(ort)
    if benchmark == "external_session":
        return external_session(ort)
    if benchmark == "external_memory":
        return external_memory(ort)
    return run_time(ort, benchmark, threads)


if __name__ == "__main__":
    print("MEASURED", take(sys.argv[1], sys.argv[2], int(sys.argv[3])))
