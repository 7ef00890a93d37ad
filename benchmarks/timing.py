# SPDX-License-Identifier: Apache-2.0
"""What every measured process does: make a session from one of the models, and time a call.

Every number is the lower quartile of many repetitions: on a shared machine the slow ones measure the neighbours.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(os.environ["BENCHMARK_MODELS"])
CPU = "CPUExecutionProvider"


def lower_quartile(samples: list[float]) -> float:
    return sorted(samples)[len(samples) // 4]


def repeat(call: Callable[[], object], seconds: float = 0.5, at_least: int = 9) -> float:
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


def once(call: Callable[[], object]) -> float:
    """Return how long `call` takes, in microseconds."""
    start = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - start) / 1000


def model_file(name: str) -> str:
    return str(FOLDER / f"{name}.onnx")


def load_feeds(name: str) -> dict[str, Any]:
    import numpy as np

    with np.load(FOLDER / f"{name}.npz") as arrays:
        return dict(arrays)


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
    return ort.InferenceSession(model_file(name), settings, providers=[CPU])


def run_time(ort: ModuleType, name: str, threads: int, library: str | None = None, *, alone: bool = False) -> float:
    """How long a run takes; `alone`: every node is a step of its own."""
    settings = options(ort, threads)
    if alone:
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    live = session(ort, name, threads, library, settings)
    inputs = load_feeds(name)
    return repeat(lambda: live.run(None, inputs))
