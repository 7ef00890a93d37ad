# SPDX-License-Identifier: Apache-2.0
"""The libraries of execution providers in fixtures/, in the host or in ONNX Runtime."""

from __future__ import annotations

import contextlib
import ctypes as C
import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

FAULTS = {
    "exception": 1,
    "exception_without_text": 2,
    "int": 3,
    "foreign_class": 4,
    "class_with_a_code": 5,
    "status": 6,
    "bad_alloc": 7,
}
OBJECTS = ("factories", "EPs", "kernels", "compute infos", "states", "registries", "domains", "allocators", "blocks")


class EpFixture:
    """A fixture library in the module under test.

    Parameters
    ----------
    ort
        The module: the host or ``onnxruntime``.
    name
        Name of the library, without its ending.
    """

    def __init__(self, ort: Any, name: str = "kernel_ep"):
        self.ort = ort
        self.path = str(Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"]) / f"{name}.so")
        self._exports: Any = None

    @contextlib.contextmanager
    def registered(self, *names: str) -> Iterator[dict[str, list[Any]]]:
        """Register the library under these names; yields the devices of each and insists that all is released."""
        done = []
        before = self.balance() if self._exports else dict.fromkeys([*OBJECTS, "released too early"], 0)
        devices: dict[str, list[Any]] = {}
        try:
            for name in names:
                self.ort.register_execution_provider_library(name, self.path)
                done.append(name)
                assert self.exports
                devices[name] = [d for d in self.ort.get_ep_devices() if d.ep_name == name]
            yield devices
        finally:
            devices.clear()
            for name in done:
                self.ort.unregister_execution_provider_library(name)
            gc.collect()
        assert self.balance() == before

    @property
    def exports(self) -> Any:
        """The library's own functions; the module under test has loaded it, and from now on it stays."""
        if self._exports is None:
            self._exports = C.CDLL(self.path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            self._exports.FixtureCallCount.restype = C.c_long
            self._exports.FixtureFail.argtypes = [C.c_char_p, C.c_int, C.c_long]
        return self._exports

    def count(self, name: str) -> int:
        """Return how often something happened since the library was loaded."""
        found = self.exports.FixtureCallCount(name.encode())
        assert found >= 0, name
        return found

    def balance(self) -> dict[str, int]:
        """Return how many objects of each kind are alive, and how many were released too early."""
        alive = {kind: self.count(f"{kind} made") - self.count(f"{kind} released") for kind in OBJECTS}
        return {**alive, "released too early": self.count("released too early")}

    @contextlib.contextmanager
    def counting(self, *names: str) -> Iterator[dict[str, int]]:
        """Yield a dictionary that is filled, at the end of the block, with how often each of these happened in it."""
        before = {name: self.count(name) for name in names}
        made: dict[str, int] = {}
        yield made
        made.update({name: self.count(name) - before[name] for name in names})

    @contextlib.contextmanager
    def failing(self, callback: str, fault: str, nth: int = 1) -> Iterator[None]:
        """Let the n-th call of a callback go wrong."""
        self.exports.FixtureFail(callback.encode(), FAULTS[fault], nth)
        try:
            yield
        finally:
            self.exports.FixtureFail(callback.encode(), 0, 0)

    def session(self, model: onnx.ModelProto, *providers: tuple[list[Any], dict[str, str]], **settings: Any) -> Any:
        """Return a session that selects these devices, each with options, in this order."""
        options = self.ort.SessionOptions()
        options.log_severity_level = settings.pop("log_severity_level", 4)
        options.graph_optimization_level = self.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        for name, value in settings.items():
            setattr(options, name, value)
        for devices, entries in providers:
            options.add_provider_for_devices(devices, entries)
        session = self.ort.InferenceSession(model.SerializeToString(), sess_options=options)
        if hasattr(session, "disable_fallback"):
            session.disable_fallback()
        return session

    def error_of(self, call: Any, *arguments: Any, **settings: Any) -> Exception:
        """Return what a call raises, without its traceback, whose frames would keep sessions and devices alive."""
        try:
            call(*arguments, **settings)
        except Exception as error:
            return error.with_traceback(None)
        raise AssertionError("nothing was raised")


def providers_of(session: Any) -> dict[str, str]:
    """Return which provider has each node, by name of the node."""
    if hasattr(session, "node_assignments"):
        return {row.name: row.provider for row in session.node_assignments()}
    graphs = session.get_provider_graph_assignment_info()
    return {node.name: graph.ep_name for graph in graphs for node in graph.get_nodes()}


def taken(session: Any, provider: str) -> set[str]:
    """Return the names of the nodes that a provider has."""
    return {node for node, owner in providers_of(session).items() if owner == provider}


def tensors(names: str | list[str], dtype: Any = np.float32, shape: Any = None) -> list[onnx.ValueInfoProto]:
    """Return values of one type; without a shape it is unknown."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return [helper.make_tensor_value_info(name, element, shape) for name in names]


def model_of(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    initializers: dict[str, np.ndarray] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """Return a model that imports ONNX at a version and the domain of the fixture."""
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in (initializers or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, weights)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("kernel_ep", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)
