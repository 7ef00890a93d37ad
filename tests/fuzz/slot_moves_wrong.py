# SPDX-License-Identifier: Apache-2.0
"""Calls with a handle that is null, of another kind, or released: an error that names the slot, and a finding."""

from __future__ import annotations

from typing import Any

import onnx_light_ort_host as ort
from contracts.harness.abi import members
from slot_world import INVALID, RELEASE, Block, Thing, World, move

RULES = ["wrong_kind", "use_after_release", "double_release", "release_of_borrowed", "out_of_phase"]
# Null has an answer of its own there.
NULL_IS_FINE = {"HasValue"}


def handle_of(parameter: dict[str, str]) -> str:
    """Return the kind of handle that a parameter takes, "" for anything else."""
    words = parameter["type"].replace("const", "").split("*")
    return words[0].strip() if len(words) == 2 and words[0].strip() in RELEASE else ""


def slots_on_handles() -> list[str]:
    """Return the supported slots whose first parameter is a handle and that answer with a status."""
    supported = {row.name for row in ort.support_matrix() if row.table == "OrtApi" and row.status == "supported"}
    found = []
    for name, member in members("OrtApi").items():
        parameters = member.get("params") or []
        if name in supported and parameters and member["return_kind"] == "status" and handle_of(parameters[0]):
            found.append(name)
    return found


SLOTS = slots_on_handles()


def wrong_handle(w: World, kind: str) -> Thing | None:
    """Return a handle that is none of a kind: alive and of another one, or, where it is watched, released."""
    others = [t for t in w.things if t.kind != kind]
    if w.checked:
        others += [t for t in w.dead[-20:] if all(t.address != alive.address for alive in w.things)]
    return w.rng.choice(others) if others else None


@move()
def wrong_argument(w: World) -> None:
    slot = w.rng.choice(SLOTS)
    first, *rest = members("OrtApi")[slot]["params"]
    kind = handle_of(first)
    wrong = None if w.rng.random() < 0.3 and slot not in NULL_IS_FINE else wrong_handle(w, kind)
    if wrong is None and slot in NULL_IS_FINE:
        return
    args: list[Any] = []
    for parameter in rest:
        if handle_of(parameter):
            args.append(w.alive(handle_of(parameter)))
        elif "OrtAllocator*" in parameter["type"]:
            args.append(w.default)
        else:
            args.append(Block(64, "in", bytes(64)) if "*" in parameter["type"] else 0)
    if None in args:
        return
    finds = RULES if wrong is not None else []
    w.call(slot, wrong, *args, codes=[INVALID], finds=finds)


@move()
def wrong_release(w: World) -> None:
    """A release of what is none of its kind does nothing to it; what follows shows that."""
    kind = w.rng.choice(list(RELEASE))
    wrong = wrong_handle(w, kind)
    w.plain(RELEASE[kind], wrong, finds=RULES if wrong is not None else [])
