# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the table of the architecture, checked in what was compiled and in the sources."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ALLOWED = {
    "shared_conversions": {"shared_conversions"},
    "runtime": {"runtime", "shared_conversions"},
    "ort_headers": {"ort_headers"},
    "host": {"host", "runtime", "shared_conversions", "ort_headers", "python"},
    "ort_plugin": {"ort_plugin", "runtime", "shared_conversions", "ort_headers"},
    "fixtures": {"fixtures", "ort_headers"},
}
FOLDERS = {
    "packages/shared_conversions": "shared_conversions",
    "packages/runtime": "runtime",
    "packages/host": "host",
    "packages/ort_plugin": "ort_plugin",
    "packages/ort_headers": "ort_headers",
    "subprojects/ort_headers": "ort_headers",
    "fixtures": "fixtures",
}
INCLUDE_PREFIXES = {"conversions": "shared_conversions", "light": "runtime", "ort_abi": "ort_headers"}
C_HEADER = re.compile(
    r"(assert|ctype|errno|fenv|float|immintrin|inttypes|limits|math|stdbool|stddef|stdint|stdio|stdlib|string)\.h"
)

Edge = tuple[str, str]


def room_of(path: Path, build: Path | None = None) -> str | None:
    """Return the room that a file of the checkout or of the build directory belongs to; None for system headers."""
    if re.search(r"/python3\.\d+/|/numpy/", str(path)):
        return "python"
    if path.name.startswith("onnxruntime"):
        return "onnxruntime"
    for base in filter(None, (build, ROOT)):
        if path.is_relative_to(base):
            relative = path.relative_to(base)
            for folder, room in FOLDERS.items():
                if relative.is_relative_to(folder):
                    return room
    return None


def compiled_edges(build: Path) -> Iterator[Edge]:
    """Yield (object file, included file) of everything that ninja compiled, objects relative to the build directory."""
    listing = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True, stdout=subprocess.PIPE, text=True)
    target = ""
    for line in listing.stdout.splitlines():
        if line.startswith("    "):
            yield target, str((build / line.strip()).resolve())
        elif ": #deps" in line:
            target = line.split(": #deps")[0]


def forbidden_compiled(edges: Iterable[Edge], build: Path) -> list[Edge]:
    """Return the edges from a room's object to a file of a room that it must not know."""
    found = []
    for target, included in edges:
        room, other = room_of(build / target, build), room_of(Path(included), build)
        if room is not None and other is not None and other not in ALLOWED[room]:
            found.append((target, included))
    return found


def source_includes(source: Path) -> list[str]:
    """Return the names in the include directives of a file."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', source.read_text(), re.MULTILINE)


def forbidden_in_source(source: Path, room: str) -> list[str]:
    """Return the include directives of a file of ``room`` that name another room's header, by prefix or by path."""
    found = []
    for name in source_includes(source):
        first = name.split("/")[0]
        beside = (source.parent / name).resolve()
        if beside.is_file():
            other = room_of(beside)
        elif first == "numpy" or name == "Python.h":
            other = "python"
        elif name.split("/")[-1].startswith("onnxruntime"):
            other = "onnxruntime"
        else:
            other = INCLUDE_PREFIXES.get(first)
        if other is not None and other not in ALLOWED[room]:
            found.append(name)
    return found


def sources(folder: Path) -> list[Path]:
    """Return the C and C++ files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.suffix in {".c", ".cc", ".h", ".inc"})


def ort_words(source: Path) -> list[str]:
    """Return the words in a file that name ONNX Runtime or its interface."""
    return re.findall(r"\b(?:Ort[A-Z]\w*|ORT\w*|ort_\w+|onnxruntime\w*)", source.read_text())


def not_c_headers(source: Path, simd: Path) -> list[str]:
    """Return the includes of an instruction-set source that are neither C headers nor headers of its own folder."""
    return [
        name
        for name in source_includes(source)
        if not C_HEADER.fullmatch(name) and not ((source.parent / name).is_file() or (simd / name).is_file())
    ]


def unwanted_flags(output: str, flags: Iterable[str]) -> list[str]:
    """Return the flags that give up IEEE arithmetic, and those for newer processors outside the objects for them."""
    for_newer = re.search(r"liblight_simd_avx\w+\.a\.p/", output) is not None
    return [
        flag
        for flag in flags
        if flag in {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffinite-math-only", "-fassociative-math"}
        or (not for_newer and re.fullmatch(r"-m(?:avx|fma|f16c|sse[34]|bmi|arch=(?!x86-64$))\S*", flag))
    ]
