# SPDX-License-Identifier: Apache-2.0
"""An ``OrtCustomOp`` built from Python callables, and the tensor access its compute functions need."""

from __future__ import annotations

import ctypes as C
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .abi import E, PluginStruct, Table, dims

if TYPE_CHECKING:
    from .probe import Probe

FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
REQUIRED = E.INPUT_OUTPUT_REQUIRED
_DTYPES = {
    E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: np.float32,
    E.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: np.float64,
    E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64: np.int64,
    E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: np.int32,
    E.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: np.uint8,
    E.ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL: np.bool_,
}


@dataclass(frozen=True)
class Arg:
    """One declared input or output of a custom op."""

    type: int = FLOAT
    characteristic: int = REQUIRED


class CustomOp(PluginStruct):
    """A custom operator with V2 callbacks.

    ``create(api, info)`` and ``infer(api, context)`` return None, an owned status, or raise; ``compute(api, context)``
    likewise. ``calls`` counts every callback by name. ``set`` replaces any member afterwards.
    """

    def __init__(
        self,
        probe: Probe,
        name: str = "Probe",
        inputs: Sequence[Arg] = (Arg(),),
        outputs: Sequence[Arg] = (Arg(),),
        *,
        create: Callable[[Table, int], Any] | None = None,
        compute: Callable[[Table, int], Any] | None = None,
        infer: Callable[[Table, int], Any] | None = None,
        version: int = 30,
        ep: str | None = None,
        min_arity: int = 1,
        homogeneous: bool = True,
        start: int | None = None,
        end: int | None = None,
        domain: str = "probe",
    ):
        super().__init__("OrtCustomOp", version, probe.guard)
        self.name, self.domain, self.inputs, self.outputs = name, domain, list(inputs), list(outputs)
        self.calls: dict[str, int] = {}
        self.destroyed: list[int | None] = []
        self._strings = [C.create_string_buffer(s.encode()) if s is not None else None for s in (name, ep)]
        self._probe = probe
        compute = compute or copy_first_input
        self.set("GetName", lambda op: C.addressof(self._strings[0]))
        self.set("GetExecutionProviderType", lambda op: C.addressof(self._strings[1]) if self._strings[1] else 0)
        for io, args in (("Input", self.inputs), ("Output", self.outputs)):
            self.set(f"Get{io}TypeCount", lambda op, a=args: len(a))
            self.set(f"Get{io}Type", lambda op, i, a=args: a[i].type)
            self.set(f"Get{io}Characteristic", lambda op, i, a=args: a[i].characteristic)
            self.set(f"GetVariadic{io}MinArity", lambda op: min_arity)
            self.set(f"GetVariadic{io}Homogeneity", lambda op: int(homogeneous))
        self.set("GetInputMemoryType", lambda op, i: E.OrtMemTypeDefault)
        self.set("KernelDestroy", self.destroyed.append)
        self.set("CreateKernelV2", lambda op, api, info, kernel: create(probe.table(api), info) if create else None)
        self.set("KernelComputeV2", lambda kernel, context: compute(probe.api, context))
        if infer:
            self.set("InferOutputShapeFn", lambda op, context: infer(probe.api, context))
        if start is not None:
            self.set("GetStartVersion", lambda op: start)
        if end is not None:
            self.set("GetEndVersion", lambda op: end)
        probe.keep.append(self)

    def set(self, name: str, function: Callable[..., Any] | None) -> None:
        """Install a member that counts its calls."""
        if function is None:
            super().set(name, None)
            return

        def counted(*args: Any) -> Any:
            self.calls[name] = self.calls.get(name, 0) + 1
            return function(*args)

        super().set(name, counted)


def read_tensor(api: Table, value: int) -> np.ndarray:
    """Return a borrowed numpy view of a numeric tensor."""
    info = api.get.GetTensorTypeAndShape(value)
    rank = api.get.GetDimensionsCount(info)
    shape = (C.c_int64 * rank)()
    api.ok.GetDimensions(info, shape, rank)
    dtype = np.dtype(_DTYPES[api.get.GetTensorElementType(info)])
    api.ReleaseTensorTypeAndShapeInfo(info)
    count = int(np.prod(list(shape)))
    if count == 0:
        return np.empty(list(shape), dtype)
    data = (C.c_char * (count * dtype.itemsize)).from_address(api.get.GetTensorMutableData(value))
    return np.frombuffer(data, dtype).reshape(list(shape))


def write_output(api: Table, context: int, index: int, array: np.ndarray) -> None:
    """Request an output with the shape of an array and copy the array into it."""
    value = api.get.KernelContext_GetOutput(context, index, dims(*array.shape), array.ndim)
    if array.size:
        read_tensor(api, value)[...] = array


def copy_first_input(api: Table, context: int) -> None:
    """Copy input 0 to output 0: the compute function of ops whose result does not matter."""
    write_output(api, context, 0, read_tensor(api, api.get.KernelContext_GetInput(context, 0)))


class Pairs:
    """Index pairs of an in-place or alias callback, and how often they were given and taken back."""

    def __init__(self, op: CustomOp, get: str, release: str, inputs: Sequence[int], outputs: Sequence[int]):
        self.inputs, self.outputs = ((C.c_int * max(1, len(v)))(*v) for v in (inputs, outputs))
        self.given, self.released = 0, []
        count = len(inputs)

        def pairs(in_pointer: int, out_pointer: int) -> int:
            self.given += 1
            C.c_void_p.from_address(in_pointer).value = C.addressof(self.inputs)
            C.c_void_p.from_address(out_pointer).value = C.addressof(self.outputs)
            return count

        op.set(get, pairs)
        op.set(release, lambda i, o: self.released.append((i, o)))

    def balanced(self) -> bool:
        """Tell whether each pair of arrays was given back, once."""
        return self.released == [(C.addressof(self.inputs), C.addressof(self.outputs))] * self.given
