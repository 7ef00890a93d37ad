# SPDX-License-Identifier: Apache-2.0
"""How long work takes: told to a terminal meanwhile, and summed up afterwards."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

PROGRESS_SECONDS = 0.5


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
