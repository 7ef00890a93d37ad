# SPDX-License-Identifier: Apache-2.0
"""What the moves of fuzz_slots.py share: watched memory, known handles, and calls whose answer is checked."""

from __future__ import annotations

import ctypes as C
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts.harness import E, Table, text

MARGIN = 32  # watched bytes on each side of a buffer
FILL = 0xA5
ANYWHERE = ["register", "create", "infer", "compute"]
# How each kind of handle that a library owns goes back.
RELEASE = {
    "OrtValue": "ReleaseValue",
    "OrtTensorTypeAndShapeInfo": "ReleaseTensorTypeAndShapeInfo",
    "OrtTypeInfo": "ReleaseTypeInfo",
    "OrtMemoryInfo": "ReleaseMemoryInfo",
    "OrtKernelInfo": "ReleaseKernelInfo",
    "OrtOpAttr": "ReleaseOpAttr",
    "OrtKeyValuePairs": "ReleaseKeyValuePairs",
}
OK, FAIL, INVALID = E.ORT_OK, E.ORT_FAIL, E.ORT_INVALID_ARGUMENT
RUNTIME, MISSING = E.ORT_RUNTIME_EXCEPTION, E.ORT_NOT_IMPLEMENTED

Move = Callable[["World"], None]
MOVES: dict[str, list[Move]] = {phase: [] for phase in ANYWHERE}


def move(*phases: str) -> Callable[[Move], Move]:
    """Register a move for some phases, or for all of them."""

    def register(function: Move) -> Move:
        for phase in phases or ANYWHERE:
            MOVES[phase].append(function)
        return function

    return register


class Block:
    """A buffer of exactly some bytes between two margins that nobody may write.

    ``role`` says who may write the bytes: ``in`` nobody, ``out`` a call that succeeds, ``free`` any call.
    """

    def __init__(self, size: int, role: str = "out", content: bytes = b"") -> None:
        self.size, self.role = size, role
        self.before = content or bytes([FILL]) * size
        assert len(self.before) == size
        edge = bytes([FILL ^ 0xFF]) * MARGIN
        self._edge = edge
        self._memory = C.create_string_buffer(edge + self.before + edge, size + 2 * MARGIN)
        self.address = C.addressof(self._memory) + MARGIN

    @property
    def raw(self) -> bytes:
        return self._memory.raw[MARGIN : MARGIN + self.size]

    def check(self, code: int) -> None:
        """Fail if the last call wrote where it may not."""
        whole = self._memory.raw
        assert whole[:MARGIN] == self._edge, "the call wrote before a buffer"
        assert whole[MARGIN + self.size :] == self._edge, "the call wrote behind a buffer"
        if self.role == "in" or (self.role == "out" and code != OK):
            assert self.raw == self.before, f"the call changed a buffer, code {code}: {self.raw!r}"


@dataclass
class Thing:
    """A handle, what is known of its object, and what has to go before it."""

    kind: str
    address: int
    known: Any = None
    owned: bool = True
    parts: list[Thing] = field(default_factory=list)


