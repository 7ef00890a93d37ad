# SPDX-License-Identifier: Apache-2.0
"""Checks that the comparison against an external header accepts an equal one and refuses altered ones."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Return an alteration that replaces the first occurrence, which must exist."""

    def alter(text: str) -> str:
        if old not in text:
            raise SystemExit(f"altered_header: the header lacks the text to alter, got {old!r}")
        return text.replace(old, new, 1)

    return alter


def without_slot(name: str) -> Callable[[str], str]:
    """Return an alteration that removes the line of one slot."""

    def alter(text: str) -> str:
        kept = [line for line in text.splitlines() if f" {name})(" not in line]
        return "\n".join(kept) + "\n"

    return alter


def swapped(first: str, second: str) -> Callable[[str], str]:
    """Return an alteration that exchanges two slots' names, as if they had traded places."""

    def alter(text: str) -> str:
        text = text.replace(f" {first})(", " @)(").replace(f" {second})(", f" {first})(")
        return text.replace(" @)(", f" {second})(")

    return alter


ACCEPTED = {
    "equal": lambda text: text,
    "plugin callbacks noexcept": replaced("#define ORT_PLUGIN_NOEXCEPT\n", "#define ORT_PLUGIN_NOEXCEPT noexcept\n"),
}
REFUSED = {
    "has another value": replaced("ORT_EP_FAIL = 11", "ORT_EP_FAIL = 12"),
    "ReleaseEnv has moved": swapped("ReleaseEnv", "ReleaseSession"),
    "has another function type": replaced("OrtLoggingLevel log_severity_level", "int log_severity_level"),
    "has another type": replaced("  size_t gpu_mem_limit;", "  int64_t gpu_mem_limit;"),
    "KernelContext_GetPreallocatedOutput": without_slot("KernelContext_GetPreallocatedOutput"),
    "has another API version": replaced("#define ORT_API_VERSION 30", "#define ORT_API_VERSION 31"),
}


def main() -> None:
    """Compiles the freeze test against each variant."""
    freeze, header, *compiler = sys.argv[1:]
    original = Path(header).read_text(encoding="utf-8")
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checked.h"
        command = [*compiler, "-std=c++20", "-fsyntax-only", f'-DORT_ABI_CHECKED_HEADER="{path}"', freeze]

        def compile_variant(text: str) -> subprocess.CompletedProcess[str]:
            path.write_text(text, encoding="utf-8")
            return subprocess.run(command, capture_output=True, text=True, check=False)

        for name, alter in ACCEPTED.items():
            result = compile_variant(alter(original))
            if result.returncode != 0:
                failures.append(f"{name}: refused\n{result.stderr[:2000]}")
        for message, alter in REFUSED.items():
            result = compile_variant(alter(original))
            if result.returncode == 0 or message not in result.stderr:
                head = f"{message}: expected in the errors, got exit {result.returncode}"
                failures.append(f"{head}\n{result.stderr[:2000]}")
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
