# SPDX-License-Identifier: Apache-2.0
"""Sessions on the native libraries of ``fixtures/``."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from .custom_op import Arg
from .probe import Probe, fixture_path


def options_of(probe: Probe, library: str) -> Any:
    """Return session options that carry a fixture library."""
    options = probe.ort.SessionOptions()
    options.log_severity_level = 3
    options.register_custom_ops_library(fixture_path(library))
    return options


def session_of(
    probe: Probe,
    library: str,
    op: str,
    inputs: Sequence[str] = ("x0",),
    options: Any = None,
    outputs: Sequence[str] = ("y0",),
    **model: Any,
) -> Any:
    """Return a session for one node of a fixture library's op, or of the libraries of given options."""
    stub: Any = SimpleNamespace(name=op, domain="fixtures", outputs=[Arg()])
    made = probe.one_node_model(stub, list(inputs), list(outputs), **model)
    return probe.session(made, options=options or options_of(probe, library))
