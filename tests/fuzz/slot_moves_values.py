# SPDX-License-Identifier: Apache-2.0
"""Moves on OrtValue: tensors of numbers and of strings."""

from __future__ import annotations

import ctypes as C
from dataclasses import dataclass

from contracts.harness import E
from slot_world import FAIL, INVALID, MISSING, OK, RUNTIME, Block, Thing, World, int64s, move, pointers

STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 16: 16, 21: 4, 22: 4}
COMPLEX, UNKNOWN = 14, 99
HUGE = 2**62  # bytes that nobody has


@dataclass
class Tensor:
    """What a value must say; `strings` are the elements of a tensor of strings that may be written."""

    element: int
    dims: list[int]
    strings: list[bytes] | None = None
    writable: bool = True

    @property
    def count(self) -> int:
        product = 1
        for dim in self.dims:
            product *= dim
        return product


def extents(w: World) -> list[int]:
    if w.rng.random() < 0.7:
        return [w.pick(0, 1, 2, 3) for _ in range(w.pick(0, 1, 2, 3))]
    return [w.pick(-(2**63), -1, 1, 2**40, 2**62, 2**63 - 1) for _ in range(w.pick(1, 2, 3))]


def size_of(element: int, dims: list[int]) -> int | None:
    """Return the size in bytes; None if there is no such tensor here."""
    bits = 256 if element == STRING else BITS.get(element)
    if bits is None or any(d < 0 for d in dims):
        return None
    count = Tensor(element, dims).count
    return (count * bits + 7) // 8


@move()
def create_tensor(w: World) -> None:
    element, dims = w.pick(*BITS, STRING, STRING, STRING, COMPLEX, UNKNOWN, 0, -1), extents(w)
    rank = w.pick(*[len(dims)] * 5, 257, 2**64 - 1)
    size = size_of(element, dims)
    if rank > 256 or size is None:
        codes = [FAIL, MISSING]
    elif size == 0 and any(d > 3 for d in dims):
        codes = [OK, FAIL]  # whether the product overflows depends on where the zero is
    else:
        codes = [OK] if size < 2**20 else [FAIL, RUNTIME]
    code, raw = w.get("CreateTensorAsOrtValue", w.default, int64s(dims) if rank else None, rank, element, codes=codes)
    if code == OK:
        strings = [b""] * Tensor(element, dims).count if element == STRING else None
        w.add("OrtValue", int.from_bytes(raw, "little"), Tensor(element, dims, strings))


@move()
def wrap_memory(w: World) -> None:
    """The bytes stay the caller's: one too few is an error, and none are written."""
    element, dims = w.pick(*BITS, STRING, COMPLEX), extents(w)
    info = w.add("OrtMemoryInfo", w.number("CreateCpuMemoryInfo", 1, 0), None)
    needed = size_of(element, dims)
    has = min(needed or 0, 2**16)
    claimed = w.size_for(has)
    data = w.pick(Block(has, "in"), Block(has, "in"), None)
    if needed is None or element == STRING:
        codes = [INVALID, MISSING, FAIL]
    elif needed > has:  # memory of that size cannot be had
        claimed, codes = min(claimed, has), [INVALID, FAIL]
    elif needed == 0 and any(d > 3 for d in dims):
        codes = [OK, FAIL]
    else:
        codes = [INVALID if claimed < needed or (data is None and needed) else OK]
    args = info, data, claimed, int64s(dims) if dims else None, len(dims), element
    code, raw = w.get("CreateTensorWithDataAsOrtValue", *args, codes=codes)
    if code == OK:
        value = w.add("OrtValue", int.from_bytes(raw, "little"), Tensor(element, dims))
        if data is not None and needed:
            assert w.number("GetTensorData", value) == data.address
    w.release(info)


@move()
def read_value(w: World) -> None:
    value = w.alive("OrtValue")
    if value is None:
        return
    known = value.known
    assert w.number("IsTensor", value, size=4) == w.number("HasValue", value, size=4) == 1
    assert w.number("GetValueType", value, size=4) == 1
    assert w.number("GetTensorData", value) == w.number("GetTensorMutableData", value)
    is_text = known.element == STRING
    code, raw = w.get("GetTensorSizeInBytes", value, codes=[INVALID if is_text else OK])
    assert code or int.from_bytes(raw, "little") == size_of(known.element, known.dims)
    element, data, rank = Block(4), Block(8), Block(8)
    w.call("GetTensorElementTypeAndShapeDataReference", value, element, data, rank)
    assert int.from_bytes(rank.raw, "little") == len(known.dims)
    assert int.from_bytes(element.raw, "little") == known.element
    address = int.from_bytes(data.raw, "little")
    assert [C.c_int64.from_address(address + 8 * i).value for i in range(len(known.dims))] == known.dims
    w.number("GetTensorMemoryInfo", value)


