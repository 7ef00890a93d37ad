# SPDX-License-Identifier: Apache-2.0
"""The command ``onnx-light-ort-host``: its options."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from importlib import import_module

from . import __version__, cli_reports, cli_run, cli_session, get_build_info
from .errors import OrtHostError
from .terminal import INTERRUPTED, PROGRAM, READER_LEFT, drop_output, raise_when_interrupted, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import SupportsWrite

EXIT_CODES = """\
exit status:
  0  done
  1  an error, told in one line (--traceback says where it was raised); of inspect: the library is
     refused, or with --load what it registers is at fault; of explain: a required node is not taken
  2  wrong usage
  130  interrupted
  141  whoever read the output left before its end; files are written before anything is printed
"""
RUN_EXAMPLES = f"""\
examples:
  {PROGRAM} run model.onnx --input x=x.npy --output results
  {PROGRAM} run model.onnx --custom-ops ./libmy_ops.so --inputs feeds.npz
  {PROGRAM} run model.onnx --input x=random:7 --dim batch=8 --repeat 100
  {PROGRAM} run model.onnx --input images=frames.npz --input mask=none

what a tensor may be:
  FILE.npy        the array of a file
  FILE.npz:NAME   one array of a file with several (NAME may be left out if it is the input's)
  zeros, ones     as many as the input's shape says
  random[:SEED]   the same values for the same seed (0 without one) and name of the input:
                  those of numpy.random.default_rng([SEED, zlib.crc32(NAME)])
what a sequence may be:
  FILE.npz        its elements are the arrays of the file, in their order
  empty           one without elements
what an optional may be:
  none            nothing; or what is said of a tensor or a sequence, which it then holds
A file called like one of these words is written ./none. Dimensions that the model leaves open are 1 unless --dim or
--shape says otherwise. Files hold bfloat16 and smaller types as float32, and text with a fixed width.
A name may hold "=".
"""
EXPLAIN_EXAMPLES = f"""\
examples:
  {PROGRAM} explain model.onnx --custom-ops ./libmy_ops.so
  {PROGRAM} explain model.onnx --json
  {PROGRAM} explain model.onnx --svg model.svg
  {PROGRAM} explain model.onnx --ep ./libmy_ep.so --config ep.myexecutionprovider.level=2
  {PROGRAM} explain model.onnx --ep ./libmy_ep.so --require-all      status 1 if a node is left to our kernels
  {PROGRAM} explain model.onnx --ep ./libmy_ep.so --require conv1 --require '#3'
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


class Parser(argparse.ArgumentParser):
    """Fails when its help cannot be written, which the one of the standard library does not tell."""

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Writes the help."""
        print(self.format_help(), end="", file=file or sys.stdout)


class Version(argparse.Action):
    """Writes the version, likewise."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Ends the process with status 0."""
        print(f"{__version__} ({get_build_info()})")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    common = Parser(add_help=False)
    common.add_argument("--traceback", action="store_true", help="show where an error was raised")

    model = Parser(add_help=False)
    cli_session.add_options(model)

    result = Parser(
        prog=PROGRAM,
        description=__import__(__package__).__doc__,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, function: object, examples: str = "", *parents: Parser) -> argparse.ArgumentParser:
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

    cli_run.add_options(add("run", cli_run.run, RUN_EXAMPLES, model))

    command = add("explain", cli_reports.explain, EXPLAIN_EXAMPLES, model)
    command.add_argument("--json", action="store_true", help="as JSON instead of a table")
    command.add_argument("--svg", metavar="FILE", help="also write a picture of the graph; - writes it instead")
    command.add_argument(
        "--groups", action="store_true", help="list the groups of nodes that providers compiled, instead of the nodes"
    )
    command.add_argument(
        "--require",
        metavar="NODE",
        action="append",
        default=[],
        help="fail unless an execution provider of a library runs the node, named as in the first or second column; "
        "repeatable",
    )
    command.add_argument("--require-all", action="store_true", help="likewise for every node")

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
        The exit status: 0, 1 after an error, which is printed, 130 when interrupted or 141 when the reader of the
        output left. Wrong usage exits with 2.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name has letters that the terminal may lack
    try:
        status = perform(arguments)
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:  # of the last output, as on a full disk
            drop_output()
            if status == 0:
                tell(f"{PROGRAM}: {type(error).__name__}: {error}")
                return 1
    except BrokenPipeError:
        drop_output()
        return READER_LEFT
    except KeyboardInterrupt:
        tell(f"{PROGRAM}: interrupted")
        return INTERRUPTED
    return status


def perform(arguments: Sequence[str] | None) -> int:
    """Runs one command and tells its error; an interruption and a reader that left are raised."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:  # after its own message
        return int(end.code or 0)
    except BrokenPipeError:
        raise
    except OSError as error:  # of the help or the version
        tell(f"{PROGRAM}: {type(error).__name__}: {error}")
        return 1
    try:
        if options.command in ("run", "demo"):
            import_module("numpy")  # takes an interruption for a bad installation, so while it ends the process
        raise_when_interrupted()
        return int(options.function(options))
    except BrokenPipeError:
        raise
    except Exception as error:
        if options.traceback:
            for line in traceback.format_exc().rstrip("\n").split("\n"):
                tell(line)
            return 1
        # What is none of these is a mistake of ours.
        is_expected = isinstance(error, (OrtHostError, ImportError, OSError, MemoryError))
        kind = (
            type(error).__name__ if is_expected else f"internal error (--traceback says more): {type(error).__name__}"
        )
        tell(f"{PROGRAM}: {kind}: {error}")
        return 1
