# SPDX-License-Identifier: Apache-2.0
"""Looks for code of ONNX Runtime in the running process, on Linux.

Independent of the checks that the loader makes: it reads what the kernel has mapped.
"""

from __future__ import annotations

import mmap
import os
import struct

ENTRY_POINT = b"OrtGetApiBase"
# Exports the entry point too, for libraries that import it; opened when LoadPolicy(provide_api_base=True) asks for it.
OURS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "api_base", "libonnx_light_ort_api_base.so")
LIBRARY = "libonnxruntime"


def mapped_files() -> list[str]:
    """Returns every file that is mapped into this process.

    Returns
    -------
    list of str
        Absolute paths, sorted.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if line.count("/") > 0}
    return sorted(path.removesuffix(" (deleted)") for path in paths if path.startswith("/"))


def exports(path: str, symbol: bytes) -> bool:
    """Says whether a shared object provides a symbol.

    Parameters
    ----------
    path : str
        A file. One that is not a 64-bit little-endian ELF file provides nothing.
    symbol : bytes
        Name of the symbol.

    Returns
    -------
    bool
        True if the dynamic symbol table defines it. An import of the symbol does not count.
    """
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data[:6] == b"\x7fELF\x02\x01" and data.find(b"\0" + symbol + b"\0") >= 0 and defines(data, symbol)
    except (OSError, ValueError):  # gone, not readable, or empty
        return False


def defines(data: mmap.mmap, symbol: bytes) -> bool:
    """Says whether the dynamic symbol table of an ELF file defines a symbol."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for _, kind, _, _, offset, length, link, _, _, entry in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        names = sections[link][4]
        for position in range(offset, offset + length, entry):
            name, _, _, section = struct.unpack_from("<IBBH", data, position)
            start = names + name
            if section != 0 and data[start : start + len(symbol) + 1] == symbol + b"\0":
                return True
    return False


def onnx_runtime_objects() -> list[str]:
    """Returns the mapped files that are ONNX Runtime.

    Returns
    -------
    list of str
        Those with its name, and those that provide its entry point under any name, this package's own library for that
        excepted. Empty when there is none.
    """
    return [
        path
        for path in mapped_files()
        if LIBRARY in os.path.basename(path) or (path != OURS and exports(path, ENTRY_POINT))
    ]