@move()
def element_address(w: World) -> None:
    value = w.alive("OrtValue")
    if value is None or value.known.element == STRING:
        return
    dims, bits = value.known.dims, BITS[value.known.element]
    location = [w.pick(0, max(0, d - 1), d, -1, 2**63 - 1) for d in dims]
    if w.rng.random() < 0.2:
        location.append(0)
    inside = len(location) == len(dims) and all(0 <= at < d for at, d in zip(location, dims, strict=True))
    expected = [OK if inside and bits % 8 == 0 else INVALID]
    code, raw = w.get("TensorAt", value, int64s(location), len(location), codes=expected)
    if code == OK:
        index = 0
        for at, d in zip(location, dims, strict=True):
            index = index * d + at
        assert int.from_bytes(raw, "little") == w.number("GetTensorData", value) + index * bits // 8


# Strings.


def some_strings(w: World) -> Thing:
    """Return a tensor of strings, a new one if there is none."""
    found = [t for t in w.things if t.kind == "OrtValue" and t.known.strings is not None]
    if found:
        return w.rng.choice(found)
    dims = [w.pick(1, 2, 3) for _ in range(w.pick(0, 1, 2))]
    made = w.number("CreateTensorAsOrtValue", w.default, int64s(dims) if dims else None, len(dims), STRING)
    known = Tensor(STRING, dims)
    known.strings = [b""] * known.count
    return w.add("OrtValue", made, known)


@move()
def fill_strings(w: World) -> None:
    value = some_strings(w)
    texts = [w.pick(None, w.word()) if w.rng.random() < 0.2 else w.word() for _ in value.known.strings]
    kept, block = pointers(texts)
    w.kept.append(kept)
    claimed = w.size_for(len(texts))
    good = claimed == len(texts) and None not in texts
    if w.call("FillStringTensor", value, block, claimed, codes=[OK if good else INVALID]) == OK:
        value.known.strings = texts


@move()
def fill_one(w: World) -> None:
    value = some_strings(w)
    strings, text = value.known.strings, w.word()
    index = w.index_of(strings)
    inside = index < len(strings)
    if w.call("FillStringTensorElement", value, C.c_char_p(text), index, codes=[OK if inside else INVALID]) == OK:
        strings[index] = text


@move()
def resize_one(w: World) -> None:
    value = some_strings(w)
    strings = value.known.strings
    index, length = w.index_of(strings), w.pick(0, 1, 15, 16, 300, 2**48, HUGE, 2**64 - 1)
    codes = [INVALID] if index >= len(strings) else [OK] if length <= 300 else [RUNTIME, FAIL]
    code, raw = w.get("GetResizedStringTensorElementBuffer", value, index, length, codes=codes)
    if code == OK:
        C.memset(int.from_bytes(raw, "little"), ord("r"), length)
        strings[index] = b"r" * length
        if w.rng.random() < 0.5:  # the text that it lends may be given back to it
            w.call("FillStringTensorElement", value, int.from_bytes(raw, "little"), index)


@move()
def read_strings(w: World) -> None:
    value = some_strings(w)
    strings = value.known.strings
    joined = b"".join(strings)
    assert w.number("GetStringTensorDataLength", value) == len(joined)
    claimed, count = w.size_for(len(joined)), w.size_for(len(strings))
    good = claimed >= len(joined) and count == len(strings)
    buffer, offsets = Block(min(claimed, len(joined) + 1)), Block(8 * min(count, len(strings)))
    code = w.call("GetStringTensorContent", value, buffer, claimed, offsets, count, codes=[OK if good else FAIL])
    if code == OK:
        assert buffer.raw[: len(joined)] == joined
        starts = [int.from_bytes(offsets.raw[8 * i : 8 * i + 8], "little") for i in range(count)]
        assert starts == [len(b"".join(strings[:i])) for i in range(count)]


@move()
def read_one(w: World) -> None:
    value = some_strings(w)
    strings = value.known.strings
    index = w.index_of(strings)
    inside = index < len(strings)
    text = strings[index] if inside else b""
    code, raw = w.get("GetStringTensorElementLength", value, index, codes=[OK if inside else INVALID])
    assert code or int.from_bytes(raw, "little") == len(text)
    claimed = w.size_for(len(text))
    buffer = Block(min(claimed, len(text) + 1))
    codes = [INVALID] if not inside else [OK] if claimed >= len(text) else [FAIL]
    if w.call("GetStringTensorElement", value, claimed, index, buffer, codes=codes) == OK:
        assert buffer.raw[: len(text)] == text


@move()
def strings_of_numbers(w: World) -> None:
    """No slot for strings answers for numbers."""
    value = w.alive("OrtValue")
    if value is None or value.known.element == STRING:
        return
    w.get("GetStringTensorDataLength", value, codes=[FAIL])
    w.get("GetStringTensorElementLength", value, 0, codes=[FAIL])
    w.call("FillStringTensorElement", value, C.c_char_p(b"s"), 0, codes=[FAIL, INVALID])
