# SPDX-License-Identifier: Apache-2.0
"""The node tests of the onnx package with the plugin: plugin_cases.py MODULE USE OPTIMIZE FILE.

MODULE is onnxruntime or onnx_light_ort_host; USE is kernel or compile (the provider of the plugin in that mode),
custom_ops (the model is rewritten) or cpu (neither); OPTIMIZE is 0 or 1. FILE receives, pickled and by name of the
case, the results of its data sets or what went wrong, and the operators by provider, or "custom_ops" for those that are
rewritten.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import onnx
import onnx_light_ort_plugin
from onnx_node_cases import Case, load_cases
from plugin_ep import CPU, Host, custom_ops


def run(host: Host, case: Case, use: str, optimize: bool) -> tuple[list[Any] | str, dict[str, list[str]]]:
    """Return the results, or the error, and who has the nodes."""
    taken: dict[str, list[str]] = {}
    model = case.model
    uses_provider = use in ("kernel", "compile")
    options = host.options() if uses_provider else host.ort.SessionOptions()
    if host.is_onnxruntime:
        options.log_severity_level = 4
        if not optimize:
            options.graph_optimization_level = host.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    else:
        options.reference_fallback = False
    try:
        if use == "custom_ops":
            rewritten = onnx_light_ort_plugin.rewrite_model(onnx.load_model_from_string(model))
            model, taken = rewritten.SerializeToString(), {use: sorted(custom_ops(rewritten.graph))}
            onnx_light_ort_plugin.register(options, taken[use])
        session = host.ort.InferenceSession(model, options, providers=None if uses_provider else [CPU])
        if uses_provider:
            taken = host.assignments(session)
        if host.is_onnxruntime:
            session.disable_fallback()
        results = []
        for inputs, _ in case.data_sets:
            named = zip(case.input_names, inputs, strict=True)
            results.append(session.run(None, {name: value for name, value in named if value is not None}))
    except Exception as error:
        return f"{type(error).__name__}: {error}", taken
    return results, taken


def main(module: str, use: str, optimize: str, file: str) -> None:
    host = Host(module, use)
    with host.registered():
        results = {case.name: run(host, case, use, optimize == "1") for case in load_cases()}
        Path(file).write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
