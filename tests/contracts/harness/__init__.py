# SPDX-License-Identifier: Apache-2.0
"""Drives the C interface of the module under test from Python, through the table a plugin receives."""

from .abi import E, PluginStruct, SlotError, Table, dims, text
from .child import run_in_child
from .custom_op import Arg, CustomOp, Pairs, copy_first_input, read_tensor, write_output
from .ep import EpFactory, entry_points, registered
from .native import options_of, session_of
from .plugin_allocator import PluginAllocator
from .probe import Probe, fixture_path

__all__ = [
    "Arg",
    "CustomOp",
    "E",
    "EpFactory",
    "Pairs",
    "PluginAllocator",
    "PluginStruct",
    "Probe",
    "SlotError",
    "Table",
    "copy_first_input",
    "dims",
    "entry_points",
    "fixture_path",
    "options_of",
    "read_tensor",
    "registered",
    "run_in_child",
    "session_of",
    "text",
    "write_output",
]
