# SPDX-License-Identifier: Apache-2.0
"""Where the library is and what it has."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

DOMAIN = "onnx_light"
_PACKAGE = "onnx_light_ort_plugin"


class Version(NamedTuple):
    """One version of an operator that there are kernels for."""

    domain: str
    """The domain of ONNX that the operator is of, ``""`` or ``"ai.onnx.ml"``."""
    may_decline: bool
    """Whether a kernel refuses some nodes for more than their types."""
    types: dict[str, list[str]]
    """Element types by type parameter of the schema, or by the type itself where the schema fixes it."""


def get_library_path() -> str:
    """Return the absolute path of the native library, as ONNX Runtime wants it for registration."""
    # Not __file__: in an editable install the library lies in the build directory, which only the loader knows.
    return str(files(_PACKAGE) / "libonnx_light_ort_plugin.so")


def get_ep_name() -> str:
    """Return the name of the execution provider in the library."""
    return "OnnxLightExecutionProvider"


def get_ep_names() -> list[str]:
    """Return the names of the execution providers in the library."""
    return [get_ep_name()]


@cache
def supported_operators() -> dict[str, dict[int, Version]]:
    """Return what there are kernels for, by operator and version. The build writes it from the library's own table."""
    table = json.loads((files(_PACKAGE) / "operators.json").read_text())
    return {
        name: {int(since): Version(**version) for since, version in versions.items()}
        for name, versions in table.items()
    }


def list_custom_ops() -> list[str]:
    """Return the names of the custom operators, which are those of ONNX.

    Returns
    -------
    list[str]
        Sorted; of ONNX's own domain and of ``ai.onnx.ml``, which have no name in common. Each is in the domain
        ``onnx_light`` and takes every version of the operator that there are kernels for:
        the attribute ``opset`` of a node says which, by default the newest.
    """
    return sorted(supported_operators())


def register(session_options: Any, op_types: Iterable[str] | None = None) -> None:
    """Add the custom operators to session options.

    Parameters
    ----------
    session_options : onnxruntime.SessionOptions
        What the sessions are made with.
    op_types : iterable of str, optional
        The operators to add; none of them, and nothing is registered. ONNX Runtime spends some 0.4 ms per operator
        whenever a session is made; by default all of `list_custom_ops` are added.
    """
    if op_types is not None:
        op_types = [op_types] if isinstance(op_types, str) else list(op_types)
        if not op_types:
            return
        session_options.add_session_config_entry("onnx_light.operators", ",".join(sorted(set(op_types))))
    session_options.register_custom_ops_library(get_library_path())
