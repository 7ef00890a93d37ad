# SPDX-License-Identifier: Apache-2.0
"""Reads an ``OrtGraph`` and what is reached from it through the slots of the interface."""

from __future__ import annotations

import ctypes as C
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx

from .abi import Table, text
from .provider import during_capability

if TYPE_CHECKING:
    from .probe import Probe

FLAGS = {
    "required": "ValueInfo_IsRequiredGraphInput",
    "optional": "ValueInfo_IsOptionalGraphInput",
    "output": "ValueInfo_IsGraphOutput",
    "constant": "ValueInfo_IsConstantInitializer",
    "outer": "ValueInfo_IsFromOuterScope",
}


@dataclass(frozen=True)
class GraphReader:
    """The slots of graphs, nodes and values as functions that return lists, names and sets.

    Parameters
    ----------
    api
        The ``OrtApi`` table.
    """

    api: Table

    def entries(self, slot: str, handle: int, *more: Any) -> list[int | None]:
        """Return the handles that an array getter gives, ``more`` being what follows the count."""
        count = getattr(self.api.get, slot.replace("_Get", "_GetNum"))(handle)
        found = (C.c_void_p * count)()
        if count:
            getattr(self.api.ok, slot)(handle, found, count, *more)
        return list(found)

    def name(self, value: int | None) -> str | None:
        """Return the name of a value, None for an omitted argument."""
        return None if value is None else text(self.api.get.GetValueInfoName(value))

    def names(self, slot: str, handle: int) -> list[str | None]:
        """Return the names of the values that an array getter gives."""
        return [self.name(value) for value in self.entries(slot, handle)]

    def boundary(self, graph: int) -> tuple[list[str | None], list[str | None], set[str | None]]:
        """Return the names of a graph's inputs, outputs and initializers; the latter have no order."""
        inputs, outputs, initializers = (
            self.names(f"Graph_Get{part}", graph) for part in ("Inputs", "Outputs", "Initializers")
        )
        return inputs, outputs, set(initializers)

    def nodes(self, graph: int) -> dict[str, int]:
        """Return the nodes of a graph by name, in the graph's order."""
        return {self.node_name(node): node for node in self.entries("Graph_GetNodes", graph) if node is not None}

    def node_name(self, node: int) -> str:
        """Return the name of a node."""
        return text(self.api.get.Node_GetName(node)) or ""

    def values(self, graph: int) -> dict[str, int]:
        """Return every value that is reached from a graph by name; each name must stand for one handle."""
        found: dict[str, set[int]] = {}
        reached = [(f"Graph_Get{part}", graph) for part in ("Inputs", "Outputs", "Initializers")]
        for node in self.nodes(graph).values():
            reached += [(f"Node_Get{part}", node) for part in ("Inputs", "Outputs", "ImplicitInputs")]
        for slot, handle in reached:
            for value in self.entries(slot, handle):
                if value is not None:
                    found.setdefault(self.name(value) or "", set()).add(value)
        several = {name for name, handles in found.items() if len(handles) > 1}
        assert not several, f"values with several handles: {several}"
        return {name: handles.pop() for name, handles in found.items()}

    def type_of(self, value: int) -> tuple[int, list[int | str] | None]:
        """Return element type and shape of a tensor, names where an extent has one; None for no shape."""
        info = self.api.get.CastTypeInfoToTensorInfo(self.api.get.GetValueInfoTypeInfo(value))
        element = self.api.get.GetTensorElementType(info)
        if not self.api.TensorTypeAndShape_HasShape(info):
            return element, None
        rank = self.api.get.GetDimensionsCount(info)
        extents, names = (C.c_int64 * rank)(), (C.c_void_p * rank)()
        self.api.ok.GetDimensions(info, extents, rank)
        self.api.ok.GetSymbolicDimensions(info, names, rank)
        return element, [text(name) or extent for name, extent in zip(names, extents, strict=True)]

    def flags(self, value: int) -> set[str]:
        """Return which of the five flags are set."""
        return {flag for flag, slot in FLAGS.items() if getattr(self.api.get, slot)(value)}

    def subgraphs(self, node: int) -> dict[str, int]:
        """Return the subgraphs of a node by attribute."""
        count = self.api.get.Node_GetNumSubgraphs(node)
        graphs, names = (C.c_void_p * count)(), (C.c_void_p * count)()
        if count:
            self.api.ok.Node_GetSubgraphs(node, graphs, count, names)
        return {text(name) or "": graph for name, graph in zip(names, graphs, strict=True)}

    def attributes(self, node: int) -> dict[str, int]:
        """Return the attributes of a node by name."""
        return {text(self.api.get.OpAttr_GetName(a)) or "": a for a in self.entries("Node_GetAttributes", node) if a}

    def producer(self, value: int) -> tuple[str | None, int]:
        """Return the name of the node that makes a value, None if there is none, and the output's index."""
        node, index = C.c_void_p(), C.c_size_t(77)
        self.api.ok.ValueInfo_GetValueProducer(value, C.byref(node), C.byref(index))
        return self.node_name(node.value) if node.value else None, index.value

    def consumers(self, value: int) -> list[tuple[str, int]]:
        """Return the uses of a value, sorted: node and index of the argument."""
        count = self.api.get.ValueInfo_GetValueNumConsumers(value)
        nodes, indices = (C.c_void_p * count)(), (C.c_int64 * count)()
        if count:
            self.api.ok.ValueInfo_GetValueConsumers(value, nodes, indices, count)
        return sorted((self.node_name(node), index) for node, index in zip(nodes, indices, strict=True))

    def view(self, graph: int, *names: str) -> int:
        """Return a view of some nodes, which the caller releases."""
        nodes = self.nodes(graph)
        chosen = (C.c_void_p * len(names))(*(nodes[name] for name in names))
        return self.api.get.Graph_GetGraphView(graph, chosen, len(names))


def look_at(
    probe: Probe,
    model: onnx.ModelProto,
    look: Callable[[GraphReader, int], Any],
    prepare: Callable[[Any], None] | None = None,
) -> Any:
    """Return what ``look(reader, graph)`` gives for the main graph inside ``GetCapability``."""

    def main_only(ep: Any, graph: int) -> Any:
        return look(GraphReader(ep.api), graph) if ep.api.get.Graph_GetParentNode(graph) is None else None

    return during_capability(probe, model, main_only, prepare)[-1]


def of_values(look: Callable[[GraphReader, int], Any]) -> Callable[[GraphReader, int], dict[str, Any]]:
    """Return a look at a graph that gives what ``look(reader, value)`` gives for each value, by name."""
    return lambda reader, graph: {name: look(reader, value) for name, value in reader.values(graph).items()}


def of_body(node: str, attribute: str, look: Callable[[GraphReader, int], Any]) -> Callable[[GraphReader, int], Any]:
    """Return a look at a graph that gives what ``look(reader, graph)`` gives for the body of a node."""
    return lambda reader, graph: look(reader, reader.subgraphs(reader.nodes(graph)[node])[attribute])
