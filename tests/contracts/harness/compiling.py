# SPDX-License-Identifier: Apache-2.0
"""An execution provider that compiles groups of nodes: its ``OrtNodeComputeInfo`` and what it computes, in Python."""

from __future__ import annotations

import contextlib
import ctypes as C
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from .abi import PluginStruct, text
from .custom_op import read_tensor, write_output
from .graph import GraphReader
from .provider import Ep, provider_of, session_with

if TYPE_CHECKING:
    from .probe import Probe

OPERATORS: dict[str, Callable[..., np.ndarray]] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Sub": np.subtract,
    "Neg": np.negative,
    "Identity": np.copy,
    "Relu": lambda x: np.maximum(x, np.float32(0)),
}


class FusionOptions(C.Structure):
    """``OrtNodeFusionOptions``."""

    _fields_ = [("ort_version_supported", C.c_uint32), ("drop_constant_initializers", C.c_bool)]


@dataclass
class Program:
    """What a group computes, read from its graph while it is compiled.

    Attributes
    ----------
    node_name
        Name of the node that the group becomes.
    inputs, outputs
        Names of the values, in order.
    nodes
        Operator, input names and output names of each node, in order.
    constants
        Constant initializers by name.
    """

    node_name: str
    inputs: list[str | None]
    outputs: list[str | None]
    nodes: list[tuple[str, list[str | None], list[str | None]]] = field(default_factory=list)
    constants: dict[str | None, np.ndarray] = field(default_factory=dict)

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the outputs."""
        values = {**self.constants, **dict(zip(self.inputs, inputs, strict=True))}
        for op_type, names, made in self.nodes:
            values[made[0]] = OPERATORS[op_type](*(values[name] for name in names))
        return [values[name] for name in self.outputs]


class ComputeInfo(PluginStruct):
    """An ``OrtNodeComputeInfo`` whose members can be replaced; what is called goes into the provider's ``log``.

    Its state is its own address, unless ``state`` says otherwise.
    """

    def __init__(self, ep: CompilingEp, program: Program):
        super().__init__("OrtNodeComputeInfo", 0xBAD, ep.probe.guard)  # the version is never read
        self.ep, self.program = ep, program
        self.state: int | None = self.address
        for name in ("CreateState", "Compute", "ReleaseState"):
            self.set(name, getattr(self, f"_{name}"))

    def _CreateState(self, this: int, context: int, out: int) -> Any:
        assert this == self.address
        assert C.c_void_p.from_address(out).value is None
        self.ep.log.append(("CreateState", text(self.ep.ep_api.NodeComputeContext_NodeName(context))))
        C.c_void_p.from_address(out).value = self.state
        return None

    def _Compute(self, this: int, state: int | None, context: int) -> Any:
        assert (this, state) == (self.address, self.state)
        api = self.ep.api
        counts = api.get.KernelContext_GetInputCount(context), api.get.KernelContext_GetOutputCount(context)
        assert counts == (len(self.program.inputs), len(self.program.outputs))
        inputs = [read_tensor(api, api.get.KernelContext_GetInput(context, i)) for i in range(counts[0])]
        for i, array in enumerate(self.program.run(inputs)):
            write_output(api, context, i, array)
        return None

    def _ReleaseState(self, this: int, state: int) -> None:
        assert (this, state) == (self.address, self.state)
        self.ep.log.append(("ReleaseState", self.program.node_name))


class CompilingEp(Ep):
    """A provider that proposes groups of nodes by name, in each graph that has them, and runs them with numpy.

    Parameters
    ----------
    groups
        The names of each group's nodes.
    drop
        Whether constant initializers are dropped from the inputs; None gives no options at all.

    Attributes
    ----------
    look
        Called as ``look(ep, graph, fused_node)`` for each group inside ``Compile``; its results are in ``seen``.
    adjust
        Called with each new `ComputeInfo` before it is given to the host.
    infos
        The infos that were made, in order.
    log
        The calls that concern compiled groups, and ``ReleaseEp``, in order.
    """

    def __init__(self, factory: Any, groups: Sequence[Sequence[str]], drop: bool | None = None):
        super().__init__(factory, lambda ep, graph, support: self.propose(graph, support))
        self.groups, self.drop, self.reader = groups, drop, GraphReader(self.api)
        self.look: Callable[[CompilingEp, int, int], Any] = lambda ep, graph, node: None
        self.adjust: Callable[[ComputeInfo], Any] = lambda info: None
        self.seen: list[Any] = []
        self.infos: list[ComputeInfo] = []
        self.log: list[tuple[str, Any]] = []
        self.count("Compile", self._compile)
        self.count("ReleaseNodeComputeInfos", self._release_infos)
        factory.count("ReleaseEp", self._release_ep)

    @property
    def calls_of_log(self) -> list[str]:
        """Return the log without its details."""
        return [name for name, _ in self.log]

    @property
    def released(self) -> list[int]:
        """Return the infos that were given back, sorted."""
        return sorted(info for name, infos in self.log if name == "ReleaseNodeComputeInfos" for info in infos)

    def fuse(self, support: int, nodes: Sequence[int | None]) -> tuple[int, str | None]:
        """Propose a group; return the code and the message."""
        options = None if self.drop is None else C.byref(FusionOptions(30, self.drop))
        array = (C.c_void_p * len(nodes))(*nodes)
        return self.ep_api.error.EpGraphSupportInfo_AddNodesToFuse(support, array, len(nodes), options)

    def propose(self, graph: int, support: int) -> None:
        """Propose the groups that are in the graph."""
        nodes = self.reader.nodes(graph)
        for group in self.groups:
            if set(group) <= set(nodes):
                code, message = self.fuse(support, [nodes[name] for name in group])
                assert code == 0, message

    def read(self, graph: int, node: int) -> Program:
        """Return the program of a group."""
        reader, program = self.reader, Program(self.reader.node_name(node), [], [])
        program.inputs, program.outputs, _ = reader.boundary(graph)
        for inner in reader.nodes(graph).values():
            names = (reader.names(f"Node_Get{part}", inner) for part in ("Inputs", "Outputs"))
            program.nodes.append((text(self.api.get.Node_GetOperatorType(inner)) or "", *names))
        for name, value in reader.values(graph).items():
            if "constant" in reader.flags(value):
                tensor = self.api.get.ValueInfo_GetInitializerValue(value)
                program.constants[name] = read_tensor(self.api, tensor).copy()
        return program

    def _compile(self, this: int, graphs: int, nodes: int, count: int, infos: int, contexts: int) -> Any:
        pointers = [list((C.c_void_p * count).from_address(array)) for array in (graphs, nodes, infos, contexts)]
        assert pointers[2:] == [[None] * count] * 2
        self.log.append(("Compile", count))
        for i, (graph, node) in enumerate(zip(*pointers[:2], strict=True)):
            info = ComputeInfo(self, self.read(graph, node))
            self.infos.append(info)
            self.seen.append(self.look(self, graph, node))
            self.adjust(info)
            C.c_void_p.from_address(infos + 8 * i).value = info.address
        return None

    def _release_infos(self, this: int, infos: int, count: int) -> None:
        self.log.append(("ReleaseNodeComputeInfos", list((C.c_void_p * count).from_address(infos))))

    def _release_ep(self, this: int, ep: int) -> None:
        self.log.append(("ReleaseEp", ep == self.address))


@contextlib.contextmanager
def compiling(
    probe: Probe,
    *groups: Sequence[str],
    drop: bool | None = None,
    prepare: Callable[[CompilingEp], None] | None = None,
) -> Iterator[tuple[CompilingEp, Any]]:
    """Register a `CompilingEp`; yields it and session options that select it."""
    with provider_of(probe, prepare=prepare, make=lambda factory: CompilingEp(factory, groups, drop)) as (ep, options):
        yield ep, options


def refused(
    probe: Probe,
    exception: str,
    match: str,
    *groups: Sequence[str],
    model: onnx.ModelProto,
    prepare: Callable[[CompilingEp], None] | None = None,
) -> CompilingEp:
    """Insist that a session whose groups are compiled is refused, and return the provider after its end."""
    with compiling(probe, *groups, prepare=prepare) as (ep, options):
        with pytest.raises(probe.exception(exception), match=match):
            session_with(probe, model, options)
        gc.collect()
    return ep