class World:
    """One phase of a library's life: the table, random choices, and the handles that are alive."""

    def __init__(
        self, api: Table, rng: random.Random, note: Callable[[str], None], findings: Callable[[], list[str]] | None
    ) -> None:
        self.api, self.rng, self.note, self._findings = api, rng, note, findings
        self.checked = findings is not None
        self.things: list[Thing] = []
        self.dead: list[Thing] = []
        self.kept: list[Any] = []
        self.attributes: dict[bytes, tuple[str, Any]] = {}
        self.handle = 0  # what the phase was given: options, info or context
        self.default = api.get.GetAllocatorWithDefaultOptions()

    # Choices.

    def pick(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def size_for(self, needed: int) -> int:
        """Return a size to claim: none, too small by one, just right, more, or without sense."""
        return max(0, self.pick(0, needed - 1, needed, needed, needed, needed + 1, 2**31, 2**63, 2**64 - 1))

    def index_of(self, elements: Sequence[Any]) -> int:
        """Return the place of an element, or now and then one where there is none."""
        if elements and self.rng.random() < 0.7:
            return self.rng.randrange(len(elements))
        return self.pick(len(elements), 2**31, 2**63, 2**64 - 1)

    def word(self) -> bytes:
        """Return a short text."""
        return self.pick(b"a", b"b", b"bx", b"name", b"longer than a small string holds", "größe".encode(), b"x" * 300)

    def alive(self, kind: str, owned: bool | None = None) -> Thing | None:
        """Return some live handle of a kind, or None."""
        found = [t for t in self.things if t.kind == kind and owned in (None, t.owned)]
        return self.rng.choice(found) if found else None

    # Handles.

    def add(self, kind: str, address: int, known: Any = None, owned: bool = True, of: Thing | None = None) -> Thing:
        thing = Thing(kind, address, known, owned)
        self.things.append(thing)
        if of is not None:
            of.parts.append(thing)
        return thing

    def release(self, thing: Thing) -> None:
        """Give a handle back, what hangs on it first."""
        for part in list(thing.parts):
            if part.owned:
                self.release(part)
            elif part in self.things:
                self.things.remove(part)
        if thing not in self.things:
            return
        self.things.remove(thing)
        self.plain(RELEASE[thing.kind], thing)
        self.dead.append(thing)

    def end(self) -> None:
        """Give everything back, in any order."""
        owned = [t for t in self.things if t.owned]
        self.rng.shuffle(owned)
        for thing in owned:
            self.release(thing)

    # Calls.

    def raw(self, slot: str, args: Sequence[Any]) -> Any:
        """Call a slot and return what it returns; the call is noted before."""
        self.note(f"{slot}({', '.join(_shown(a) for a in args)})")
        self.kept += args
        return getattr(self.api, slot)(*[a.address if isinstance(a, Block | Thing) else a for a in args])

    def call(self, slot: str, *args: Any, codes: Collection[int] = (OK,), finds: Collection[str] = ()) -> int:
        """Call a slot that returns a status; fail if it answers or writes what it may not."""
        status = self.raw(slot, args)
        code = OK
        if status:
            code, message = self.api.GetErrorCode(status), text(self.api.GetErrorMessage(status)) or ""
            self.api.ReleaseStatus(status)
            assert message.startswith(slot + ":"), f"{slot}: the message does not name it, got {message!r}"
        assert code in codes, f"{slot}: codes {set(codes)} expected, got {code}: {message if status else 'success'}"
        for block in args:
            if isinstance(block, Block):
                block.check(code)
        self.expect_findings(finds)
        return code

    def plain(self, slot: str, *args: Any, finds: Collection[str] = ()) -> Any:
        """Call a slot that returns no status."""
        result = self.raw(slot, args)
        for block in args:
            if isinstance(block, Block):
                block.check(OK)
        self.expect_findings(finds)
        return result

    def get(self, slot: str, *args: Any, size: int = 8, **expected: Any) -> tuple[int, bytes]:
        """Call a slot whose last parameter is an output of some bytes; return code and bytes."""
        out = Block(size)
        return self.call(slot, *args, out, **expected), out.raw

    def number(self, slot: str, *args: Any, size: int = 8, signed: bool = False) -> int:
        """Return the number that a call must give."""
        return int.from_bytes(self.get(slot, *args, size=size)[1], "little", signed=signed)

    def expect_findings(self, rules: Collection[str]) -> None:
        """Fail if checked mode found what was not broken, or missed what was."""
        if self._findings is None:
            return
        new = self._findings()
        assert set(new) <= set(rules), f"findings {new}, expected {list(rules)}"
        assert bool(new) == bool(rules), f"nothing was found, expected one of {list(rules)}"


def _shown(argument: Any) -> str:
    if isinstance(argument, Block):
        return f"<{argument.role} {argument.size}>"
    if isinstance(argument, Thing):
        return f"<{argument.kind} {argument.address:#x}>"
    return repr(argument)


def pointers(values: Sequence[bytes | None]) -> tuple[Any, Block]:
    """Return an array of texts, which keeps them, and the same addresses as a watched input."""
    kept = (C.c_char_p * max(1, len(values)))(*values)
    size = 8 * len(values)
    return kept, Block(size, "in", C.string_at(C.addressof(kept), size))


def int64s(values: Sequence[int]) -> Block:
    """Return extents as a watched input."""
    return Block(8 * len(values), "in", b"".join(v.to_bytes(8, "little", signed=True) for v in values))
