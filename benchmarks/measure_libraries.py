# SPDX-License-Identifier: Apache-2.0
"""Take one measurement of nodes that run in a plugin library: measure_libraries.py MODULE BENCHMARK THREADS.

BENCHMARK: `dispatch_N` (custom operators on N elements), `ep_dispatch_N` (kernels of a provider), `partition_N`
(groups that a provider compiles), `partition_session`, `partition_LIBRARY_MODEL` (a published library). Prints
microseconds.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from timing import CPU, load_feeds, model_file, options, repeat, run_time

# Options of published libraries, so that both sides compute in the same precision.
LIBRARY_OPTIONS = {
    "ggml": {"weights": "f32", "partial": "1", "threads": "1"},
    "openvino": {"load_config": '{"CPU":{"INFERENCE_PRECISION_HINT":"f32","INFERENCE_NUM_THREADS":"1"}}'},
}


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
    live = ort.InferenceSession(model_file(name), settings)
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
    return repeat(lambda: live.run(None, inputs), seconds=1)


def take(module: str, benchmark: str) -> float:
    ort = importlib.import_module(module)
    if benchmark.startswith("partition_"):
        return partition(ort, benchmark.removeprefix("partition_"))
    kind, elements = benchmark.rsplit("_", 1)
    if kind == "dispatch":
        return dispatch(ort, int(elements))
    return ep_dispatch(ort, int(elements), os.environ["BENCHMARK_EP_LIBRARY"])


if __name__ == "__main__":
    print("MEASURED", take(sys.argv[1], sys.argv[2]))
