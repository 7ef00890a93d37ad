# SPDX-License-Identifier: Apache-2.0
"""The command ``onnx-light-ort-host``."""

from __future__ import annotations

import argparse
import json
import os
import sys

from . import (
    __version__,
    get_build_info,
    inspect_library,
    register_execution_provider_library,
    support_matrix,
)
from .errors import InvalidArgument, OrtHostError
from .options import SessionOptions
from .records import NodeAssignment, SupportRow
from .session import InferenceSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Formats rows as a table of aligned columns."""
    cells = [list(header), *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def assignment_table(rows: Sequence[NodeAssignment]) -> str:
    """Formats who runs which node."""
    header = ("node", "name", "operator", "provider", "kernel", "library", "reason")
    return table(
        header,
        [
            (
                f"{row.graph}/#{row.index}" if row.graph else f"#{row.index}",
                row.name,
                f"{row.domain}.{row.op_type}" if row.domain else row.op_type,
                row.provider if row.partition < 0 else f"{row.provider} (group {row.partition})",
                row.kernel,
                row.library,
                row.reason,
            )
            for row in rows
        ],
    )


def split_assignment(text: str, option: str) -> tuple[str, str]:
    """Splits ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise InvalidArgument(f"{option}: expected NAME=VALUE, got {text!r}")
    return name, value


def open_session(arguments: argparse.Namespace) -> InferenceSession:
    """Makes the session that ``run`` and ``explain`` work on."""
    options = SessionOptions()
    if arguments.threads is not None:
        options.intra_op_num_threads = arguments.threads
    for library in arguments.ep:
        register_execution_provider_library(library, library)
    for library in arguments.custom_ops:
        options.register_custom_ops_library(library)
    return InferenceSession(arguments.model, options)


def run(arguments: argparse.Namespace) -> int:
    """Runs a model once and prints its outputs."""
    session = open_session(arguments)
    from .feeds import make_feed, save_outputs

    extents = {}
    for text in arguments.dim:
        name, value = split_assignment(text, "--dim")
        if not value.isdecimal():
            raise InvalidArgument(f"--dim: expected an extent for {name!r}, got {value!r}")
        extents[name] = int(value)
    args = {arg.name: arg for arg in (*session.get_inputs(), *session.get_overridable_initializers())}
    feed = {}
    for text in arguments.input:
        name, what = split_assignment(text, "--input")
        if name not in args:
            raise InvalidArgument(f"--input: expected names of {list(args)}, got {name!r}")
        feed[name] = make_feed(args[name], what, extents)
    names = [arg.name for arg in session.get_outputs()]
    values = session.run(None, feed)
    print_outputs(names, values)
    if arguments.output is not None:
        for path in save_outputs(arguments.output, names, values):
            print(f"written: {path}")
    return 0


def print_outputs(names: Sequence[str], values: Sequence[object]) -> None:
    """Prints each output with its type and shape."""
    for name, value in zip(names, values, strict=True):
        kind = "" if value is None else f" {value.dtype} {list(value.shape)}"  # type: ignore[attr-defined]
        print(f"{name}:{kind}\n{value}")


def explain(arguments: argparse.Namespace) -> int:
    """Shows who runs which node of a model."""
    print(assignment_table(open_session(arguments).node_assignments()))
    return 0


def inspect(arguments: argparse.Namespace) -> int:
    """Looks at a library without running anything of it."""
    report = inspect_library(arguments.library)
    print(f"{report.path}: {report.verdict}")
    for title, entries in (("exports", report.exports), ("needs", report.needed), ("loads", report.closure)):
        print(f"{title}: {', '.join(entries) or 'nothing'}")
    return 1 if report.refused_because else 0


def markdown(rows: Sequence[SupportRow]) -> str:
    """Formats the support matrix as a table in Markdown."""
    lines = ["| table | slot | since | profile | status | limit |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = (row.table, f"`{row.name}`", row.since, row.profile, row.status, row.limit)
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def matrix(arguments: argparse.Namespace) -> int:
    """Lists what of the ABI is supported."""
    rows = support_matrix()
    if arguments.json:
        print(json.dumps([row.asdict() for row in rows], indent=1))
    elif arguments.markdown:
        print(markdown(rows))
    else:
        header = ("table", "slot", "since", "profile", "status", "limit")
        print(table(header, [(row.table, row.name, row.since, row.profile, row.status, row.limit) for row in rows]))
    return 0


def demo(_: argparse.Namespace) -> int:
    """Runs the bundled model with the bundled library, and checks that no ONNX Runtime is in the process."""
    from .demo_run import main as demo_main

    return demo_main()


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    result = argparse.ArgumentParser(prog="onnx-light-ort-host", description=__import__(__package__).__doc__)
    result.add_argument("--version", action="version", version=f"{__version__} ({get_build_info()})")
    commands = result.add_subparsers(dest="command", required=True)

    model = argparse.ArgumentParser(add_help=False)
    model.add_argument("model", metavar="MODEL", help="an ONNX file")
    model.add_argument("--custom-ops", metavar="LIB", action="append", default=[], help="a library of custom operators")
    model.add_argument("--ep", metavar="LIB", action="append", default=[], help="a library of execution providers")
    model.add_argument("--threads", type=int, metavar="N", help="threads of the session")

    command = commands.add_parser("run", parents=[model], help=run.__doc__)
    command.add_argument(
        "--input", metavar="NAME=WHAT", action="append", default=[], help="WHAT is an .npy file, zeros or random"
    )
    command.add_argument(
        "--dim",
        metavar="NAME=N",
        action="append",
        default=[],
        help="extent of a symbolic dimension, for zeros and random",
    )
    command.add_argument("--output", metavar="DIR", help="write each output to DIR/NAME.npy")
    command.set_defaults(function=run)

    commands.add_parser("explain", parents=[model], help=explain.__doc__).set_defaults(function=explain)

    command = commands.add_parser("inspect", help=inspect.__doc__)
    command.add_argument("library", metavar="LIB")
    command.set_defaults(function=inspect)

    command = commands.add_parser("support-matrix", help=matrix.__doc__)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    command.set_defaults(function=matrix)

    commands.add_parser("demo", help=demo.__doc__).set_defaults(function=demo)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process without it.

    Returns
    -------
    int
        The exit status: 0, or 1 after an error, which is printed.
    """
    options = parser().parse_args(arguments)
    try:
        return int(options.function(options))
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing more can be told, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OrtHostError, ImportError, OSError) as error:
        print(f"onnx-light-ort-host: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
