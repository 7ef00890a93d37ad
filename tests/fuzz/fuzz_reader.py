# SPDX-License-Identifier: Apache-2.0
"""Mutated models against the whole way from bytes to a first run: fuzz_reader.py --seconds N --folder PATH.

A model may be refused, by an exception of the package; it may not crash, hang, or take memory that it does not hold.
The model under way is in `current.onnx` of the folder, so that one that ends the process can be kept; hypothesis
shrinks those that raise something else and prints them.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import onnx_light_ort_host as ort
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from onnx.backend.test.case import node as node_cases

LONGEST_SECONDS = 20
MOST_MEMORY = 6 << 30
LARGEST_SEED = 1 << 14
NUMBERS = [0, 1, 2, 7, 8, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def varint(number: int) -> bytes:
    """Return the wire form of an unsigned number."""
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def corpus() -> list[bytes]:
    """Return the models of onnx's own node tests, small ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = node_cases.collect_testcases(None)
    models = {case.model.SerializeToString() for case in cases if case.model is not None}
    return sorted(model for model in models if len(model) <= LARGEST_SEED)


def mutate(model: bytes, other: bytes, edits: list[tuple[str, int, bytes]]) -> bytes:
    """Return `model` after the edits: bytes overwritten, put in, taken out, or spliced from `other`."""
    data = bytearray(model)
    for kind, where, payload in edits:
        at = where % (len(data) + 1)
        if kind == "overwrite":
            data[at : at + len(payload)] = payload
        elif kind == "insert":
            data[at:at] = payload
        elif kind == "delete":
            del data[at : at + len(payload)]
        elif kind == "flip" and at < len(data):
            data[at] ^= 1 << (len(payload) % 8)
        elif kind == "splice":
            data[at:] = other[where % (len(other) + 1) :]
    return bytes(data)


def zeros_for(session: ort.InferenceSession) -> dict[str, object] | None:
    """Return small feeds, or None if an input has no simple one."""
    feeds: dict[str, object] = {}
    for arg in session.get_inputs():
        if not arg.type.startswith("tensor(") or arg.shape is None:
            return None
        shape = [extent if isinstance(extent, int) else 2 for extent in arg.shape]
        if np.prod([float(extent) for extent in shape]) > 1 << 16:
            return None
        feeds[arg.name] = np.zeros(shape).tolist()
    return feeds


def try_model(data: bytes) -> None:
    """Make a session and run it; only exceptions of the package are expected."""
    options = ort.SessionOptions()
    options.memory_limit_bytes = 1 << 28
    options.intra_op_num_threads = 1
    options.reference_fallback = False
    try:
        session = ort.InferenceSession(data, options)
        feeds = zeros_for(session)
        if feeds is not None:
            session.run(None, feeds)
    except ort.OrtHostError:
        pass


def fuzz(seconds: float, folder: Path) -> int:
    """Try models until the time is over and return how many there were."""
    folder.mkdir(parents=True, exist_ok=True)
    current = folder / "current.onnx"
    seeds = corpus()
    tried = 0
    payload = st.one_of(st.binary(max_size=12), st.sampled_from([varint(number) for number in NUMBERS]))
    kinds = st.sampled_from(["overwrite", "insert", "delete", "flip", "splice"])
    edits = st.lists(st.tuples(kinds, st.integers(0, LARGEST_SEED), payload), min_size=1, max_size=6)

    @settings(
        max_examples=1000, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.integers(0, len(seeds) - 1), st.integers(0, len(seeds) - 1), edits)
    def one_round(model: int, other: int, changes: list[tuple[str, int, bytes]]) -> None:
        nonlocal tried
        data = mutate(seeds[model], seeds[other], changes)
        current.write_bytes(data)
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True)
        try_model(data)
        faulthandler.cancel_dump_traceback_later()
        tried += 1

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one_round()
    current.unlink(missing_ok=True)
    return tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    faulthandler.enable()
    ort.set_default_logger_severity(4)  # most models are warned about
    if "libasan" not in Path("/proc/self/maps").read_text():  # a sanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    tried = fuzz(arguments.seconds, arguments.folder)
    print(f"{tried} models, no crash, no hang, no exception but the package's own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
