# SPDX-License-Identifier: Apache-2.0
"""The command ``run``."""

from __future__ import annotations

import argparse
import sys
import time

from .cli_progress import telling, time_runs, timing
from .cli_session import open_session, positive
from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .records import NodeArg


def assignment(text: str) -> tuple[str, str]:
    """Splits ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def input_assignment(text: str) -> tuple[str, str]:
    """Splits ``NAME=WHAT`` of an input."""
    name, what = assignment(text)
    kind, colon, seed = what.partition(":")
    if kind == "random" and colon and not (seed.isascii() and seed.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a number as seed, got {seed!r}")
    return name, what


def extents_assignment(text: str) -> tuple[str, list[int]]:
    """Splits ``NAME=N,N,...``; ``NAME=scalar`` has no extents."""
    name, value = assignment(text)
    if value == "scalar":
        return name, []
    parts = value.split(",")
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"expected extents for {name!r}, got {value!r}")
    return name, [int(part) for part in parts]


def dim_assignment(text: str) -> tuple[str, int]:
    """Splits ``NAME=N``."""
    name, extents = extents_assignment(text)
    if len(extents) != 1:
        raise argparse.ArgumentTypeError(f"expected one extent for {name!r}, got {text!r}")
    return name, extents[0]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command that do not describe the session."""

    def repeatable(option: str, kind: object, metavar: str, what: str) -> None:
        parser.add_argument(
            option,
            type=kind,  # type: ignore[arg-type]
            metavar=metavar,
            action="append",
            default=[],
            help=f"{what}; repeatable",
        )

    repeatable("--input", input_assignment, "NAME=WHAT", "one input")
    parser.add_argument("--inputs", metavar="FILE.npz", help="a file with one array for each input, by name")
    repeatable("--dim", dim_assignment, "NAME=N", "extent of a symbolic dimension")
    repeatable("--shape", extents_assignment, "NAME=N,N", "whole shape of a made-up input, or 'scalar'")
    parser.add_argument("--output", metavar="DIR", help="write each output to DIR/NAME.npy, a sequence to DIR/NAME.npz")
    parser.add_argument("--repeat", type=positive, metavar="N", help="run N more times and tell how long it takes")


def make_feeds(arguments: argparse.Namespace, args: dict[str, NodeArg]) -> dict[str, Any]:
    """Returns the inputs that the options describe."""
    from .feeds import load_feeds, make_feed

    def known(name: str, option: str) -> NodeArg:
        if name not in args:
            raise InvalidArgument(f"{option}: expected names of {list(args)}, got {name!r}")
        return args[name]

    dims = dict(arguments.dim)
    symbols = {dim for arg in args.values() for dim in arg.shape or () if isinstance(dim, str)}
    if unknown := dims.keys() - symbols:
        raise InvalidArgument(
            f"--dim: expected names of {sorted(symbols)}, got {', '.join(map(repr, sorted(unknown)))}"
        )
    shapes = dict(arguments.shape)
    for name in shapes:
        known(name, "--shape")
    feeds = load_feeds(arguments.inputs, args) if arguments.inputs else {}
    given = set()
    for name, what in arguments.input:
        if name in given:
            raise InvalidArgument(f"--input: {name!r} is given twice")
        given.add(name)
        feeds[name] = make_feed(known(name, "--input"), what, dims, shapes.get(name))
    return feeds


def run(arguments: argparse.Namespace) -> int:
    """Runs a model and prints its outputs."""
    with telling("making the session", sys.stderr):
        session = open_session(arguments)
    from .cli_outputs import print_outputs, save_outputs

    args = {arg.name: arg for arg in (*session.get_inputs(), *session.get_overridable_initializers())}
    feeds = make_feeds(arguments, args)
    names = [arg.name for arg in session.get_outputs()]
    start = time.perf_counter()
    with telling("running", sys.stderr):
        values = session.run(None, feeds)
    first = time.perf_counter() - start
    print_outputs(names, values)
    if arguments.output is not None:
        for path in save_outputs(arguments.output, names, values):
            print(f"written: {path}")
    if arguments.repeat is not None:
        print(timing(first, time_runs(lambda: session.run(None, feeds), arguments.repeat, sys.stderr)))
    return 0
