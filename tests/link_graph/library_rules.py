# SPDX-License-Identifier: Apache-2.0
"""The rules for what a product's library may need, export and leave undefined. Each returns what breaks it."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

from link_graph.elf import Library, loaded_closure

SYSTEM_LIBRARY = re.compile(r"(lib(c|m|stdc\+\+|gcc_s|pthread|dl|[alt]san|ubsan|rt)|ld-linux-x86-64)\.so(\.\d+)*")
# What the compiler driver itself hands to the linker.
SYSTEM_INPUT = re.compile(
    r"crt\w+\.o|lib(c|c_nonshared|m|mvec|stdc\+\+|gcc|gcc_s|pthread|dl|[alt]san|ubsan|rt)(_preinit)?"
    r"(\.so(\.\d+)*|\.a|\.o)|ld-linux-x86-64\.so\.2|lib[alt]san_preinit\.o"
)


def foreign_dependencies(library: Library) -> list[str]:
    """Return the needed libraries, direct and indirect, that do not belong to the C and C++ run time."""
    names = {*library.needed, *loaded_closure(library.path)}
    return sorted(name for name in names if not SYSTEM_LIBRARY.fullmatch(name))


def fragile_loading(library: Library) -> list[str]:
    """Return search paths and text relocations: a wheel's library must not look elsewhere or be patched in place."""
    found = [f"search path {path}" for path in library.search_paths]
    return found + (["text relocations"] if library.text_relocations else [])


def export_difference(library: Library, expected: Set[str]) -> list[str]:
    """Return the symbols exported beyond ``expected`` with a plus sign, and those missing with a minus sign."""
    extra = [f"+{name}" for name in sorted(library.exported - expected)]
    return extra + [f"-{name}" for name in sorted(expected - library.exported)]


def undefined_matching(library: Library, pattern: str) -> list[str]:
    """Return the undefined symbols that begin with ``pattern``."""
    return sorted(name for name in library.undefined if re.match(pattern, name))


def foreign_link_inputs(link_map: Path, build: Path, rooms: Set[str]) -> list[str]:
    """Return the files that went into a link, by the linker's map, and come neither from ``rooms`` nor the system.

    Parameters
    ----------
    link_map : Path
        What ``-Wl,-Map=`` wrote.
    build : Path
        The build directory, which relative names start from.
    rooms : set of str
        Folders of the build directory.
    """
    inputs = re.findall(r"^LOAD (.+)$", link_map.read_text(), re.MULTILINE)
    if not inputs:
        return [f"{link_map}: no LOAD lines"]
    return [
        name
        for name in inputs
        if not any((build / name).resolve().is_relative_to((build / room).resolve()) for room in rooms)
        and not (Path(name).is_absolute() and SYSTEM_INPUT.fullmatch(Path(name).name))
    ]
