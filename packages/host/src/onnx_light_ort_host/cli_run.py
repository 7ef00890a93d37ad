# SPDX-License-Identifier: Apache-2.0
"""The command ``run``."""

from __future__ import annotations

import argparse
import os
import sys
import time

from .cli_progress import telling, time_runs, timing
from .cli_session import open_session, positive
from .errors import InvalidArgument
from .terminal import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .records import NodeArg


def assignment(text: str) -> tuple[str, str]:
    """Splits ``NAME=VALUE`` at the last ``=``, as a name may hold some and numbers do not."""
    name, equals, value = text.rpartition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def input_assignment(text: str) -> str:
    """Checks ``NAME=WHAT`` of an input as far as possible without the model: both may hold ``=``."""
    name, equals, what = text.partition("=")
    if not (name and equals and what):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    kind, colon, seed = what.partition(":")
    if kind == "random" and colon and not (seed.isascii() and seed.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected a number as seed, got {seed!r}")
    return text


def split_input(text: str, args: Mapping[str, NodeArg]) -> tuple[str, str]:
    """Splits ``NAME=WHAT`` where the longest name of an input ends."""
    name = max((name for name in args if text.startswith(f"{name}=")), key=len, default=text.partition("=")[0])
    return name, text[len(name) + 1 :]


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
    from .feeds import is_made_up, load_feeds, make_feed

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
    used_shapes: set[str] = set()
    used_dims: set[str] = set()
    for text in arguments.input:
        name, what = split_input(text, args)
        arg = known(name, "--input")
        if name in given:
            raise InvalidArgument(f"--input: {name!r} is given twice")
        given.add(name)
        feeds[name] = make_feed(arg, what, dims, shapes.get(name))
        if is_made_up(what):
            used_shapes.add(name)
            used_dims.update(dim for dim in arg.shape or () if isinstance(dim, str) and name not in shapes)
    if unused := shapes.keys() - used_shapes:
        raise InvalidArgument(
            f"--shape: expected inputs that are made up by --input, got {', '.join(map(repr, sorted(unused)))}"
        )
    if unused := dims.keys() - used_dims:
        raise InvalidArgument(
            "--dim: expected dimensions of inputs that --input makes up and --shape does not describe, got "
            + ", ".join(map(repr, sorted(unused)))
        )
    return feeds


def check_folder(path: str) -> None:
    """Refuses a folder for outputs that cannot be made, before the run that makes them."""
    nearest = os.path.abspath(path)
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if not os.path.isdir(nearest):
        raise InvalidArgument(f"--output: expected a folder, got {path!r}: {nearest!r} is no folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InvalidArgument(
            f"--output: expected a folder to write to, got {path!r}: no right to write to {nearest!r}"
        )


def run(arguments: argparse.Namespace) -> int:
    """Runs a model and prints its outputs."""
    if arguments.output is not None:
        check_folder(arguments.output)
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
    # Files first: whoever reads what is printed may have seen enough, or the terminal's disk may be full.
    paths = save_outputs(arguments.output, names, values) if arguments.output is not None else []
    print_outputs(names, values)
    for path in paths:
        print(f"written: {shown(path)}")
    if arguments.repeat is not None:
        print(timing(first, time_runs(lambda: session.run(None, feeds), arguments.repeat, sys.stderr)))
    return 0
