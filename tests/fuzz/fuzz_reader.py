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
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_host as ort
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from seeds import DATA_FILE, DATA_SIZE, LARGEST_SEED, Seed, composed, corpus

LONGEST_SECONDS = 20
MOST_MEMORY = 6 << 30
NUMBERS = [0, 1, 2, 7, 8, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
# What an entry of external data may be changed to.
ENTRIES = {
    "location": [DATA_FILE, "./" + DATA_FILE, "", ".", "..", "../" + DATA_FILE, "/etc/passwd", "absent", "a\0b"],
    "offset": ["", "0", "1", "-1", "+1", " 1", "1e3", "0x10", "4080", "4081", "4096", str(2**63 - 1), str(2**64)],
}
ENTRIES["length"] = ENTRIES["offset"] + ["16", "17"]


ROUND = settings(
    max_examples=300, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def varint(number: int) -> bytes:
    """Return the wire form of an unsigned number."""
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


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


def tensors_of(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    """Return the initializers of a model, those of bodies too."""
    graphs = [model.graph]
    tensors: list[onnx.TensorProto] = []
    while graphs:
        graph = graphs.pop()
        tensors += graph.initializer
        graphs += [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
    return tensors


def change_entry(model: bytes, tensor: int, key: str, value: str) -> bytes:
    """Return `model` with an entry of the external data of one of its tensors set, or added."""
    parsed = onnx.ModelProto.FromString(model)
    tensors = [found for found in tensors_of(parsed) if found.external_data]
    entries = tensors[tensor % len(tensors)].external_data
    for entry in entries:
        if entry.key == key:
            entry.value = value
            return parsed.SerializeToString()
    entries.add(key=key, value=value)
    return parsed.SerializeToString()


def ones(type_name: str, shape: list[object] | None) -> object:
    """Return a small value of a type; KeyError if there is no simple one."""
    if type_name.startswith("optional("):
        return None
    if type_name.startswith("seq("):
        return [ones(type_name[4:-1], [2]) for _ in range(2)]
    extents = [extent if isinstance(extent, int) else 2 for extent in shape or []]
    if not type_name.startswith("tensor(") or np.prod([float(extent) for extent in extents]) > 1 << 16:
        raise KeyError(type_name)
    number = onnx.TensorProto.DataType.Value(type_name.removeprefix("tensor(").removesuffix(")").upper())
    if number == onnx.TensorProto.STRING:
        return np.full(extents, "a", object)
    return np.ones(extents, onnx.helper.tensor_dtype_to_np_dtype(number))


def try_model(model: bytes | Path) -> bool:
    """Make a session and run it; only exceptions of the package are expected. Returns whether it ran."""
    options = ort.SessionOptions()
    options.memory_limit_bytes = 1 << 28
    options.intra_op_num_threads = 1
    options.reference_fallback = False
    try:
        session = ort.InferenceSession(model, options)
        feeds = {arg.name: ones(arg.type, arg.shape) for arg in session.get_inputs()}
        session.run(None, feeds)
    except (ort.OrtHostError, KeyError):
        return False
    return True


class Fuzzer:
    """Tries mutants of the seeds; the one under way lies in a folder with the files that it needs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.current = folder / "current.onnx"
        self.seeds = corpus()
        self.composed = len(composed())
        self.tried = self.ran = 0

    def attempt(self, data: bytes, files: dict[str, bytes]) -> None:
        """Try one mutant: from a file if it has files beside it."""
        self.current.write_bytes(data)
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True)
        self.ran += try_model(self.current if files else data)
        faulthandler.cancel_dump_traceback_later()
        self.tried += 1

    def mutate_bytes(self) -> Callable[[], None]:
        """Return a round of mutants of all seeds by their bytes."""
        payload = st.one_of(st.binary(max_size=12), st.sampled_from([varint(number) for number in NUMBERS]))
        kinds = st.sampled_from(["overwrite", "insert", "delete", "flip", "splice"])
        edits = st.lists(st.tuples(kinds, st.integers(0, LARGEST_SEED), payload), max_size=6)
        # As many of the few composed models as of the many node tests.
        first = len(self.seeds) - self.composed
        index = st.one_of(st.integers(0, first - 1), st.integers(first, len(self.seeds) - 1))

        @ROUND
        @given(index, index, edits)
        def one_round(model: int, other: int, changes: list[tuple[str, int, bytes]]) -> None:
            seed = self.seeds[model]
            self.attempt(mutate(seed.model, self.seeds[other].model, changes), seed.files)

        return one_round

    def mutate_external_data(self) -> Callable[[], None]:
        """Return a round of models whose entries and data files do not fit each other."""
        seed: Seed = self.seeds[-1]
        entry = st.sampled_from(sorted(ENTRIES)).flatmap(
            lambda key: st.tuples(st.just(key), st.sampled_from(ENTRIES[key]))
        )
        sizes = st.sampled_from([0, 1, 15, 16, 1028, DATA_SIZE - 1, DATA_SIZE, DATA_SIZE + 1, 3 * DATA_SIZE])

        @ROUND
        @given(st.lists(st.tuples(st.integers(0, 2), entry), max_size=3), sizes)
        def one_round(changes: list[tuple[int, tuple[str, str]]], size: int) -> None:
            model = seed.model
            for tensor, (key, value) in changes:
                model = change_entry(model, tensor, key, value)
            content = (seed.files[DATA_FILE] * 3)[:size]
            self.attempt(model, {DATA_FILE: content})

        return one_round

    def run(self, seconds: float) -> None:
        """Try all seeds as they are, then mutants until the time is over."""
        for seed in self.seeds:
            self.attempt(seed.model, seed.files)
        rounds = [self.mutate_bytes(), self.mutate_bytes(), self.mutate_external_data()]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for one_round in rounds:
                one_round()
        self.current.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    faulthandler.enable()
    ort.set_default_logger_severity(4)  # most models are warned about
    if "libasan" not in Path("/proc/self/maps").read_text():  # a sanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    fuzzer = Fuzzer(arguments.folder)
    fuzzer.run(arguments.seconds)
    print(f"{fuzzer.tried} models, {fuzzer.ran} ran; no crash, no hang, no exception but the package's own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
