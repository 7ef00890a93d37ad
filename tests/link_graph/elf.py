# SPDX-License-Identifier: Apache-2.0
"""What the link-graph rules need to know of an ELF file."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

DF_TEXTREL = 0x4


@dataclass(frozen=True)
class Library:
    """The dynamic part of a shared library."""

    path: Path
    needed: frozenset[str]
    search_paths: tuple[str, ...]
    text_relocations: bool
    exported: frozenset[str]
    unique: frozenset[str]
    undefined: frozenset[str]


def read_library(path: Path) -> Library:
    """Read the dynamic section and the dynamic symbols of a shared library."""
    needed: set[str] = set()
    search_paths: list[str] = []
    text_relocations = False
    exported: set[str] = set()
    unique: set[str] = set()
    undefined: set[str] = set()
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        dynamic = elf.get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection), f"{path}: no dynamic section"
        for tag in dynamic.iter_tags():
            match tag.entry.d_tag:
                case "DT_NEEDED":
                    needed.add(tag.needed)
                case "DT_RPATH":
                    search_paths.append(tag.rpath)
                case "DT_RUNPATH":
                    search_paths.append(tag.runpath)
                case "DT_TEXTREL":
                    text_relocations = True
                case "DT_FLAGS":
                    text_relocations |= bool(tag.entry.d_val & DF_TEXTREL)
        versions = _version_names(elf)
        for name, bind, defined in _symbols(elf, ".dynsym"):
            if name in versions:
                continue
            if not defined:
                undefined.add(name)
            elif bind != "STB_LOCAL":
                exported.add(name)
                if bind == "STB_LOOS":  # STB_GNU_UNIQUE has the first number of the range left to the system
                    unique.add(name)
    return Library(
        path,
        frozenset(needed),
        tuple(search_paths),
        text_relocations,
        frozenset(exported),
        frozenset(unique),
        frozenset(undefined),
    )


def loaded_closure(path: Path) -> list[str]:
    """Return the names that the loader resolves for a library; what it does not find ends in ``(not found)``.

    The loader runs for this, so only for libraries of this repository.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    done = subprocess.run(["ldd", str(path)], env=env, check=True, stdout=subprocess.PIPE, text=True)
    names = []
    for line in done.stdout.splitlines():
        first, *rest = line.split()
        if line.strip() == "statically linked" or first.startswith("linux-vdso"):
            continue
        names.append(Path(first).name + (" (not found)" if "not found" in " ".join(rest) else ""))
    return names


def archive_weak_symbols(path: Path) -> set[str]:
    """Return the symbols that the objects of a static library define weakly, as ``object: symbol``."""
    return {
        f"{member}: {name}"
        for member, elf in _archive_objects(path)
        for name, bind, defined in _symbols(elf, ".symtab")
        if defined and bind in ("STB_WEAK", "STB_LOOS")
    }


def archive_global_symbols(path: Path) -> set[str]:
    """Return the symbols that the objects of a static library define for the linker."""
    return {
        name
        for _, elf in _archive_objects(path)
        for name, bind, defined in _symbols(elf, ".symtab")
        if defined and bind != "STB_LOCAL"
    }


def _symbols(elf: ELFFile, section: str) -> Iterator[tuple[str, str, bool]]:
    table = elf.get_section_by_name(section)
    assert isinstance(table, SymbolTableSection), f"no section {section}"
    for symbol in table.iter_symbols():
        if symbol.name:
            yield symbol.name, symbol.entry.st_info.bind, symbol.entry.st_shndx != "SHN_UNDEF"


def _version_names(elf: ELFFile) -> set[str]:
    """Return the versions that a library defines; some linkers list them as absolute symbols, too."""
    section = elf.get_section_by_name(".gnu.version_d")
    if section is None:
        return set()
    return {auxiliary.name for _, names in section.iter_versions() for auxiliary in names}


def _archive_objects(path: Path) -> Iterator[tuple[str, ELFFile]]:
    # A thin archive, which meson makes for libraries that are not installed, holds names only: let ar list and read.
    names = subprocess.run(["ar", "t", str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    assert names, f"{path}: no objects"
    for name in names:
        data = subprocess.run(["ar", "p", str(path), name], check=True, stdout=subprocess.PIPE).stdout
        yield name, ELFFile(io.BytesIO(data))
