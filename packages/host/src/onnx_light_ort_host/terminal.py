# SPDX-License-Identifier: Apache-2.0
"""What the command line writes to a terminal: text of models and libraries, and the end of a command."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

PROGRAM = "onnx-light-ort-host"
INTERRUPTED = 130  # of shells: 128 and the number of the signal
READER_LEFT = 141


def shown(text: object) -> str:
    r"""Returns text on one line that does nothing to a terminal: what cannot be printed is escaped, as ``\x1b``.

    Names, reasons and messages come from a model or a library, which may put colours, new titles or whole false lines
    into them.
    """
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(text))


def tell(line: str) -> None:
    """Writes a line to stderr, if that can be written to."""
    with suppress(OSError, ValueError):
        print(shown(line), file=sys.stderr, flush=True)


def drop_output() -> None:
    """Gives up what stdout still holds, so that the interpreter does not try again at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_command() -> bool:
    """Whether this process is the command, as a script or as ``python -m``, and not a program that imports us."""
    name = sys.argv[0] if sys.argv else ""
    if name == "-m":  # so it is while Python looks for the module and imports its package
        return sys.orig_argv[-len(sys.argv)].removeprefix("-m") == __package__
    return os.path.basename(name) == PROGRAM


def leave(_signal: int, _frame: FrameType | None) -> None:
    """Ends the process, which has done nothing yet."""
    with suppress(OSError):
        os.write(2, f"{PROGRAM}: interrupted\n".encode())
    os._exit(INTERRUPTED)


def leave_when_interrupted() -> None:
    """Lets Ctrl-C end the process at once while it imports; a traceback of imports tells nobody anything.

    Where Ctrl-C is ignored, or something else already follows it, it stays so.
    """
    if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def raise_when_interrupted() -> None:
    """Lets Ctrl-C raise `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
