# SPDX-License-Identifier: Apache-2.0
"""What the commands that make a session share: their options, and the session that these describe."""

from __future__ import annotations

import argparse
import os

from .errors import InvalidArgument
from .options import SessionOptions
from .process import enable_checked_mode, get_ep_devices, register_execution_provider_library
from .session import InferenceSession

BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def positive(text: str) -> int:
    """Reads a number of an option that must be at least 1."""
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {text!r}")
    return int(text)


def thread_count(text: str) -> int:
    """Reads a number of threads; 0 is the default, as in `SessionOptions`."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected 0 or more, got {text!r}")
    return int(text)


def byte_count(text: str) -> int:
    """Reads a number of bytes, which may end in K, M, G or T."""
    number = text.rstrip("KMGTkmgt")
    unit = BYTES.get(text[len(number) :].upper())
    if unit is None or not (number.isascii() and number.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a number of bytes such as 65536, 64K or 2G, got {text!r}")
    return int(number) * unit


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that describe a session."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file")
    for option, what in (("--custom-ops", "custom operators"), ("--ep", "execution providers")):
        parser.add_argument(option, metavar="LIB", action="append", default=[], help=f"a library of {what}; repeatable")
    parser.add_argument(
        "--config",
        metavar="KEY=VALUE",
        type=entry,
        action="append",
        default=[],
        help="a session config entry; options of a provider are ep.<its name in lower case>.<option>; repeatable",
    )
    parser.add_argument(
        "--no-reference-fallback",
        action="store_true",
        help="refuse a model with a node that only onnx.reference would run",
    )
    parser.add_argument(
        "--threads", type=thread_count, metavar="N", help="threads of the session; 0 for the default number"
    )
    parser.add_argument(
        "--memory-limit",
        type=byte_count,
        metavar="BYTES",
        help="most memory that the session and its libraries may hold in a run; K, M, G and T are powers of 1024",
    )
    parser.add_argument(
        "--broken-groups",
        choices=("auto", "refuse", "split", "drop"),
        default="auto",
        help="what becomes of a provider's group that cannot run as one step; auto: as the list of tested libraries "
        "says, else refuse",
    )
    parser.add_argument(
        "--checked", action="store_true", help="check what libraries do with the objects they are given; slower"
    )


def add_providers(options: SessionOptions, library: str) -> None:
    """Registers a library and selects each of its providers with all its devices."""
    base = name = os.path.basename(library)
    taken = {device.registration_name for device in get_ep_devices()}
    count = 1
    while name in taken:  # a file of the same name in another folder
        count += 1
        name = f"{base}.{count}"
    register_execution_provider_library(name, library)
    devices = [device for device in get_ep_devices() if device.registration_name == name]
    if not devices:
        raise InvalidArgument(f"--ep {library}: its providers offer no device on this machine")
    for provider in dict.fromkeys(device.ep_name for device in devices):
        options.add_provider_for_devices([device for device in devices if device.ep_name == provider], {})


def entry(text: str) -> tuple[str, str]:
    """Reads a key and a value."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {text!r}")
    return key, value


def open_session(arguments: argparse.Namespace) -> InferenceSession:
    """Makes the session that the options describe."""
    if arguments.checked:
        enable_checked_mode()
    options = SessionOptions()
    options.reference_fallback = not arguments.no_reference_fallback
    options.broken_groups = arguments.broken_groups
    if arguments.threads is not None:
        options.intra_op_num_threads = arguments.threads
    if arguments.memory_limit is not None:
        options.memory_limit_bytes = arguments.memory_limit
    for library in arguments.ep:
        add_providers(options, library)
    for library in arguments.custom_ops:
        options.register_custom_ops_library(library)
    for key, value in arguments.config:
        options.add_session_config_entry(key, value)
    return InferenceSession(arguments.model, options)
