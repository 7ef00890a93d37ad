# SPDX-License-Identifier: Apache-2.0
"""The plugin's execution provider in a host: ONNX Runtime, or ours where the two speak the same words."""

from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_light_ort_plugin
from onnx import TensorProto, helper, numpy_helper

EP_NAME = onnx_light_ort_plugin.get_ep_name()
CPU = "CPUExecutionProvider"


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[Any, Sequence[Any] | None]],
    outputs: Mapping[str, tuple[Any, Sequence[Any] | None]],
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
) -> bytes:
    """Return a model; inputs and outputs are numpy types (or ONNX's numbers) and shapes by name."""

    def infos(values: Mapping[str, tuple[Any, Sequence[Any] | None]]) -> list[onnx.ValueInfoProto]:
        return [
            helper.make_tensor_value_info(
                name, kind if isinstance(kind, int) else helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape
            )
            for name, (kind, shape) in values.items()
        ]

    initializers = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "g", infos(inputs), infos(outputs), initializers)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("onnx_light", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


STRING = int(TensorProto.STRING)


def custom_ops(graph: onnx.GraphProto) -> list[str]:
    """Return the operators of a graph and its subgraphs that are custom operators of the plugin."""
    found = [node.op_type for node in graph.node if node.domain == "onnx_light"]
    for node in graph.node:
        for attribute in node.attribute:
            found += custom_ops(attribute.g) if attribute.HasField("g") else []
    return found


class Host:
    """A module that loads the plugin, onnxruntime or onnx_light_ort_host, and the mode in which it uses it."""

    def __init__(self, module: str, mode: str = "kernel") -> None:
        self.ort = importlib.import_module(module)
        self.mode = mode
        self.is_onnxruntime = module == "onnxruntime"

    @contextlib.contextmanager
    def registered(self, name: str = "onnx_light") -> Iterator[None]:
        """Register the plugin; everything that was made inside must be gone at the end."""
        self.ort.register_execution_provider_library(name, onnx_light_ort_plugin.get_library_path())
        try:
            yield
        finally:
            gc.collect()
            self.ort.unregister_execution_provider_library(name)

    def devices(self) -> list[Any]:
        return [device for device in self.ort.get_ep_devices() if device.ep_name == EP_NAME]

    def options(self, ep_options: Mapping[str, str] | None = None) -> Any:
        """Return session options with the provider selected by its device."""
        options = self.ort.SessionOptions()
        options.log_severity_level = 3
        options.add_provider_for_devices(self.devices()[:1], {"mode": self.mode, **(ep_options or {})})
        if self.is_onnxruntime:
            options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        return options

    def session(self, model: bytes, ep_options: Mapping[str, str] | None = None, optimize: bool = True) -> Any:
        options = self.options(ep_options)
        if not optimize:
            options.graph_optimization_level = self.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = self.ort.InferenceSession(model, options)
        if self.is_onnxruntime:
            session.disable_fallback()  # it would run again without the provider
        return session

    def groups(self, session: Any) -> list[list[str]]:
        """Return the operators of each group of nodes that the provider runs as one, sorted."""
        if self.is_onnxruntime:
            graphs = [one for one in session.get_provider_graph_assignment_info() if one.ep_name == EP_NAME]
            return sorted(sorted(node.op_type for node in graph.get_nodes()) for graph in graphs)
        return sorted(sorted(node.op_type for node in group.nodes) for group in session.partitions())

    def assignments(self, session: Any) -> dict[str, list[str]]:
        """Return the operators of the nodes by provider, sorted, as the host itself reports them."""
        by_provider: dict[str, list[str]] = {}
        if self.is_onnxruntime:
            for subgraph in session.get_provider_graph_assignment_info():
                by_provider.setdefault(subgraph.ep_name, []).extend(node.op_type for node in subgraph.get_nodes())
        else:
            for node in session.node_assignments():
                by_provider.setdefault(node.provider, []).append(node.op_type)
        return {provider: sorted(operators) for provider, operators in by_provider.items()}
