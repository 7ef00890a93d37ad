# SPDX-License-Identifier: Apache-2.0
"""An ``OrtEp`` and its kernels built from Python callables, and sessions that use them."""

from __future__ import annotations

import contextlib
import ctypes as C
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import onnx
from onnx import helper

from .abi import PluginStruct, Table
from .custom_op import copy_first_input
from .ep import EpFactory, registered

if TYPE_CHECKING:
    from .probe import Probe


class Ep(PluginStruct):
    """An execution provider that takes nothing, unless ``capability`` says otherwise.

    Parameters
    ----------
    factory
        Its factory; the provider has the factory's name.
    capability
        ``capability(ep, graph, support)`` is called in ``GetCapability``; returns None, an owned status, or raises.
    version
        Value of the struct's version field.

    Attributes
    ----------
    calls
        The names of the members that were called, in order.
    """

    def __init__(
        self,
        factory: EpFactory,
        capability: Callable[[Ep, int, int], Any] | None = None,
        name: str | None = None,
        version: int = 30,
    ):
        super().__init__("OrtEp", version, factory.probe.guard)
        self.factory, self.probe, self.api, self.ep_api = factory, factory.probe, factory.api, factory.ep_api
        self.calls: list[str] = []
        self._capability = capability or (lambda ep, graph, support: None)
        self._name = C.create_string_buffer((name or factory.name).encode())
        self.count("GetName", lambda this: C.addressof(self._name))
        self.count("GetCapability", lambda this, graph, support: self._capability(self, graph, support))
        self.probe.keep.append(self)

    def count(self, name: str, function: Callable[..., Any]) -> None:
        """Install a member whose calls are listed in ``calls``."""

        def counted(*arguments: Any) -> Any:
            self.calls.append(name)
            return function(*arguments)

        self.set(name, counted)

    def nodes(self, graph: int) -> list[int]:
        """Return the nodes of a graph."""
        count = self.api.get.Graph_GetNumNodes(graph)
        found = (C.c_void_p * count)()
        if count:
            self.api.ok.Graph_GetNodes(graph, found, count)
        return list(found)

    def take_what_has_kernels(self, graph: int, support: int) -> None:
        """Propose every node that the registry has a kernel for."""
        for node in self.nodes(graph):
            if self.ep_api.get.EpGraphSupportInfo_LookUpKernel(support, node):
                self.ep_api.ok.EpGraphSupportInfo_AddSingleNode(support, node)

    def use_kernels(self, *kernels: Kernel) -> int:
        """Answer ``GetKernelRegistry`` with a registry of these kernels, which is returned and lives on."""
        registry = self.ep_api.get.CreateKernelRegistry()
        for kernel in kernels:
            kernel.add_to(registry, self.factory.name)

        def give(this: int, out: int) -> None:
            C.c_void_p.from_address(out).value = registry

        self.count("GetKernelRegistry", give)
        return registry


