# SPDX-License-Identifier: Apache-2.0
"""Kernel definitions made through the slots of the module under test."""

from __future__ import annotations

import ctypes as C
from collections.abc import Mapping, Sequence
from typing import Any

from .abi import Table

Pairs = Sequence[tuple[int, int]]


def ints(*values: int) -> Any:
    """Return a C array, None (null) for no values."""
    return (C.c_int * len(values))(*values) if values else None


def types_of(ep_api: Table, *elements: int) -> Any:
    """Return an array of data types."""
    return (C.c_void_p * len(elements))(*(ep_api.get.GetTensorDataType(element) for element in elements))


def definition_of(
    ep_api: Table,
    op: bytes = b"Relu",
    domain: bytes = b"",
    provider: bytes = b"Probe",
    versions: tuple[int, int] = (1, 5),
    types: Sequence[tuple[bytes, Sequence[int]]] = (),
    aliases: Sequence[Pairs] = (),
    mutable: Sequence[Pairs] = (),
    inputs: Mapping[int, int] | None = None,
    outputs: Mapping[int, int] | None = None,
) -> int:
    """Return a new definition, which the caller releases.

    Parameters
    ----------
    types
        Constraints as name and element types, one call each.
    aliases, mutable
        Pairs of input and output, one call for each list of them.
    inputs, outputs
        Memory types by index.
    """
    builder = ep_api.get.CreateKernelDefBuilder()
    ep_api.ok.KernelDefBuilder_SetOperatorType(builder, op)
    ep_api.ok.KernelDefBuilder_SetDomain(builder, domain)
    ep_api.ok.KernelDefBuilder_SetExecutionProvider(builder, provider)
    ep_api.ok.KernelDefBuilder_SetSinceVersion(builder, *versions)
    for name, elements in types:
        ep_api.ok.KernelDefBuilder_AddTypeConstraint(builder, name, types_of(ep_api, *elements), len(elements))
    add = ep_api.ok.KernelDefBuilder_AddInputOutputAliases
    add_mutable = ep_api.ok.KernelDefBuilder_AddInputOutputMutableAliases
    for call, lists in ((add, aliases), (add_mutable, mutable)):
        for pairs in lists:
            call(builder, ints(*(i for i, _ in pairs)), ints(*(o for _, o in pairs)), len(pairs))
    for index, kind in (inputs or {}).items():
        ep_api.ok.KernelDefBuilder_SetInputMemType(builder, index, kind)
    for index, kind in (outputs or {}).items():
        ep_api.ok.KernelDefBuilder_SetOutputMemType(builder, index, kind)
    definition = ep_api.get.KernelDefBuilder_Build(builder)
    ep_api.ReleaseKernelDefBuilder(builder)
    return definition


@C.CFUNCTYPE(C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)
def create_nothing(state: int, info: int, out: int) -> None:
    """Stand for a kernel's create function where none is created."""


CREATE_FUNCTION = C.cast(create_nothing, C.c_void_p)
