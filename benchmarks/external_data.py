# SPDX-License-Identifier: Apache-2.0
"""What a session costs whose weights, 1 GiB, lie in an external file: time, and memory before the first run.

Prints `LOAD <name> <milliseconds> <MiB resident>`: the growth of the process from before the session to after it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from onnx import TensorProto, helper

SIZE = 16384

CHILD = """
import sys, time
import onnx_light_ort_host as ort
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
before, start = resident(), time.perf_counter()
session = ort.InferenceSession(sys.argv[1])
print((time.perf_counter() - start) * 1000, (resident() - before) / 2**20)
"""


def write_model(folder: Path) -> Path:
    """Write a product with [SIZE, SIZE] weights in a sparse file and return the model's path."""
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(4 * SIZE * SIZE)
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[SIZE, SIZE], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="weights.bin")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", SIZE]) for name in "xy")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "large", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = write_model(Path(folder))
        rounds = [
            [float(word) for word in subprocess.check_output([sys.executable, "-c", CHILD, path], text=True).split()]
            for _ in range(5)
        ]
    milliseconds, mebibytes = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"LOAD external_1GiB {milliseconds:.2f} {mebibytes:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