class Kernel:
    """A kernel definition with an ``OrtKernelImpl`` for each node that it is created for.

    ``create(info)`` runs in ``OrtKernelCreateFunc`` and ``compute(api, context)`` in ``Compute``; both may return an
    owned status or raise; ``members`` are further ones of each implementation. ``made`` and ``released`` list the
    addresses of the implementations, ``calls`` the names of the members that were called.
    """

    def __init__(
        self,
        ep: Ep,
        op_type: str,
        since: int,
        until: int,
        types: dict[str, Sequence[int]] | None = None,
        *,
        domain: str = "",
        create: Callable[[int], Any] | None = None,
        compute: Callable[[Table, int], Any] = copy_first_input,
        build: Callable[[Table, int], None] | None = None,
        members: dict[str, Callable[..., Any]] | None = None,
    ):
        self.ep, self.op_type, self.domain, self.since, self.until = ep, op_type, domain, since, until
        self.types, self.create, self.compute, self.build = types or {}, create, compute, build
        self.members = {"Compute": self._compute, "Release": self._release, **(members or {})}
        self.made: list[int] = []
        self.released: list[int] = []
        self.calls: list[str] = []
        self._alive: dict[int, PluginStruct] = {}
        function = C.CFUNCTYPE(C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)
        self.create_function = function(ep.probe.guard(self._create))
        ep.probe.keep.append(self)

    def definition(self, provider: str) -> int:
        """Return a new definition, which the caller releases."""
        ep_api = self.ep.ep_api
        builder = ep_api.get.CreateKernelDefBuilder()
        ep_api.ok.KernelDefBuilder_SetOperatorType(builder, self.op_type.encode())
        ep_api.ok.KernelDefBuilder_SetDomain(builder, self.domain.encode())
        ep_api.ok.KernelDefBuilder_SetSinceVersion(builder, self.since, self.until)
        ep_api.ok.KernelDefBuilder_SetExecutionProvider(builder, provider.encode())
        for name, elements in self.types.items():
            types = (C.c_void_p * len(elements))(*(ep_api.get.GetTensorDataType(e) for e in elements))
            ep_api.ok.KernelDefBuilder_AddTypeConstraint(builder, name.encode(), types, len(elements))
        if self.build:
            self.build(ep_api, builder)
        definition = ep_api.get.KernelDefBuilder_Build(builder)
        ep_api.ReleaseKernelDefBuilder(builder)
        return definition

    def add_to(self, registry: int, provider: str) -> None:
        """Add the kernel to a registry under a provider's name."""
        definition = self.definition(provider)
        pointer = C.cast(self.create_function, C.c_void_p)
        self.ep.ep_api.ok.KernelRegistry_AddKernel(registry, definition, pointer, None)
        self.ep.ep_api.ReleaseKernelDef(definition)

    def _create(self, state: int, info: int, out: int) -> Any:
        impl = PluginStruct("OrtKernelImpl", 30, self.ep.probe.guard)
        for name, function in self.members.items():
            impl.set(name, self._counted(name, function))
        self._alive[impl.address] = impl
        self.made.append(impl.address)
        C.c_void_p.from_address(out).value = impl.address
        return self.create(info) if self.create else None

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.calls.append(name)
            return function(*arguments)

        return counted

    def _compute(self, this: int, context: int) -> Any:
        return self.compute(self.ep.api, context)

    def _release(self, this: int) -> None:
        self.released.append(this)


@contextlib.contextmanager
def provider_of(
    probe: Probe,
    capability: Callable[[Ep, int, int], Any] | None = None,
    *,
    prepare: Callable[[Any], None] | None = None,
    factory: EpFactory | None = None,
    make: Callable[[EpFactory], Ep] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Register a factory of one provider; yields the provider and session options that select its devices."""
    factory = factory or EpFactory(probe)
    ep = make(factory) if make else Ep(factory, capability)
    if prepare:
        prepare(ep)
    factory.give(ep)
    with registered(probe, factory) as devices:
        options = probe.ort.SessionOptions()
        options.log_severity_level = 4
        options.add_provider_for_devices(devices, {})
        try:
            yield ep, options
        finally:
            del devices, options
            gc.collect()


def during_capability(
    probe: Probe,
    model: onnx.ModelProto,
    look: Callable[[Ep, int], Any],
    prepare: Callable[[Ep], None] | None = None,
) -> list[Any]:
    """Run ``look(ep, graph)`` inside each ``GetCapability`` for a model; return the results in order."""
    seen: list[Any] = []

    def capability(ep: Ep, graph: int, support: int) -> None:
        seen.append(look(ep, graph))

    with provider_of(probe, capability, prepare=prepare) as (_ep, options):
        session_with(probe, model, options)
    return seen


def session_with(probe: Probe, model: onnx.ModelProto | str, options: Any) -> Any:
    """Return a session with these options, without graph optimizations; an exception of a callback comes first."""
    options.graph_optimization_level = probe.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    # ONNX Runtime's Python would otherwise try again without the provider that failed.
    how = {"enable_fallback": False} if probe.ort.__name__ == "onnxruntime" else {}
    with probe.callbacks():
        return probe.ort.InferenceSession(
            model if isinstance(model, str) else model.SerializeToString(), sess_options=options, **how
        )


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str] | None],
    outputs: Sequence[str],
    *,
    initializers: Sequence[onnx.TensorProto] = (),
    element: int = onnx.TensorProto.FLOAT,
    opset: int = 17,
    ir_version: int = 8,
    **imports: int,
) -> onnx.ModelProto:
    """Return a model; inputs by name with their shapes, outputs of unknown shape, all of one element type."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info(name, element, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, element, None) for name in outputs],
        list(initializers),
    )
    opsets = [helper.make_opsetid(*item) for item in {"": opset, **imports}.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
