# SPDX-License-Identifier: Apache-2.0
"""Drives the C interface of the module under test from Python, through the table a plugin receives."""

from .abi import E, PluginStruct, SlotError, Table, dims, text
from .child import run_in_child
from .compiling import CompilingEp, ComputeInfo, FusionOptions, compiling, refused
from .custom_op import Arg, CustomOp, Pairs, copy_first_input, read_tensor, write_output
from .ep import EpFactory, entry_points, registered
from .graph import GraphReader, look_at
from .native import options_of, session_of
from .plugin_allocator import PluginAllocator
from .probe import Probe, fixture_path
from .provider import Ep, Kernel, during_capability, model_of, provider_of, session_with

__all__ = [
    "Arg",
    "CompilingEp",
    "ComputeInfo",
    "CustomOp",
    "E",
    "Ep",
    "EpFactory",
    "FusionOptions",
    "GraphReader",
    "Kernel",
    "Pairs",
    "PluginAllocator",
    "PluginStruct",
    "Probe",
    "SlotError",
    "Table",
    "compiling",
    "copy_first_input",
    "dims",
    "during_capability",
    "entry_points",
    "fixture_path",
    "look_at",
    "model_of",
    "options_of",
    "provider_of",
    "read_tensor",
    "refused",
    "registered",
    "run_in_child",
    "session_of",
    "session_with",
    "text",
    "write_output",
]
