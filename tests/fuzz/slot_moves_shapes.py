# SPDX-License-Identifier: Apache-2.0
"""Moves on OrtTensorTypeAndShapeInfo and OrtTypeInfo."""

from __future__ import annotations

import ctypes as C
from dataclasses import dataclass, field

from slot_world import FAIL, INVALID, OK, Block, Thing, World, int64s, move, pointers

KIND = "OrtTensorTypeAndShapeInfo"
MOST_RANK = 256


@dataclass
class Shape:
    """What an info must say."""

    element: int = 1
    dims: list[int] | None = None
    names: list[bytes] = field(default_factory=list)

    def name(self, i: int) -> bytes:
        return self.names[i] if i < len(self.names) else b""


def some_shape(w: World, owned: bool | None = None) -> Thing:
    """Return an info, a new one if there is none."""
    found = w.alive(KIND, owned)
    return found or create(w)


def create(w: World) -> Thing:
    return w.add(KIND, w.number("CreateTensorTypeAndShapeInfo"), Shape())


@move()
def create_shape(w: World) -> None:
    create(w)


def extents(w: World) -> list[int]:
    """Return extents, now and then impossible ones."""
    wild = w.rng.random() < 0.3
    choices = [-(2**63), -2, -1, 0, 1, 2, 3, 2**31, 2**32, 2**62, 2**63 - 1] if wild else [-1, 0, 1, 2, 3]
    return [w.rng.choice(choices) for _ in range(w.pick(0, 1, 2, 3, 4, 7))]


@move()
def set_dimensions(w: World) -> None:
    info, dims = some_shape(w, owned=True), extents(w)
    rank = w.pick(len(dims), len(dims), len(dims), MOST_RANK + 1, 2**63, 2**64 - 1)
    code = FAIL if rank > MOST_RANK else INVALID if any(d < -1 for d in dims) else OK
    w.call("SetDimensions", info, int64s(dims) if dims or rank else None, rank, codes=[code])
    if code == OK:
        old = info.known.dims or []
        info.known.dims = dims + [-1] * (len(old) - len(dims))


@move()
def set_symbolic_dimensions(w: World) -> None:
    info = some_shape(w, owned=True)
    names = [w.pick(None, b"", w.word(), w.word()) for _ in range(w.pick(0, 1, 2, 4))]
    kept, block = pointers(names)
    w.kept.append(kept)
    rank = w.pick(len(names), len(names), len(names), MOST_RANK + 1, 2**64 - 1)
    code = FAIL if rank > MOST_RANK else OK
    w.call("SetSymbolicDimensions", info, block if names or rank else None, rank, codes=[code])
    if code == OK:
        replace_names(info.known, [name or b"" for name in names])


def replace_names(shape: Shape, names: list[bytes]) -> None:
    old = shape.dims or []
    shape.dims = old + [-1] * (len(names) - len(old))
    shape.names = names


@move()
def set_names_that_are_its_own(w: World) -> None:
    """The names that an info lends may be passed back to it."""
    info = some_shape(w, owned=True)
    rank = len(info.known.dims or [])
    block = Block(8 * rank)
    w.call("GetSymbolicDimensions", info, block, rank)
    order = w.rng.sample(range(rank), rank)
    data = b"".join(block.raw[8 * i : 8 * i + 8] for i in order)
    w.call("SetSymbolicDimensions", info, Block(8 * rank, "in", data), rank)
    replace_names(info.known, [info.known.name(i) for i in order])


@move()
def set_element_type(w: World) -> None:
    info = some_shape(w, owned=True)
    info.known.element = w.pick(-(2**31), -1, 0, 1, 8, 99, 2**31 - 1)
    w.call("SetTensorElementType", info, info.known.element)


@move()
def read_shape(w: World) -> None:
    info = some_shape(w)
    shape = info.known
    dims = shape.dims or []
    assert w.plain("TensorTypeAndShape_HasShape", info) == (shape.dims is not None)
    assert w.number("GetTensorElementType", info, size=4, signed=True) == shape.element
    assert w.number("GetDimensionsCount", info) == len(dims)


@move()
def read_dimensions(w: World) -> None:
    """A short buffer gets the first extents, and the rest of a long one is left alone."""
    info = some_shape(w)
    dims = info.known.dims or []
    claimed = w.size_for(len(dims))
    size = min(claimed, len(dims) + 1)
    for slot in ("GetDimensions", "GetSymbolicDimensions"):
        out = Block(8 * size)
        w.call(slot, info, out if size else w.pick(None, out), claimed)
        count = min(size, len(dims))
        assert out.raw[8 * count :] == out.before[8 * count :], f"{slot} wrote behind the last extent"
        entries = [out.raw[8 * i : 8 * i + 8] for i in range(count)]
        if slot == "GetDimensions":
            assert [int.from_bytes(e, "little", signed=True) for e in entries] == dims[:count]
        else:
            names = [C.string_at(int.from_bytes(e, "little")) for e in entries]
            assert names == [info.known.name(i) for i in range(count)]


@move()
def count_elements(w: World) -> None:
    info = some_shape(w)
    dims = info.known.dims
    count, fits = (0 if dims is None else 1), True
    for dim in dims or []:
        count *= dim
        fits = fits and dim >= 0 and count < 2**64
    if dims and min(dims) < 0:
        fits = False
    code, raw = w.get("GetTensorShapeElementCount", info, codes=[OK if fits else FAIL])
    assert code or int.from_bytes(raw, "little") == count


@move()
def type_info_of_a_value(w: World) -> None:
    value = w.alive("OrtValue")
    if value is None:
        return
    info = w.add("OrtTypeInfo", w.number("GetTypeInfo", value), value.known)
    assert w.number("GetOnnxTypeFromTypeInfo", info, size=4) == 1
    part = w.number("CastTypeInfoToTensorInfo", info)
    w.add(KIND, part, Shape(value.known.element, list(value.known.dims)), owned=False, of=info)
    for other in ("Map", "Sequence", "Optional"):
        assert w.number(f"CastTypeInfoTo{other}TypeInfo", info) == 0


@move()
def shape_of_a_value(w: World) -> None:
    value = w.alive("OrtValue")
    if value is not None:
        shape = Shape(value.known.element, list(value.known.dims))
        w.add(KIND, w.number("GetTensorTypeAndShape", value), shape, of=value)


@move()
def release_something(w: World) -> None:
    owned = [t for t in w.things if t.owned]
    if owned:
        w.release(w.rng.choice(owned))
