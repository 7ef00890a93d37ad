# SPDX-License-Identifier: Apache-2.0
"""Random calls of the table of a plugin in each phase of its life: fuzz_slots.py --seconds N --folder PATH.

Every sequence is one session of one node; it comes from a seed, and `--seed` tries that one alone. The calls of the
one under way are in `current.slots` of the folder, and what the host wrote meanwhile is in `slots.log`. A call may
fail, with one of the codes that its slot documents; it may not crash, hang, write outside of what it was given, change
an output and fail, or answer other than the moves of `slot_moves_*.py` compute. With ONNX_LIGHT_ORT_CHECKED=1 what is
done wrong on purpose must be found, and nothing else.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib
import os
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from contracts.harness import Probe, copy_first_input
from slot_world import MOVES, World

for name in ("shapes", "values", "attributes", "services", "wrong"):
    importlib.import_module(f"slot_moves_{name}")

LONGEST_SECONDS = 60
MOST_MEMORY = 6 << 30
MOST_MOVES = 60
FEED = np.array([3, -4], np.float32)


class Log:
    """The file that stands in for the standard error stream; findings are read from it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        self._at = 0
        self.terminal = os.fdopen(os.dup(2), "w", buffering=1)
        sys.stderr = self.terminal
        os.dup2(self._file, 2)

    def clear(self) -> None:
        os.ftruncate(self._file, 0)
        self._at = 0

    def findings(self) -> list[str]:
        """Return the rules of the findings since the last call."""
        size = os.fstat(self._file).st_size
        lines = os.pread(self._file, size - self._at, self._at).decode(errors="replace").splitlines()
        self._at = size
        return [line.partition("finding: ")[2].partition(":")[0] for line in lines if "finding: " in line]


def some_attributes(rng: random.Random) -> dict[bytes, tuple[str, Any]]:
    """Return attributes of a node by name: kind and value."""
    texts = ["", "a", "text", "größe", "a\0b", "x" * 300]
    count = rng.choice([0, 1, 2, 9])
    made: dict[str, Any] = {
        "i": rng.choice([0, -1, 2**63 - 1, -(2**63)]),
        "f": rng.choice([0.0, -1.5, 2.0**100]),
        "s": rng.choice(texts).encode(),
        "is": [rng.choice([0, -1, 2**62]) for _ in range(count)],
        "fs": [rng.choice([0.0, 1.5]) for _ in range(count)],
        "ss": [rng.choice(texts[:4]).encode() for _ in range(count)],
        "t": [rng.choice([0.0, 1.5]) for _ in range(count)],
    }
    kinds = rng.sample(sorted(made), rng.choice([0, 3, len(made), len(made)]))
    return {f"{kind}{rng.choice(['', '_größe'])}".encode(): (kind, made[kind]) for kind in kinds}


def as_proto(name: str, kind: str, value: Any) -> onnx.AttributeProto:
    """Return an attribute of a model."""
    numbers = {"i": 2, "f": 1, "s": 3, "is": 7, "fs": 6, "ss": 8}
    if kind == "t":
        return onnx.helper.make_attribute(name, onnx.helper.make_tensor("", 1, [len(value)], value))
    return onnx.helper.make_attribute(name, value, attr_type=numbers[kind])


class Fuzzer:
    """Makes sessions of one custom op whose callbacks make random moves."""

    def __init__(self, folder: Path, log: Log) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.current = folder / "current.slots"
        self.log = log
        self.probe = Probe("onnx_light_ort_host")
        self.is_checked = os.environ.get("ONNX_LIGHT_ORT_CHECKED") == "1"
        self.tried = self.calls = 0
        self._lines = os.open(self.current, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)

    def note(self, line: str) -> None:
        """Keep a line of the sequence under way, also if the process ends with the call."""
        self.calls += 1
        os.write(self._lines, f"{line}\n".encode())

    def attempt(self, seed: int) -> None:
        """Try the sequence of one seed."""
        os.ftruncate(self._lines, 0)
        self.note(f"# --seed {seed}{', checked' if self.is_checked else ''}")
        self.log.clear()
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True, file=self.log.terminal)
        rng, probe = random.Random(seed), self.probe
        attributes = some_attributes(rng)

        def moves(phase: str, handle: int, api: Any = None) -> None:
            self.note(f"# {phase}")
            world = World(api or probe.api, rng, self.note, self.log.findings if self.is_checked else None)
            world.expect_findings([])
            world.handle, world.attributes = handle, attributes if phase != "compute" else {}
            for _ in range(rng.randrange(MOST_MOVES)):
                rng.choice(MOVES[phase])(world)
            world.end()

        def infer(api: Any, context: int) -> None:
            moves("infer", context)
            shape = api.get.ShapeInferContext_GetInputTypeShape(context, 0)  # so that the promise is kept
            api.ok.ShapeInferContext_SetOutputTypeShape(context, 0, shape)

        def compute(api: Any, context: int) -> None:
            moves("compute", context)
            copy_first_input(api, context)

        op = probe.op(create=lambda api, info: moves("create", info, api), infer=infer, compute=compute)
        model = probe.one_node_model(op, input_types={"x0": (1, [2])})
        model.graph.node[0].attribute.extend(as_proto(n.decode(), *value) for n, value in attributes.items())
        options = probe.options(lambda handle, base: moves("register", handle))
        session = probe.session(model, op, options=options)
        for _ in range(2):
            assert probe.run(session, {"x0": FEED})[0].tolist() == FEED.tolist()
        del session, options
        gc.collect()
        probe.close()
        probe.keep.clear()
        found = self.log.findings() if self.is_checked else []
        assert not found, f"findings when the session ended: {found}"
        faulthandler.cancel_dump_traceback_later()
        self.tried += 1

    def run(self, seconds: float, first: int) -> None:
        """Try one seed after the other until the time is over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.attempt(first + self.tried)
        self.current.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, help="try this one alone")
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    log = Log(arguments.folder / "slots.log")
    faulthandler.enable(log.terminal)
    if "libasan" not in Path("/proc/self/maps").read_text():  # a sanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    fuzzer = Fuzzer(arguments.folder, log)
    if arguments.seed is not None:
        fuzzer.attempt(arguments.seed)
    else:
        fuzzer.run(arguments.seconds, random.SystemRandom().getrandbits(31))
    mode = "checked" if fuzzer.is_checked else "normal"
    print(f"{fuzzer.tried} sequences of {fuzzer.calls} calls in {mode} mode; each call answered as it should")
    return 0


if __name__ == "__main__":
    sys.exit(main())
