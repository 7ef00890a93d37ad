# SPDX-License-Identifier: Apache-2.0
"""Moves that read attributes: of a kernel info, of an inference, and of those that a library makes."""

from __future__ import annotations

import ctypes as C
import struct
from typing import Any

from contracts.harness import E
from slot_moves_values import Tensor
from slot_world import FAIL, INVALID, OK, RUNTIME, Block, Thing, World, move, pointers

# Letter of a kind of attribute: its number as OrtOpAttrType.
KINDS = {
    "i": E.ORT_OP_ATTR_INT,
    "is": E.ORT_OP_ATTR_INTS,
    "f": E.ORT_OP_ATTR_FLOAT,
    "fs": E.ORT_OP_ATTR_FLOATS,
    "s": E.ORT_OP_ATTR_STRING,
    "ss": E.ORT_OP_ATTR_STRINGS,
    "t": E.ORT_OP_ATTR_TENSOR,
}
FORMATS = {"i": "q", "is": "q", "f": "f", "fs": "f"}
FLOAT = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT


def packed(kind: str, value: Any) -> bytes:
    """Return the bytes that reading an attribute as its own kind gives."""
    if kind in FORMATS:
        values = value if isinstance(value, list) else [value]
        return struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)
    return value if kind == "s" else b"".join(text + b"\0" for text in value)


def some_name(w: World, kind: str = "") -> bytes:
    """Return the name of an attribute, of a kind if there is one, or one that is missing."""
    right = [name for name, (has, _) in w.attributes.items() if has == kind]
    if right and w.rng.random() < 0.6:
        return w.rng.choice(right)
    return w.pick(*w.attributes, *w.attributes, b"missing", b"", b"x" * 5000)


def read_sized(w: World, slot: str, *args: Any, content: bytes, unit: int = 1) -> None:
    """Read in one call with some buffer: its size is told either way, and one that is too small is left alone."""
    needed = len(content) // unit
    claimed, out = w.size_for(needed), None
    if w.rng.random() < 0.8:
        out = Block(min(claimed * unit, len(content)))
    size = Block(8, "free", claimed.to_bytes(8, "little"))
    fits = out is None or claimed >= needed
    code = w.call(slot, *args, out, size, codes=[OK if fits else INVALID])
    assert int.from_bytes(size.raw, "little") == needed, f"{slot} told another size than {needed}"
    if code == OK and out is not None:
        assert out.raw == content, f"{slot} gave {out.raw!r}, expected {content!r}"


# --- OrtKernelInfo


@move("create")
def read_number(w: World) -> None:
    kind, slot, size = w.pick(("i", "int64", 8), ("f", "float", 4))
    name = some_name(w, kind)
    has, value = w.attributes.get(name, ("", None))
    finds = ["attribute_kind"] if has not in ("", kind) else []
    args = w.handle, C.c_char_p(name)
    codes = [OK if has == kind else FAIL]
    code, raw = w.get(f"KernelInfoGetAttribute_{slot}", *args, size=size, codes=codes, finds=finds)
    assert code or raw == packed(kind, value)


@move("create")
def read_text(w: World) -> None:
    name = some_name(w, "s")
    has, value = w.attributes.get(name, ("", b""))
    args = "KernelInfoGetAttribute_string", w.handle, C.c_char_p(name)
    if has == "s":
        read_sized(w, *args, content=value + b"\0")
    else:
        w.call(*args, Block(4), Block(8), codes=[FAIL], finds=["attribute_kind"] if has else [])


@move("create")
def read_array(w: World) -> None:
    kind, slot, unit = w.pick(("is", "int64", 8), ("fs", "float", 4))
    name = some_name(w, kind)
    has, value = w.attributes.get(name, ("", None))
    args = f"KernelInfoGetAttributeArray_{slot}", w.handle, C.c_char_p(name)
    if has == kind:
        read_sized(w, *args, content=packed(kind, value), unit=unit)
    elif has:
        size = Block(8, "free")
        w.call(*args, Block(unit, "in"), size, finds=["attribute_kind"])
        assert size.raw == bytes(8)
    else:
        w.call(*args, Block(unit), Block(8), codes=[FAIL])


@move("create")
def read_texts(w: World) -> None:
    name = some_name(w, "ss")
    has, value = w.attributes.get(name, ("", None))
    out, size = w.pick(Block(8, "free"), Block(8, "free"), None), Block(8, "free")
    allocator = w.pick(w.default, w.default, None)
    code = FAIL if not has or (out is not None and allocator is None) else OK
    finds = ["attribute_kind"] if has not in ("", "ss") else []
    args = w.handle, C.c_char_p(name), allocator, out, size
    w.call("KernelInfoGetAttributeArray_string", *args, codes=[code], finds=finds)
    if code == FAIL:
        assert size.raw == size.before
        assert out is None or out.raw == out.before
        return
    texts = value if has == "ss" else []
    assert int.from_bytes(size.raw, "little") == len(texts)
    if out is None:
        return
    array = int.from_bytes(out.raw, "little")
    assert bool(array) == bool(texts)
    blocks = [C.c_uint64.from_address(array + 8 * i).value for i in range(len(texts))]
    assert [C.string_at(block) for block in blocks] == texts
    for block in [*blocks, array]:
        w.call("AllocatorFree", w.default, block)


