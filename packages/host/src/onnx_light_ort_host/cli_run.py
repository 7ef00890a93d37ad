# SPDX-License-Identifier: Apache-2.0
"""The command ``run``."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from contextlib import contextmanager

from .errors import InvalidArgument
from .options import SessionOptions
from .process import register_execution_provider_library
from .session import InferenceSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TextIO

    from .records import NodeArg

PROGRESS_SECONDS = 0.5


def open_session(arguments: argparse.Namespace) -> InferenceSession:
    """Makes the session that the options describe."""
    options = SessionOptions()
    if arguments.threads is not None:
        options.intra_op_num_threads = arguments.threads
    for library in arguments.ep:
        register_execution_provider_library(library, library)
    for library in arguments.custom_ops:
        options.register_custom_ops_library(library)
    return InferenceSession(arguments.model, options)


def positive(text: str) -> int:
    """Reads a number of an option that must be at least 1."""
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {text!r}")
    return int(text)


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
    """Splits ``NAME=N,N,...``."""
    name, value = assignment(text)
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


@contextmanager
def telling(what: str, progress: TextIO) -> Iterator[None]:
    """Tells a terminal every half second how long ``what`` has taken so far."""
    if not progress.isatty():
        yield
        return
    done = threading.Event()
    start = time.monotonic()

    def tell() -> None:
        while not done.wait(PROGRESS_SECONDS):
            progress.write(f"\r\x1b[K{what}: {time.monotonic() - start:.1f} s")
            progress.flush()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        progress.write("\r\x1b[K")
        progress.flush()


def run(arguments: argparse.Namespace) -> int:
    """Runs a model and prints its outputs."""
    with telling("making the session", sys.stderr):
        session = open_session(arguments)
    from .feeds import save_outputs

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


def time_runs(call: Callable[[], object], count: int, progress: TextIO) -> list[float]:
    """Returns the seconds of each of ``count`` calls; a terminal is told how far it is."""
    seconds = []
    told = time.perf_counter()
    shown = False
    for i in range(count):
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        seconds.append(end - start)
        if end - told > PROGRESS_SECONDS and progress.isatty():
            progress.write(f"\rrun {i + 1} of {count}")
            progress.flush()
            told, shown = end, True
    if shown:
        progress.write("\r\x1b[K")
    return seconds


def timing(first: float, seconds: Sequence[float]) -> str:
    """Says how long runs took: the median, and how far they are apart."""
    from statistics import median, quantiles

    def ms(value: float) -> str:
        return f"{1000 * value:.3f} ms"

    low, _, high = quantiles(seconds, n=4, method="inclusive") if len(seconds) > 1 else [seconds[0]] * 3
    return (
        f"first run {ms(first)}; then {len(seconds)} run{'s' if len(seconds) != 1 else ''}: "
        f"median {ms(median(seconds))}, middle half {ms(low)} to {ms(high)}, "
        f"all {ms(min(seconds))} to {ms(max(seconds))}"
    )


def print_outputs(names: Sequence[str], values: Sequence[object]) -> None:
    """Prints each output with its type and shape, a sequence element by element."""
    for name, value in zip(names, values, strict=True):
        if isinstance(value, list):
            print(f"{name}: sequence of {len(value)}")
            print_outputs([f"{name}.{i}" for i in range(len(value))], value)
            continue
        shape = getattr(value, "shape", None)
        kind = "" if shape is None else f" {value.dtype} {list(shape)}"  # type: ignore[attr-defined]
        print(f"{name}:{kind}\n{value}")
