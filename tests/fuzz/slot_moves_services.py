# SPDX-License-Identifier: Apache-2.0
"""Moves on memory infos, allocators, key-value pairs, session options, and the contexts of the phases."""

from __future__ import annotations

import ctypes as C

from slot_moves_shapes import KIND as SHAPE
from slot_moves_shapes import Shape
from slot_moves_values import Tensor
from slot_world import FAIL, INVALID, OK, RUNTIME, Block, Thing, World, move

KNOWN_MEMORY = [b"Cpu", b"Cuda", b"CudaPinned", b"OpenVINO_GPU"]
INT16 = range(-(2**15), 2**15)
TOO_MUCH = [FAIL, RUNTIME]  # over the session's limit, or what the machine has
HUGE = [2**48, 2**62, 2**64 - 8, 2**64 - 1]


@move()
def memory_of_any_device(w: World) -> None:
    name = w.pick(b"", w.word())
    device, kind = w.pick(-1, 0, 0, 1, 2, 3, 4, 2**31 - 1), w.pick(0, 0, 5, 1, -1)
    vendor, number = w.pick(0, 1, 2**32 - 1), w.pick(0, 1, -1, 2**15, -(2**15), 2**31 - 1)
    alignment, allocator = w.pick(0, 1, 3, 64, 2**63, 2**64 - 1), w.pick(-2, -1, 0, 1, 2, 3)
    wrong = device not in range(4) or kind not in (0, 5) or allocator not in range(-1, 3)
    wrong = wrong or alignment & (alignment - 1) != 0
    codes = [INVALID] if wrong else [OK] if number in INT16 else [RUNTIME]
    args = C.c_char_p(name), device, vendor, number, kind, alignment, allocator
    code, raw = w.get("CreateMemoryInfo_V2", *args, codes=codes)
    if code == OK:
        known = name, number, 0 if kind == 0 else -1, allocator, device, kind, vendor
        w.add("OrtMemoryInfo", int.from_bytes(raw, "little"), known)


@move()
def memory_by_name(w: World) -> None:
    name, number = w.pick(*KNOWN_MEMORY, b"cpu", b"", w.word()), w.pick(0, 1, -1, 70000)
    code, raw = w.get(
        "CreateMemoryInfo", C.c_char_p(name), 1, number, 0, codes=[OK if name in KNOWN_MEMORY else INVALID]
    )
    if code == OK:
        w.add("OrtMemoryInfo", int.from_bytes(raw, "little"))


@move()
def read_memory(w: World) -> None:
    info, other = w.alive("OrtMemoryInfo"), w.alive("OrtMemoryInfo")
    if info is None or other is None:
        return
    assert w.number("CompareMemoryInfo", info, info, size=4) == 0
    equal = w.number("CompareMemoryInfo", info, other, size=4, signed=True)
    assert equal == w.number("CompareMemoryInfo", other, info, size=4, signed=True)
    assert equal in (0, -1)
    device = Block(4)
    w.plain("MemoryInfoGetDeviceType", info, device)
    read = (
        C.string_at(w.number("MemoryInfoGetName", info)),
        w.number("MemoryInfoGetId", info, size=4, signed=True),
        w.number("MemoryInfoGetMemType", info, size=4, signed=True),
        w.number("MemoryInfoGetType", info, size=4, signed=True),
        int.from_bytes(device.raw, "little"),
        w.plain("MemoryInfoGetDeviceMemType", info),
        w.plain("MemoryInfoGetVendorId", info),
    )
    assert info.known in (None, read), f"{read}, expected {info.known}"


@move()
def blocks_of_memory(w: World) -> None:
    size = w.pick(0, 1, 63, 64, 65, 5000, *HUGE)
    code, raw = w.get("AllocatorAlloc", w.default, size, codes=TOO_MUCH if size in HUGE else [OK])
    block = int.from_bytes(raw, "little")
    if code == OK:
        assert (block == 0) == (size == 0)
        assert block % 64 == 0
        C.memset(block, 1, size)
        w.call("AllocatorFree", w.default, block or None)


# --- Key-value pairs


@move()
def create_pairs(w: World) -> None:
    out = Block(8)
    w.plain("CreateKeyValuePairs", out)
    pairs = w.add("OrtKeyValuePairs", int.from_bytes(out.raw, "little"), {})
    for _ in range(w.pick(0, 3, 6)):
        key, value = w.word(), w.word()
        w.plain("AddKeyValuePair", pairs, C.c_char_p(key), C.c_char_p(value))
        pairs.known[key] = value


def entries(w: World, pairs: Thing) -> list[tuple[int, int]]:
    """Return the addresses of keys and values, after their texts were compared with what is known."""
    keys, values, count = Block(8), Block(8), Block(8)
    w.plain("GetKeyValuePairs", pairs, keys, values, count)
    at = [int.from_bytes(block.raw, "little") for block in (keys, values)]
    number = int.from_bytes(count.raw, "little")
    found = [tuple(C.c_uint64.from_address(a + 8 * i).value for a in at) for i in range(number)]
    texts = {C.string_at(key): C.string_at(value) for key, value in found}
    assert len(texts) == number
    assert texts == pairs.known, f"{texts}, expected {pairs.known}"
    return found  # type: ignore[return-value]


@move()
def change_pairs(w: World) -> None:
    pairs = w.alive("OrtKeyValuePairs")
    if pairs is None:
        return
    key, value = w.pick(None, b"", w.word(), w.word()), w.pick(None, b"", w.word())
    w.plain("AddKeyValuePair", pairs, C.c_char_p(key), C.c_char_p(value))
    if key and value is not None:
        pairs.known[key] = value
    removed = w.pick(None, b"", w.word())
    w.plain("RemoveKeyValuePair", pairs, C.c_char_p(removed))
    pairs.known.pop(removed, None)
    asked = w.word()
    found = w.plain("GetKeyValue", pairs, C.c_char_p(asked))
    assert (C.string_at(found) if found else None) == pairs.known.get(asked)
    entries(w, pairs)


