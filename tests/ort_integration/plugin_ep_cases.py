# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package with the plugin: plugin_ep_cases.py MODULE PROVIDER OPTIMIZE FILE.

MODULE is onnxruntime or onnx_light_ort_host; PROVIDER is plugin or cpu; OPTIMIZE is 0 or 1. FILE receives, pickled and
by name of the case, the results of its data sets or what went wrong, and the operators by provider.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from onnx_node_cases import Case, load_cases
from plugin_ep import CPU, Host


def run(host: Host, case: Case, provider: str, optimize: bool) -> tuple[list[Any] | str, dict[str, list[str]]]:
    """Return the results, or the error, and who has the nodes."""
    taken: dict[str, list[str]] = {}
    options = host.options() if provider == "plugin" else host.ort.SessionOptions()
    if host.is_onnxruntime:
        options.log_severity_level = 4
        if not optimize:
            options.graph_optimization_level = host.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    else:
        options.reference_fallback = False
    providers = [CPU] if provider == "cpu" else None
    try:
        session = host.ort.InferenceSession(case.model, options, providers=providers)
        if host.is_onnxruntime:
            session.disable_fallback()
        if provider == "plugin":
            taken = host.assignments(session)
        results = []
        for inputs, _ in case.data_sets:
            named = zip(case.input_names, inputs, strict=True)
            results.append(session.run(None, {name: value for name, value in named if value is not None}))
    except Exception as error:
        return f"{type(error).__name__}: {error}", taken
    return results, taken


def main(module: str, provider: str, optimize: str, file: str) -> None:
    host = Host(module)
    with host.registered():
        results = {case.name: run(host, case, provider, optimize == "1") for case in load_cases()}
        Path(file).write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
