# SPDX-License-Identifier: Apache-2.0
"""The command ``onnx-light-ort-host``: its options."""

from __future__ import annotations

import argparse
import os
import sys

from . import __version__, cli_reports, cli_run, get_build_info
from .errors import OrtHostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "onnx-light-ort-host"
EXIT_CODES = """\
exit status:
  0  done
  1  an error, told in one line (--traceback says where it was raised); of inspect: the library is
     refused, or with --load what it registers is at fault
  2  wrong usage
  130  interrupted
"""
RUN_EXAMPLES = f"""\
examples:
  {PROGRAM} run model.onnx --input x=x.npy --output results
  {PROGRAM} run model.onnx --custom-ops ./libmy_ops.so --inputs feeds.npz
  {PROGRAM} run model.onnx --input x=random:7 --dim batch=8 --repeat 100

what an input may be:
  FILE.npy        the array of a file
  FILE.npz:NAME   one array of a file with several (NAME may be left out if it is the input's)
  zeros, ones     as many as the input's shape says
  random[:SEED]   the same values for the same seed (0 without one)
Dimensions that the model leaves open are 1 unless --dim or --shape says otherwise.
"""
EXPLAIN_EXAMPLES = f"""\
examples:
  {PROGRAM} explain model.onnx --custom-ops ./libmy_ops.so
  {PROGRAM} explain model.onnx --json
  {PROGRAM} explain model.onnx --svg model.svg
"""
INSPECT_EXAMPLES = f"""\
examples:
  {PROGRAM} inspect ./libmy_ops.so
  {PROGRAM} inspect ./libmy_ops.so --load    what it registers; runs its code
  {PROGRAM} inspect --json ./my_ops.dll     a library of another system: needs the extra 'inspect'

The answer is one of "refused because ...", "loadable, slots unknown until run" and "audited as ...": what a file says
does not tell whether a library works.
"""
MATRIX_EXAMPLES = f"""\
examples:
  {PROGRAM} support-matrix
  {PROGRAM} support-matrix --markdown > support.md
"""


def demo(_: argparse.Namespace) -> int:
    """Runs the bundled model with the bundled library, and checks that no ONNX Runtime is in the process."""
    from .demo_run import main as demo_main

    return demo_main()


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--traceback", action="store_true", help="show where an error was raised")

    model = argparse.ArgumentParser(add_help=False)
    model.add_argument("model", metavar="MODEL", help="an ONNX file")
    for option, what in (("--custom-ops", "custom operators"), ("--ep", "execution providers")):
        model.add_argument(option, metavar="LIB", action="append", default=[], help=f"a library of {what}; repeatable")
    model.add_argument("--threads", type=cli_run.positive, metavar="N", help="threads of the session")

    result = argparse.ArgumentParser(
        prog=PROGRAM,
        description=__import__(__package__).__doc__,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--version", action="version", version=f"{__version__} ({get_build_info()})")
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(
        name: str, function: object, examples: str = "", *parents: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            parents=[*parents, common],
            help=function.__doc__,
            description=function.__doc__,
            epilog=f"{examples}\n{EXIT_CODES}".lstrip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(function=function)
        return command

    command = add("run", cli_run.run, RUN_EXAMPLES, model)
    command.add_argument(
        "--input",
        type=cli_run.input_assignment,
        metavar="NAME=WHAT",
        action="append",
        default=[],
        help="one input; repeatable",
    )
    command.add_argument("--inputs", metavar="FILE.npz", help="a file with one array for each input, by name")
    command.add_argument(
        "--dim",
        type=cli_run.dim_assignment,
        metavar="NAME=N",
        action="append",
        default=[],
        help="extent of a symbolic dimension; repeatable",
    )
    command.add_argument(
        "--shape",
        type=cli_run.extents_assignment,
        metavar="NAME=N,N",
        action="append",
        default=[],
        help="whole shape of a made-up input; repeatable",
    )
    command.add_argument("--output", metavar="DIR", help="write each output to DIR/NAME.npy")
    command.add_argument(
        "--repeat", type=cli_run.positive, metavar="N", help="run N more times and tell how long it takes"
    )

    command = add("explain", cli_reports.explain, EXPLAIN_EXAMPLES, model)
    command.add_argument("--json", action="store_true", help="as JSON instead of a table")
    command.add_argument("--svg", metavar="FILE", help="also write a picture of the graph")

    command = add("inspect", cli_reports.inspect, INSPECT_EXAMPLES)
    command.add_argument("library", metavar="LIB", help="the file of a library")
    command.add_argument("--load", action="store_true", help="load it and list its operators: runs its code")
    command.add_argument("--json", action="store_true", help="as JSON")

    form = add("support-matrix", cli_reports.matrix, MATRIX_EXAMPLES).add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--markdown", action="store_true", help="as a table in Markdown")

    add("demo", demo)
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
        The exit status: 0, 1 after an error, which is printed, or 130 when interrupted. Wrong usage exits with 2.
    """
    options = parser().parse_args(arguments)
    try:
        return int(options.function(options))
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing more can be told, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if options.traceback:
            raise
        # What is none of these is a mistake of ours.
        is_expected = isinstance(error, (OrtHostError, ImportError, OSError, MemoryError))
        kind = (
            type(error).__name__ if is_expected else f"internal error (--traceback says more): {type(error).__name__}"
        )
        print(f"{PROGRAM}: {kind}: {error}", file=sys.stderr)
        return 1
