# SPDX-License-Identifier: Apache-2.0
"""The page with the results of one run."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from quantities import Quantity

PACKAGES = ("onnx-light-ort-host", "onnx-light-ort-plugin", "onnxruntime", "onnx", "tract", "numpy")
INTRODUCTION = """\
# Benchmarks

Written by `./dev bench all`, which measures everything anew. Each ratio is ours divided by theirs: below 1 ours is
faster or smaller. Both sides run in turn, each measurement in a process of its own; a time is the lower quartile of its
repetitions. Given are the median of the ratios of {rounds} rounds with the least and the greatest, then the medians of
ours and theirs. "Wanted" is the aim that the project has set itself.

{machine}
"""


@dataclass(frozen=True)
class Result:
    """What came out for one quantity."""

    quantity: Quantity
    ratios: list[float] = field(default_factory=list)
    values: tuple[float, ...] = ()
    why_not: str = ""
    """Why there is no result: the other side does not run the model."""

    @property
    def median(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)


def magnitude(value: float, unit: str) -> str:
    """Return a value with three digits and a unit of its size; `unit`: what it is in, us, MiB or MB."""
    if unit == "us":
        scale, unit = next(
            ((scale, name) for scale, name in ((1e6, "s"), (1e3, "ms"), (1, "us")) if value >= scale), (1e-3, "ns")
        )
        value /= scale
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}"


def ratio(value: float) -> str:
    """Return a ratio with two digits, or more if it is small."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}" if value >= 0.01 else f"{value:.4f}"


def cells(result: Result | None) -> list[str]:
    """Return two cells: ratios, and values."""
    if result is None:
        return ["", ""]
    if result.why_not:
        return [f"not run by {result.quantity.sides[1].title}", result.why_not.replace("|", "\\|")[:200]]
    ours, theirs = (magnitude(value, result.quantity.unit) for value in result.values)
    spread = f" ({ratio(min(result.ratios))} to {ratio(max(result.ratios))})" if len(result.ratios) > 1 else ""
    return [ratio(result.median) + spread, f"{ours}, {theirs}"]


def table(results: Iterable[Result]) -> list[str]:
    """Return the table of one section: a row for each label, its numbers of threads side by side."""
    rows: dict[str, dict[int, Result]] = {}
    for result in results:
        rows.setdefault(result.quantity.label, {})[result.quantity.threads] = result
    threads = sorted({number for row in rows.values() for number in row})
    head = ["quantity", "wanted"]
    for number in threads:
        suffix = f", {number} thread{'s' * (number > 1)}" if len(threads) > 1 else ""
        head += [f"ratio{suffix}", "ours, theirs"]
    lines = [head, ["---"] * len(head)]
    for label, row in rows.items():
        wanted = next(iter(row.values())).quantity.wanted
        lines.append([label, "" if wanted is None else f"{wanted:g}"])
        for number in threads:
            lines[-1] += cells(row.get(number))
    return ["| " + " | ".join(line) + " |" for line in lines]


def machine() -> str:
    """Describe the machine and what was compared."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    model = names[0].split(":", 1)[1].strip() if names else platform.machine()
    compared = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    cores = len(os.sched_getaffinity(0))
    system = f"{platform.system()}, CPython {platform.python_version()}"
    return f"Machine: {model}, {cores} cores, {system}. Compared: {compared}."


def write_page(path: Path, results: list[Result], rounds: int) -> None:
    """Write the page as a whole: whoever interrupts this keeps the old one."""
    sections: dict[str, list[Result]] = {}
    for result in results:
        sections.setdefault(result.quantity.section, []).append(result)
    lines = [INTRODUCTION.format(rounds=rounds, machine=machine())]
    for section, of_section in sections.items():
        lines += [f"## {section}", "", *table(of_section), ""]
    new = path.with_suffix(".new")
    new.write_text("\n".join(lines), encoding="utf-8")
    new.replace(path)