@move()
def pass_its_own_texts_back(w: World) -> None:
    """The texts that pairs lend may be passed back to them."""
    pairs = w.alive("OrtKeyValuePairs")
    if pairs is None or not pairs.known:
        return
    key, _ = w.rng.choice(entries(w, pairs))
    _, value = w.rng.choice(entries(w, pairs))
    name, text = C.string_at(key), C.string_at(value)
    if w.rng.random() < 0.5:
        w.plain("AddKeyValuePair", pairs, key, value)
        pairs.known[name] = text
    else:
        w.plain("RemoveKeyValuePair", pairs, key)
        del pairs.known[name]
    entries(w, pairs)


# --- The phases


@move("register")
def entries_of_the_options(w: World) -> None:
    key, value = b"fuzz." + w.word(), w.word()
    w.call("AddSessionConfigEntry", w.handle, C.c_char_p(key), C.c_char_p(value))
    assert w.number("HasSessionConfigEntry", w.handle, C.c_char_p(key), size=4) == 1
    claimed = w.size_for(len(value) + 1)
    out = Block(min(claimed, len(value) + 1))
    size = Block(8, "free", claimed.to_bytes(8, "little"))
    code = OK if claimed > len(value) else INVALID
    w.call("GetSessionConfigEntry", w.handle, C.c_char_p(key), out, size, codes=[code])
    assert int.from_bytes(size.raw, "little") == len(value) + 1
    assert code or out.raw == value + b"\0"
    w.call("GetSessionConfigEntry", w.handle, C.c_char_p(b"absent"), Block(4), Block(8), codes=[INVALID])


@move("create")
def copy_of_the_info(w: World) -> None:
    info = w.add("OrtKernelInfo", w.number("CopyKernelInfo", w.handle))
    assert w.number("KernelInfo_GetInputCount", info) == w.number("KernelInfo_GetOutputCount", info) == 1


@move("create")
def allocator_of_the_info(w: World) -> None:
    allocator = w.number("KernelInfoGetAllocator", w.handle, w.pick(0, -1, 99))
    through_another(w, allocator)
    w.plain("ReleaseAllocator", allocator)


def through_another(w: World, allocator: int) -> None:
    """A block may be freed through any allocator of the host."""
    block = w.number("AllocatorAlloc", allocator, w.pick(1, 100))
    w.call("AllocatorFree", w.pick(allocator, w.default), block)


@move("create")
def entries_of_the_info(w: World) -> None:
    pairs = w.add("OrtKeyValuePairs", w.number("KernelInfo_GetConfigEntries", w.handle), {})
    keys, values, count = Block(8), Block(8), Block(8)
    w.plain("GetKeyValuePairs", pairs, keys, values, count)
    starts = [int.from_bytes(block.raw, "little") for block in (keys, values)]
    for i in range(int.from_bytes(count.raw, "little")):
        key, value = (C.string_at(C.c_uint64.from_address(start + 8 * i).value) for start in starts)
        pairs.known[key] = value


@move("infer")
def shape_of_an_input(w: World) -> None:
    index = w.index_of([w])
    code, raw = w.get("ShapeInferContext_GetInputTypeShape", w.handle, index, codes=[RUNTIME if index else OK])
    if code == OK:
        w.add(SHAPE, int.from_bytes(raw, "little"), Shape(1, [2]), owned=False)


@move("infer")
def shape_of_an_output(w: World) -> None:
    info, index = w.alive(SHAPE), w.index_of([w])
    if info is not None:
        codes = [RUNTIME if index else OK]
        w.call("ShapeInferContext_SetOutputTypeShape", w.handle, index, info, codes=codes)


@move("compute")
def input_of_the_context(w: World) -> None:
    index = w.pick(0, 0, 1, 2**31 - 1, 2**31, 2**64 - 1)
    code, raw = w.get("KernelContext_GetInput", w.handle, index, codes=[RUNTIME if index >= 2**31 else OK])
    address = int.from_bytes(raw, "little") if code == OK else 0
    assert bool(address) == (index == 0)
    if address and not any(t.address == address for t in w.things):
        w.add("OrtValue", address, Tensor(1, [2]), owned=False)


@move("compute")
def output_that_is_not_there(w: World) -> None:
    index = w.pick(1, 2**31 - 1, 2**31, 2**64 - 1)
    args = w.handle, index, None, w.pick(0, 1, 2**64 - 1)
    code, raw = w.get("KernelContext_GetOutput", *args, codes=[RUNTIME if index >= 2**31 else OK])
    assert code or raw == bytes(8)


@move("compute")
def memory_of_the_context(w: World) -> None:
    info, size = w.alive("OrtMemoryInfo"), w.pick(0, 1, 64, 5000, *HUGE)
    plain = w.add("OrtMemoryInfo", w.number("CreateCpuMemoryInfo", 1, 0))
    code, raw = w.get("KernelContext_GetScratchBuffer", w.handle, plain, size, codes=TOO_MUCH if size in HUGE else [OK])
    allocator = w.number("KernelContext_GetAllocator", w.handle, plain)
    through_another(w, allocator)
    if code == OK and size:
        w.call("AllocatorFree", allocator, int.from_bytes(raw, "little"))
    w.plain("ReleaseAllocator", allocator)
    if info is not None and info.known is not None and info.known[4] != 0:  # of another device
        w.get("KernelContext_GetScratchBuffer", w.handle, info, size, codes=[INVALID])
        w.get("KernelContext_GetAllocator", w.handle, info, codes=[INVALID])
