# SPDX-License-Identifier: Apache-2.0
"""Loads the probe fixture into the module under test and runs contract bodies at the right moment."""

from __future__ import annotations

import contextlib
import ctypes as C
import functools
import gc
import importlib
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from .abi import E, Table
from .custom_op import CustomOp, copy_first_input

FIXTURES_VARIABLE = "ONNX_LIGHT_ORT_FIXTURES"
_HOOKS_VARIABLE = "ONNX_LIGHT_ORT_PROBE_HOOKS"


def fixture_path(name: str) -> str:
    """Return the path of a built fixture library."""
    folder = os.environ.get(FIXTURES_VARIABLE)
    if not folder:
        raise RuntimeError(f"{FIXTURES_VARIABLE}: must name the folder of the built fixtures, got nothing")
    path = Path(folder) / f"{name}.so"
    if not path.is_file():
        raise RuntimeError(f"fixture {name}: not built, got no file at {path}")
    return str(path)


class _Hooks(C.Structure):
    _fields_ = [("register_custom_ops", C.c_void_p), ("create_ep_factories", C.c_void_p), ("release_ep", C.c_void_p)]


class Probe:
    """The module under test, its table, and the means to be called back by it.

    Parameters
    ----------
    module
        ``onnx_light_ort_host`` or ``onnxruntime``.

    Attributes
    ----------
    ort
        The imported module.
    base, api
        The ``OrtApiBase`` the probe received and the table for version 30 it gave.
    keep
        Objects that must outlive every session.
    """

    def __init__(self, module: str):
        self.ort = importlib.import_module(module)
        self.path = fixture_path("probe")
        self.keep: list[Any] = []
        self._errors: list[BaseException] = []
        self._sessions: list[weakref.ref] = []
        self._domains: list[int] = []
        self._tables: dict[int, Table] = {}
        self._on_register: Callable[[int, int], Any] | None = None
        self._hooks = _Hooks()
        self._entry = C.CFUNCTYPE(C.c_void_p, C.c_void_p, C.c_void_p)(self.guard(self._registered))
        self._hooks.register_custom_ops = C.cast(self._entry, C.c_void_p).value
        os.environ[_HOOKS_VARIABLE] = hex(C.addressof(self._hooks))
        self._received: list[int] = []
        self._first_options = self.options(lambda options, base: self._received.append(base))
        self.base = Table(self._received[0], "OrtApiBase")
        self.api = self.table(self.base.GetApi(30))
        self.base._api = self.api
        gc.freeze()  # the modules loaded so far need no look at each of the many collections of the tests

    # What the module under test offers in Python.

    def exception(self, name: str) -> type[Exception] | tuple[type[Exception], ...]:
        """Return what ``pytest.raises`` expects for ORT's name of an exception."""
        if hasattr(self.ort, name):
            return getattr(self.ort, name)
        found = getattr(importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state"), name)
        # Where ONNX Runtime throws instead of returning FAIL, its Python binding raises RuntimeError.
        return (found, RuntimeError) if name == "Fail" else found

    def table(self, address: int) -> Table:
        """Return the ``OrtApi`` table at an address."""
        if address not in self._tables:
            self._tables[address] = Table(address)
        return self._tables[address]

    # Callbacks.

    def guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a callback: an exception is kept for `reraise`, C sees the value 0."""

        @functools.wraps(function)
        def guarded(*args: Any) -> Any:
            try:
                result = function(*args)
            except BaseException as error:  # nothing may propagate into C
                self._errors.append(error)
                return 0
            return result

        return guarded

    def reraise(self) -> None:
        """Raise the first exception that a callback recorded."""
        if self._errors:
            error = self._errors[0]
            self._errors.clear()
            raise error

    @contextlib.contextmanager
    def callbacks(self) -> Iterator[None]:
        """Raise what a callback recorded within the block, before the module's own exception."""
        self._errors.clear()
        try:
            yield
        except Exception:
            self.reraise()
            raise
        self.reraise()

    def _registered(self, options: int, base: int) -> Any:
        return self._on_register(options, base) if self._on_register else None

    @contextlib.contextmanager
    def ep_hooks(self, create: Callable[..., Any], release: Callable[[int], Any]) -> Iterator[None]:
        """Answer ``CreateEpFactories`` and ``ReleaseEpFactory`` of the probe library by Python functions."""
        pointer = C.c_void_p
        functions = (
            C.CFUNCTYPE(pointer, pointer, pointer, pointer, pointer, C.c_size_t, pointer)(self.guard(create)),
            C.CFUNCTYPE(pointer, pointer)(self.guard(release)),
        )
        self._hooks.create_ep_factories, self._hooks.release_ep = (C.cast(f, pointer).value for f in functions)
        try:
            yield
        finally:
            self._hooks.create_ep_factories = self._hooks.release_ep = None

    # Sessions.

    def options(self, register: Callable[[int, int], Any], options: Any = None) -> Any:
        """Return session options after ``register(options, base)`` ran inside ``RegisterCustomOps``."""
        if options is None:
            options = self.ort.SessionOptions()
            options.log_severity_level = 3
        self._on_register = register
        with self.callbacks():
            try:
                options.register_custom_ops_library(self.path)
            finally:
                self._on_register = None
        return options

    def register(self, *ops: CustomOp, options: Any = None) -> Any:
        """Return session options that carry the given custom ops, one domain object per domain name."""

        def body(handle: int, base: int) -> None:
            for name in dict.fromkeys(op.domain for op in ops):
                domain = self.api.get.CreateCustomOpDomain(name.encode())
                self._domains.append(domain)
                for op in ops:
                    if op.domain == name:
                        self.api.ok.CustomOpDomain_Add(domain, op.address)
                self.api.ok.AddCustomOpDomain(handle, domain)

        return self.options(body, options)

    def session(self, model: onnx.ModelProto, *ops: CustomOp, options: Any = None) -> Any:
        """Return a session for a model and custom ops."""
        if ops:
            options = self.register(*ops, options=options)
        with self.callbacks():
            session = self.ort.InferenceSession(
                model.SerializeToString(), sess_options=options, providers=["CPUExecutionProvider"]
            )
        self._sessions.append(weakref.ref(session))
        return session

    def run(self, session: Any, feeds: dict[str, np.ndarray], outputs: Sequence[str] | None = None) -> list[Any]:
        """Run a session; an exception of a callback comes before the module's own."""
        with self.callbacks():
            return session.run(outputs, feeds)

    def run_op(self, op: CustomOp, inputs: Sequence[np.ndarray | None] = (np.ones(2, np.float32),), **model: Any):
        """Run a one-node model of an op; None as an input is an omitted argument. Return the outputs."""
        feeds = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
        model.setdefault("inputs", [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)])
        model.setdefault("input_types", {n: (helper.np_dtype_to_tensor_dtype(x.dtype), None) for n, x in feeds.items()})
        return self.run(self.session(self.one_node_model(op, **model), op), feeds)

    def one_node_model(
        self,
        op: CustomOp,
        inputs: Sequence[str] = ("x0",),
        outputs: Sequence[str] | None = None,
        *,
        attributes: dict[str, Any] | None = None,
        input_types: dict[str, tuple[int, Sequence[int | str] | None]] | None = None,
        output_types: dict[str, tuple[int, Sequence[int | str] | None]] | None = None,
        initializers: dict[str, np.ndarray] | None = None,
        opset: int = 1,
        node_name: str = "node0",
    ) -> onnx.ModelProto:
        """Return a model of one node: float graph inputs and outputs of unknown rank unless stated."""
        if outputs is None:
            outputs = [f"y{i}" for i in range(len(op.outputs))]
        initializers, input_types, output_types = initializers or {}, input_types or {}, output_types or {}
        node = helper.make_node(op.name, inputs, outputs, name=node_name, domain=op.domain, **(attributes or {}))
        default = (onnx.TensorProto.FLOAT, None)
        graph = helper.make_graph(
            [node],
            "graph",
            [
                helper.make_tensor_value_info(n, *input_types.get(n, default))
                for n in dict.fromkeys(inputs)
                if n and n not in initializers
            ],
            [helper.make_tensor_value_info(n, *output_types.get(n, default)) for n in outputs if n],
            [onnx.numpy_helper.from_array(v, n) for n, v in initializers.items()],
        )
        imports = {"": 17, op.domain: opset if op.domain else 17}
        return helper.make_model(graph, opset_imports=[helper.make_opsetid(*i) for i in imports.items()], ir_version=8)

    # Contract bodies at a certain moment.

    def op(self, *args: Any, **kwargs: Any) -> CustomOp:
        """Return a new `CustomOp`."""
        return CustomOp(self, *args, **kwargs)

    def during_register(self, body: Callable[[int], Any]) -> Any:
        """Run ``body(options)`` inside ``RegisterCustomOps`` and return its result."""
        result = []
        self.options(lambda options, base: result.append(body(options)))
        return result[0]

    def during_create(self, body: Callable[[Table, int], Any], op: CustomOp | None = None, **model: Any) -> Any:
        """Run ``body(api, info)`` inside ``CreateKernelV2`` of a one-node model and return its result."""
        return self._during("CreateKernelV2", lambda o, api, info, kernel: body(self.table(api), info), op, model)

    def during_infer(self, body: Callable[[Table, int], Any], op: CustomOp | None = None, **model: Any) -> Any:
        """Run ``body(api, context)`` inside ``InferOutputShapeFn`` and return its last result."""
        return self._during("InferOutputShapeFn", lambda o, context: body(self.api, context), op, model)

    def during_compute(
        self, body: Callable[[Table, int], Any], inputs: Any = None, op: Any = None, **model: Any
    ) -> Any:
        """Run ``body(api, context)``, then a copy of input 0 to output 0, inside ``KernelComputeV2``."""
        op, result = op or self.op(), []

        def compute(kernel: int, context: int) -> None:
            result.append(body(self.api, context))
            copy_first_input(self.api, context)

        op.set("KernelComputeV2", compute)
        self.run_op(op, inputs if inputs is not None else [np.ones(2, np.float32)], **model)
        return result[-1]

    def _during(self, member: str, callback: Callable[..., Any], op: CustomOp | None, model: dict[str, Any]) -> Any:
        op, result = op or self.op(), []
        op.set(member, lambda *args: result.append(callback(*args)))
        self.session(self.one_node_model(op, **model), op)
        return result[-1]

    def close(self) -> None:
        """Drop what a test left: domains are released once no session of the test lives any more."""
        if self._sessions:
            gc.collect()
        if not any(session() for session in self._sessions):
            for domain in self._domains:
                self.api.ReleaseCustomOpDomain(domain)
            self._domains.clear()
        self._sessions.clear()

    def status(self, code: int = E.ORT_FAIL, message: bytes = b"refused by the probe") -> int:
        """Return a new owned status, for a callback to return."""
        return self.api.CreateStatus(code, message)
