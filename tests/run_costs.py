# SPDX-License-Identifier: Apache-2.0
"""Counts what a warm run asks of the C library, allocations and locks, in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess

RUNS = 20
CHILD = f"""
import ctypes, json, sys
import numpy as np
import onnx_light_ort_host as ort
counter, kind, library, threads, *paths = sys.argv[1:]
counter = ctypes.CDLL(counter)
counts = counter.CountedAllocations, counter.CountedLocks
for count in counts:
    count.restype = ctypes.c_long
if kind == "provider":
    ort.register_execution_provider_library("Ep", library)
costs = []
for path in paths:
    options = ort.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.reference_fallback = False
    if kind == "provider":
        options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "Ep"], {{}})
    elif kind == "custom_ops":
        options.register_custom_ops_library(library)
    session = ort.InferenceSession(path, options)
    assert kind != "provider" or {{row.provider for row in session.node_assignments()}} == {{"Ep"}}
    feeds = {{entry.name: np.full(entry.shape, 0.5, np.float32) for entry in session.get_inputs()}}
    for _ in range(5):
        session.run(None, feeds)
    taken = []
    for _ in range({RUNS}):
        before = [count() for count in counts]
        session.run(None, feeds)
        taken.append([count() - start for count, start in zip(counts, before)])
    costs.append([min(column) for column in zip(*taken)])
print(json.dumps([long - short for short, long in zip(*costs)]))
"""

RunPython = Callable[..., "CompletedProcess[str]"]


def more_for_the_longer(
    run_python: RunPython,
    fixtures: Path,
    paths: Sequence[Path],
    *,
    kind: str = "native",
    library: Path | str = "",
    threads: int = 1,
    checked: bool = False,
) -> list[int]:
    """Return how many more allocations and locks a run of the second model takes than one of the first.

    `kind` says what the models need: ``native`` kernels, the ``custom_ops`` of the library, or its ``provider``.
    """
    counter = fixtures / "libc_calls.so"
    env = {"LD_PRELOAD": str(counter), "ONNX_LIGHT_ORT_CHECKED": str(int(checked))}
    return json.loads(run_python(CHILD, counter, kind, library, threads, *paths, **env).stdout)
