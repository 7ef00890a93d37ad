# SPDX-License-Identifier: Apache-2.0
"""What libraries of other systems say, read with LIEF (the extra ``inspect``)."""

from __future__ import annotations

from .library_report import LibraryReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

ENTRY_POINTS = ("RegisterCustomOps", "CreateEpFactories", "ReleaseEpFactory")
ORT_ENTRY_POINT = "OrtGetApiBase"
MACH_O_MAGICS = tuple(
    bytes.fromhex(magic) for magic in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe", "cafebabf")
)
PE_LIBRARY = 0x2000  # of the characteristics in the header of a file for Windows
MACH_O_PROGRAM = 2  # the kind of file in the header of one for macOS
WITHOUT_LIEF = (
    "; its exports and dependencies are read with the extra 'inspect' (pip install onnx-light-ort-host[inspect])"
)


def system_of(path: str) -> str:
    """Returns for which other system a file is, by its first bytes; empty if for none that is known."""
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic[:2] == b"MZ":
        return "Windows"
    return "macOS" if magic in MACH_O_MAGICS else ""


def is_program(path: str, system: str) -> bool:
    """Whether a file of another system is a program and no library, as far as its headers can be read."""
    with open(path, "rb") as file:
        if system == "Windows":
            file.seek(0x3C)
            file.seek(int.from_bytes(file.read(4), "little"))
            header = file.read(24)
            is_library = int.from_bytes(header[22:24], "little") & PE_LIBRARY
            return len(header) == 24 and header.startswith(b"PE\0\0") and not is_library
        header = file.read(20)
        if header.startswith(b"\xca\xfe\xba"):  # several files in one, the place of the first one in the first entry
            wide = header[3] == 0xBF
            first = (header + file.read(8))[16 : 24 if wide else 20]
            file.seek(min(int.from_bytes(first, "big"), 1 << 62))
            header = file.read(20)
    order: Literal["little", "big"] = "big" if header.startswith(b"\xfe\xed\xfa") else "little"
    return header[:4] in MACH_O_MAGICS[:4] and int.from_bytes(header[12:16], order) == MACH_O_PROGRAM


def text(name: str | bytes) -> str:
    """Returns a name as text; one that is no UTF-8 comes as bytes."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


class Part:
    """One library of a file, which holds several where it is for several processors."""

    __slots__ = ("exported", "imported", "needed", "processor")

    def __init__(self, processor: Any, exported: Iterable[Any], imported: Iterable[Any], needed: Iterable[Any]) -> None:
        self.processor = str(getattr(processor, "name", f"processor {processor}"))
        self.exported, self.imported = {text(name) for name in exported}, {text(name) for name in imported}
        self.needed = [text(name) for name in needed]


def windows_part(library: Any) -> Part:
    """Reads a library for Windows."""
    exports = library.get_export()
    return Part(
        library.header.machine,
        [entry.name for entry in exports.entries] if exports is not None else [],
        [entry.name for each in library.imports for entry in each.entries if not entry.is_ordinal],
        [each.name for each in library.imports],
    )


def macos_part(library: Any) -> Part:
    """Reads a library for macOS, where the names of C begin with an underscore."""
    return Part(
        library.header.cpu_type,
        [text(symbol.name).removeprefix("_") for symbol in library.exported_symbols],
        [text(symbol.name).removeprefix("_") for symbol in library.imported_symbols],
        # A library also states its own name, in the same form.
        [each.name for each in library.libraries if each.command.name != "ID_DYLIB"],
    )


def read_parts(path: str, system: str) -> list[Part]:
    """Reads the libraries in a file; none if it is damaged."""
    import warnings

    import lief

    # It writes what is wrong with a file to the terminal, and warns of numbers that it does not know.
    lief.logging.disable()
    try:
        with warnings.catch_warnings(action="ignore"):
            if system == "Windows":
                library = lief.PE.parse(path)
                return [windows_part(library)] if library is not None else []
            libraries = lief.MachO.parse(path)  # its parts live no longer than it does
            return [macos_part(library) for library in libraries] if libraries is not None else []
    finally:
        lief.logging.enable()


def describe(report: LibraryReport) -> LibraryReport:
    """Completes a report of a file that is no library of this system.

    Parameters
    ----------
    report : LibraryReport
        What is known without LIEF.

    Returns
    -------
    LibraryReport
        The same unless the file is a library or a program for Windows or macOS; then with its exports and
        dependencies, and refused because of its system.
    """
    system = system_of(report.path)
    if not system:
        return report
    kind = "program" if is_program(report.path, system) else "library"
    reason = f"it is a {kind} for {system}, this process runs on Linux on x86-64"
    exports: dict[str, None] = {}
    needed: dict[str, None] = {}
    try:
        parts = read_parts(report.path, system)
    except ImportError:
        reason += WITHOUT_LIEF
    else:
        if parts:
            reason = reason.replace(",", f" on {' and '.join(part.processor for part in parts)},", 1)
        else:
            reason = f"it begins like a {kind} for {system}, and cannot be read as one"
        for part in parts:
            exports.update(dict.fromkeys(name for name in ENTRY_POINTS if name in part.exported))
            needed.update(dict.fromkeys(part.needed))
            if ORT_ENTRY_POINT in part.imported and ORT_ENTRY_POINT not in reason:
                reason += f"; besides, it imports {ORT_ENTRY_POINT}: it needs ONNX Runtime"
    return LibraryReport(report.path, list(exports), list(needed), report.closure, reason, report.audited_as, [], None)