@move("create")
def read_tensor(w: World) -> None:
    name = some_name(w, "t")
    has, value = w.attributes.get(name, ("", None))
    finds = ["attribute_kind"] if has not in ("", "t") else []
    args = w.handle, C.c_char_p(name), w.default
    code, raw = w.get("KernelInfoGetAttribute_tensor", *args, codes=[OK if has == "t" else FAIL], finds=finds)
    if code == OK:
        check_tensor(w, int.from_bytes(raw, "little"), value)


def check_tensor(w: World, address: int, floats: list[float]) -> None:
    made = w.add("OrtValue", address, Tensor(FLOAT, [len(floats)]))
    data = w.number("GetTensorData", made)
    assert [C.c_float.from_address(data + 4 * i).value for i in range(len(floats))] == floats


@move("create")
def read_names(w: World) -> None:
    slot, content = w.pick(("NodeName", b"node0"), ("OperatorDomain", b"probe"), ("OperatorType", b"Probe"))
    read_sized(w, f"KernelInfo_Get{slot}", w.handle, content=content + b"\0")
    which, content = w.pick(("Input", b"x0"), ("Output", b"y0"))
    index = w.index_of([content])
    args = f"KernelInfo_Get{which}Name", w.handle, index
    if index == 0:
        read_sized(w, *args, content=content + b"\0")
    else:
        w.call(*args, Block(8), Block(8), codes=[INVALID])
    code, raw = w.get(f"KernelInfo_Get{which}TypeInfo", w.handle, index, codes=[INVALID if index else OK])
    if code == OK:
        info = Thing("OrtTypeInfo", int.from_bytes(raw, "little"))
        w.plain("ReleaseTypeInfo", info)
        w.dead.append(info)


# --- OrtOpAttr


@move()
def make_attribute(w: World) -> None:
    kind = w.pick(*KINDS, "i", "ss")
    name = w.pick(b"made", b"", w.word(), None)
    count = w.pick(0, 1, 2, 5)
    value, data, length = some_content(w, kind, count)
    if name is None:
        code = RUNTIME
    elif kind == "t" or kind not in KINDS:
        code = FAIL
    else:
        code = RUNTIME if kind == "s" and length < 0 else OK
    out = Block(8, "free" if code == FAIL else "out")  # a kind that cannot be made leaves null
    w.call("CreateOpAttr", C.c_char_p(name) if name is not None else None, data, length, KINDS[kind], out, codes=[code])
    if code == OK:
        w.add("OrtOpAttr", int.from_bytes(out.raw, "little"), (kind, value, name))


def some_content(w: World, kind: str, count: int) -> tuple[Any, Any, int]:
    """Return a value of a kind, the block that states it, and its length argument."""
    if kind == "ss":
        texts = [w.word() for _ in range(count)]
        kept, block = pointers(texts)
        w.kept.append(kept)
        return texts, block, count
    if kind == "s":
        text = bytes(w.rng.randrange(256) for _ in range(count))
        return text, Block(count, "in", text), w.pick(count, count, count, -1, -(2**31))
    values = [w.pick(0, 1, -5, 7) for _ in range(count if kind in ("is", "fs") else 1)]
    block = Block(8 * len(values), "in", packed("is", values)) if kind in ("i", "is", "t") else None
    if block is None:
        block = Block(4 * len(values), "in", packed("fs", values))
    if kind in ("i", "f", "t"):
        return values[0], block, w.pick(1, 0, -1, 99)
    return (values, block, count) if w.rng.random() < 0.8 else ([], w.pick(block, None), w.pick(0, -1, -(2**31)))


@move("infer")
def lent_attribute(w: World) -> None:
    name = some_name(w, w.pick(*KINDS))
    has = w.attributes.get(name)
    out = Block(8, "free")
    args = w.handle, C.c_char_p(name), out
    w.call("ShapeInferContext_GetAttribute", *args, codes=[OK if has else INVALID])
    address = int.from_bytes(out.raw, "little")
    assert bool(address) == bool(has)
    if has:
        w.add("OrtOpAttr", address, (*has, name), owned=False)


@move()
def read_attribute(w: World) -> None:
    attribute = w.alive("OrtOpAttr")
    if attribute is None:
        return
    kind, value, name = attribute.known
    assert C.string_at(w.number("OpAttr_GetName", attribute)) == name
    assert w.number("OpAttr_GetType", attribute, size=4) == KINDS[kind]
    as_kind = w.pick(kind, kind, *KINDS, "none")
    right = kind == as_kind and kind != "t"
    content = packed(kind, value) if right else b""
    told = 8 if as_kind == "i" else 4 if as_kind == "f" else len(content)
    claimed = w.size_for(told)
    data = Block(min(claimed, told))
    given = w.pick(data, data, data, None)
    size = Block(8, "free")
    if not right and as_kind in ("i", "f", "t", "none"):
        code = INVALID
    else:
        code = OK if claimed >= told and (given is not None or told == 0) else INVALID
    w.call("ReadOpAttr", attribute, KINDS.get(as_kind, 77), given, claimed, size, codes=[code])
    assert int.from_bytes(size.raw, "little") == (0 if as_kind in ("t", "none") else told)
    if code == OK and given is not None:
        assert data.raw == content


@move()
def tensor_of_attribute(w: World) -> None:
    attribute = w.alive("OrtOpAttr")
    if attribute is None:
        return
    kind, value, _ = attribute.known
    code, raw = w.get("OpAttr_GetTensorAttributeAsOrtValue", attribute, codes=[OK if kind == "t" else INVALID])
    if code == OK:
        check_tensor(w, int.from_bytes(raw, "little"), value)
