# SPDX-License-Identifier: Apache-2.0
"""ctypes view of the ABI data: enum values, callable tables, structs that a plugin fills."""

from __future__ import annotations

import ctypes as C
import functools
import json
import mmap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

ABI_FILE = Path(__file__).resolve().parents[3] / "subprojects" / "ort_headers" / "abi" / "ort_abi_v30.json"

_SCALARS = {
    "bool": C.c_bool,
    "char": C.c_char,
    "float": C.c_float,
    "double": C.c_double,
    "int": C.c_int,
    "int32_t": C.c_int32,
    "int64_t": C.c_int64,
    "size_t": C.c_size_t,
    "uint32_t": C.c_uint32,
    "uint64_t": C.c_uint64,
}


@functools.cache
def abi_data() -> dict[str, Any]:
    """Return the ABI data of the repository."""
    return json.loads(ABI_FILE.read_text(encoding="utf-8"))


@functools.cache
def members(struct: str) -> dict[str, dict[str, Any]]:
    """Return the members of a table or plugin struct by name, in layout order."""
    found = next(s for s in abi_data()["structs"] if s["name"] == struct)
    return {m["name"]: m for m in found["members"]}


@functools.cache
def _enum_names() -> frozenset[str]:
    return frozenset(e["name"] for e in abi_data()["enums"])


E = types.SimpleNamespace(**{e["name"]: e["value"] for group in abi_data()["enums"] for e in group["enumerators"]})
"""Every enumerator of the interface as an attribute."""


def ctype_of(c_type: str) -> Any:
    """Return the ctypes type of a C type; pointers of every kind become ``c_void_p``."""
    plain = c_type.replace("const ", "").strip()
    if plain == "void":
        return None
    if plain in _SCALARS:
        return _SCALARS[plain]
    return C.c_int if plain in _enum_names() else C.c_void_p


@functools.cache
def prototype(struct: str, name: str) -> Any:
    """Return the ctypes function type of one member."""
    member = members(struct)[name]
    return C.CFUNCTYPE(ctype_of(member["returns"]), *[ctype_of(p["type"]) for p in member["params"]])


def text(pointer: int | None) -> str | None:
    """Return the NUL-terminated string behind an address, None for null."""
    return None if not pointer else C.string_at(pointer).decode()


def words(lines: str) -> list[str]:
    """Return the words of a text: a long list of slots reads better without quotes."""
    return lines.split()


def dims(*extents: int) -> Any:
    """Return an int64 array, or None (null) for no extents."""
    return (C.c_int64 * len(extents))(*extents) if extents else None


class SlotError(Exception):
    """A slot returned a status although success was expected."""

    def __init__(self, slot: str, code: int, message: str):
        super().__init__(f"{slot}: code {code}: {message}")
        self.slot, self.code, self.message = slot, code, message


class _Bound:
    """Attribute access that binds a slot name to one way of calling it."""

    def __init__(self, call: Callable[..., Any]):
        self._call = call

    def __getattr__(self, slot: str) -> Callable[..., Any]:
        return functools.partial(self._call, slot)


class Table:
    """One table of the interface.

    ``table.Slot(...)`` is the raw call. The other spellings take the status and release it:

    - ``table.ok.Slot(...)`` raises `SlotError` on a status;
    - ``table.get.Slot(...)`` supplies the trailing out-parameter, behaves as ``ok`` and returns the value;
    - ``table.code.Slot(...)`` returns the error code, 0 for success;
    - ``table.error.Slot(...)`` returns code and message, (0, None) for success.

    Parameters
    ----------
    address
        Address of the table.
    struct
        Its name in the ABI data.
    api
        The ``OrtApi`` table used to read statuses; the table itself when it is ``OrtApi``.
    """

    def __init__(self, address: int, struct: str = "OrtApi", api: Table | None = None):
        self.address, self.struct, self._api = address, struct, api or self
        self.ok, self.get = _Bound(self._ok), _Bound(self._get)
        self.code, self.error = _Bound(lambda slot, *args: self._error(slot, *args)[0]), _Bound(self._error)

    def __getattr__(self, slot: str) -> Any:
        if slot.startswith("_"):
            raise AttributeError(slot)
        member = members(self.struct)[slot]
        pointer = C.c_void_p.from_address(self.address + member["offset_x86_64"]).value
        function = prototype(self.struct, slot)(pointer)
        setattr(self, slot, function)
        return function

    def has(self, slot: str) -> bool:
        """Tell whether the pointer of a member is set."""
        return bool(C.c_void_p.from_address(self.address + members(self.struct)[slot]["offset_x86_64"]).value)

    def names(self) -> list[str]:
        """Return the members in layout order."""
        return list(members(self.struct))

    def _error(self, slot: str, *args: Any) -> tuple[int, str | None]:
        status = getattr(self, slot)(*args)
        if not status:
            return 0, None
        failure = self._api.GetErrorCode(status), text(self._api.GetErrorMessage(status))
        self._api.ReleaseStatus(status)
        return failure

    def _ok(self, slot: str, *args: Any) -> None:
        code, message = self._error(slot, *args)
        if message is not None:
            raise SlotError(slot, code, message)

    def _get(self, slot: str, *args: Any) -> Any:
        member = members(self.struct)[slot]
        out = ctype_of(member["params"][-1]["type"].rstrip()[:-1])()
        if member["return_kind"] == "status":
            self._ok(slot, *args, C.byref(out))
        else:
            getattr(self, slot)(*args, C.byref(out))
        return out.value


class PluginStruct:
    """A struct that a plugin owns, implemented by Python functions.

    Parameters
    ----------
    struct
        Name in the ABI data.
    version
        Value of the version field.
    guard
        Called with the Python function; returns it wrapped so that no exception reaches C.
    """

    def __init__(self, struct: str, version: int, guard: Callable[[Callable[..., Any]], Callable[..., Any]]):
        self.struct, self._guard, self._functions = struct, guard, {}
        size = max(m["offset_x86_64"] for m in members(struct).values()) + C.sizeof(C.c_void_p)
        self.memory = C.create_string_buffer(size)
        self.address = C.addressof(self.memory)
        C.c_uint32.from_buffer(self.memory, 0).value = version

    def set(self, name: str, function: Callable[..., Any] | None) -> None:
        """Install a function as a member; None makes the member null."""
        pointer = 0
        if function is not None:
            self._functions[name] = prototype(self.struct, name)(self._guard(function))
            pointer = C.cast(self._functions[name], C.c_void_p).value
        self.set_pointer(name, pointer)

    def set_pointer(self, name: str, pointer: int) -> None:
        """Write a raw address into a member."""
        C.c_void_p.from_buffer(self.memory, members(self.struct)[name]["offset_x86_64"]).value = pointer

    def move_to_guard_page(self, size: int) -> None:
        """Move the struct's first ``size`` bytes to the end of a page; reading one byte more ends the process."""
        page = mmap.PAGESIZE
        self._pages = mmap.mmap(-1, 2 * page)
        start = C.addressof(C.c_char.from_buffer(self._pages))
        C.memmove(start + page - size, self.address, size)
        protect = C.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [C.c_void_p, C.c_size_t, C.c_int]
        if protect(start + page, page, 0) != 0:
            raise OSError(C.get_errno(), "mprotect failed")
        self.address = start + page - size
