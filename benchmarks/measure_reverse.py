# SPDX-License-Identifier: Apache-2.0
"""Take one measurement of ONNX Runtime in a fresh process: measure_reverse.py WHO BENCHMARK THREADS.

WHO runs the nodes: cpu (its own provider), compile or kernel (our plugin in that mode), sample (a provider that does
nothing but Relu). BENCHMARK is a model, whose run is measured, or node: what one more node of a chain costs. Prints
microseconds, the lower quartile of many repetitions.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import onnxruntime
from timing import CPU, load_feeds, model_file, options, repeat


def session(who: str, model: str, threads: int) -> Any:
    """Return a session with the optimizations that ONNX Runtime has by default, all of it on one provider."""
    settings = options(onnxruntime, threads)
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if who != "cpu":
        library = os.environ["BENCHMARK_EP_LIBRARY" if who == "sample" else "BENCHMARK_PLUGIN"]
        if not any(device.ep_name != CPU for device in onnxruntime.get_ep_devices()):
            onnxruntime.register_execution_provider_library("measured", library)
        devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name != CPU][:1]
        settings.add_provider_for_devices(devices, {} if who == "sample" else {"mode": who, "threads": str(threads)})
    live = onnxruntime.InferenceSession(model_file(model), settings)
    owners = {graph.ep_name for graph in live.get_provider_graph_assignment_info()}
    if len(owners) != 1 or (CPU in owners) != (who == "cpu"):
        raise RuntimeError(f"{model}: expected all nodes on one provider, got {owners}")
    return live


def run_time(who: str, model: str, threads: int) -> float:
    live, inputs = session(who, model, threads), load_feeds(model)
    return repeat(lambda: live.run(None, inputs), seconds=1)


def take(who: str, benchmark: str, threads: int) -> float:
    if benchmark == "node":
        return (run_time(who, "relu_1000", threads) - run_time(who, "relu_1", threads)) / 999
    return run_time(who, benchmark, threads)


if __name__ == "__main__":
    print("MEASURED", take(sys.argv[1], sys.argv[2], int(sys.argv[3])))
