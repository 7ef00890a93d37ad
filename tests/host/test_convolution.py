# SPDX-License-Identifier: Apache-2.0
"""Float32 convolutions on every instruction-set level of this machine, at 1 and 3 threads, against float64 sums."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from convolutions import convolve
from onnx import TensorProto, helper, numpy_helper
from simd_levels import levels

# Relative to the largest output. Sums of products round to about 2e-7, Winograd's to about 3e-6.
SUM_TOLERANCE, WINOGRAD_TOLERANCE = 2e-6, 1e-5

# x, w, strides, dilations, pads, group
WINOGRAD: list[Any] = [
    ((1, 16, 8, 8), (16, 16, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 64, 56, 56), (64, 64, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((2, 17, 19, 23), (35, 17, 3, 3), [1, 1], [1, 1], [0] * 4, 1),
    ((3, 32, 5, 7), (33, 32, 3, 3), [1, 1], [1, 1], [0, 1, 2, 1], 1),
    ((1, 20, 13, 131), (18, 20, 3, 3), [1, 1], [1, 1], [2, 2, 0, 1], 1),
    ((1, 70, 30, 9), (40, 70, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((5, 33, 6, 6), (31, 33, 3, 3), [1, 1], [1, 1], [1, 0, 0, 1], 1),
    ((8, 16, 1, 1), (16, 16, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 16, 4, 4), (24, 16, 3, 3), [1, 1], [1, 1], [5, 5, 6, 7], 1),
    ((1, 400, 9, 10), (48, 400, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
]
SMALL_TILES: list[Any] = [  # few outputs: in tiles of 2 x 2
    ((1, 16, 2, 5), (16, 16, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 16, 1, 6), (20, 16, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 128, 8, 8), (128, 128, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((2, 72, 5, 4), (80, 72, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 390, 9, 7), (65, 390, 3, 3), [1, 1], [1, 1], [0, 1, 0, 0], 1),
    ((4, 57, 4, 3), (51, 57, 3, 3), [1, 1], [1, 1], [1, 0, 0, 1], 1),
]
TOO_SMALL: list[Any] = [  # fewer tiles than pay
    ((1, 16, 2, 3), (16, 16, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 128, 3, 4), (128, 128, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
]
WINOGRAD += [*SMALL_TILES, *TOO_SMALL]
SUMS: list[Any] = [
    ((1, 15, 20, 20), (16, 15, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 32, 20, 20), (32, 32, 3, 3), [2, 1], [1, 1], [1] * 4, 1),
    ((1, 32, 20, 20), (32, 32, 3, 3), [1, 1], [2, 1], [1] * 4, 1),
    ((1, 32, 20, 20), (32, 16, 3, 3), [1, 1], [1, 1], [1] * 4, 2),
    ((1, 32, 33, 35), (48, 32, 3, 3), [2, 2], [1, 1], [1] * 4, 1),
    ((2, 33, 14, 14), (37, 33, 1, 1), [1, 1], [1, 1], [0] * 4, 1),
    ((1, 256, 14, 14), (64, 256, 1, 1), [1, 1], [1, 1], [0] * 4, 1),
    ((2, 400, 3, 3), (50, 400, 1, 1), [1, 1], [1, 1], [0] * 4, 1),
    ((3, 24, 9, 11), (20, 12, 1, 1), [1, 1], [1, 1], [0] * 4, 2),
    ((1, 16, 9, 9), (20, 16, 1, 1), [1, 1], [1, 1], [1, 0, 2, 1], 1),
    ((1, 24, 17, 19), (20, 24, 1, 1), [2, 3], [1, 1], [0] * 4, 1),
    # Windows of one element that do not lie on theirs, although there are as many outputs as inputs.
    ((1, 5, 3, 3), (8, 5, 1, 1), [2, 2], [1, 1], [1] * 4, 1),
    ((2, 20, 5, 3), (24, 20, 1, 1), [2, 1], [1, 1], [0, 1, 0, 1], 1),
    ((1, 6, 4, 4), (8, 3, 1, 1), [2, 1], [1, 1], [2, 0, 2, 0], 2),
    ((1, 4, 1, 7), (6, 4, 1, 1), [3, 1], [1, 1], [1, 0, 1, 0], 1),
    ((1, 4, 9), (8, 4, 1), [3], [1], [9, 9], 1),
    ((1, 4, 2, 3, 2), (4, 4, 1, 1, 1), [2, 1, 1], [1, 1, 1], [1, 0, 0, 1, 0, 0], 1),
    ((1, 3, 65, 61), (33, 3, 7, 7), [2, 2], [1, 1], [3] * 4, 1),
    ((2, 3, 37, 41), (24, 3, 3, 3), [2, 2], [1, 1], [0, 1, 1, 0], 1),
    ((1, 1, 28, 28), (6, 1, 5, 5), [1, 1], [1, 1], [2] * 4, 1),
    ((1, 4, 300), (8, 4, 9), [3], [2], [4, 4], 1),
    ((1, 3, 9, 10, 11), (8, 3, 3, 3, 3), [2, 1, 2], [1, 1, 1], [1] * 6, 1),
]
DEPTHWISE: list[Any] = [
    ((1, 128, 28, 28), (128, 1, 3, 3), [1, 1], [1, 1], [1] * 4, 128),
    ((2, 19, 13, 17), (19, 1, 3, 3), [1, 1], [1, 1], [0, 1, 1, 2], 19),
    ((1, 5, 1, 1), (5, 1, 3, 3), [1, 1], [1, 1], [1] * 4, 5),
    ((1, 5, 2, 40), (5, 1, 3, 3), [1, 1], [1, 1], [3, 2, 1, 4], 5),
    ((1, 24, 33, 35), (24, 1, 3, 3), [2, 2], [1, 1], [1] * 4, 24),
    ((2, 7, 30, 64), (7, 1, 3, 3), [2, 1], [1, 1], [1, 1, 0, 0], 7),
    ((1, 9, 21, 50), (9, 1, 5, 5), [1, 1], [1, 1], [2] * 4, 9),
    ((1, 9, 20, 47), (9, 1, 5, 5), [2, 2], [1, 1], [2, 1, 2, 2], 9),
    ((1, 6, 25, 26), (6, 1, 3, 3), [1, 1], [3, 2], [3, 2, 3, 2], 6),
    ((1, 6, 25, 26), (6, 1, 3, 3), [3, 3], [1, 1], [1] * 4, 6),
    ((1, 6, 15, 16), (12, 1, 3, 3), [1, 1], [1, 1], [1] * 4, 6),
    ((1, 6, 40), (6, 1, 7), [1], [1], [3, 3], 6),
    ((1, 4, 9, 100), (4, 1, 9, 2), [1, 1], [1, 1], [4, 0, 4, 1], 4),
    ((1, 4, 6, 7, 8), (4, 1, 2, 3, 3), [1, 1, 1], [1, 1, 1], [1] * 6, 4),
]
CASES = [
    *((case, WINOGRAD_TOLERANCE) for case in WINOGRAD),
    *((case, SUM_TOLERANCE) for case in [*SUMS, *DEPTHWISE]),
]

RUN = """
import sys
from pathlib import Path
import numpy as np
import onnx_light_ort_host as ort
folder, result, threads, winograd = sys.argv[1:]
options = ort.SessionOptions()
options.intra_op_num_threads = int(threads)
options.reference_fallback = False
options.winograd = winograd == "True"
outputs = {}
for model in sorted(Path(folder).glob("*.onnx")):
    session = ort.InferenceSession(model, options)
    inputs = dict(np.load(model.with_suffix(".npz")))
    for i in range(2):  # the second run finds what the first one left in the buffers
        for name, output in zip(("y", "plain"), session.run(None, inputs), strict=True):
            outputs[f"{model.stem}_{name}_{i}"] = output
np.savez(result, **outputs)
"""


def model_of(w: np.ndarray, b: np.ndarray, shape: Any, extents: Any, **attributes: Any) -> onnx.ModelProto:
    """Make y = Relu(Conv(x, w, b) + z) and plain = Conv(x, v), where w is constant and v an input."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], **attributes),
        helper.make_node("Add", ["c", "z"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
        helper.make_node("Conv", ["x", "v"], ["plain"], **attributes),
    ]
    shapes = {"x": shape, "z": extents, "v": w.shape}
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "convolution",
        [info(name, TensorProto.FLOAT, extent) for name, extent in shapes.items()],
        [info(name, TensorProto.FLOAT, extents) for name in ("y", "plain")],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: Any) -> tuple[Path, dict[str, tuple[np.ndarray, float]]]:
    """Write the models; return their folder and what each output must be, with its tolerance."""
    folder = tmp_path_factory.mktemp("convolutions")
    rng = np.random.default_rng(5)
    wanted = {}
    for number, ((x_shape, w_shape, strides, dilations, pads, group), tolerance) in enumerate(CASES):
        x, w, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in (x_shape, w_shape, w_shape[:1]))
        plain = convolve(x, w, None, strides, dilations, pads, group)
        z = rng.uniform(-1, 1, plain.shape).astype(np.float32)
        name = f"case{number:02}"
        model = model_of(
            w, b, x_shape, plain.shape, strides=strides, dilations=dilations, pads=pads, group=group
        )  # fmt: skip
        onnx.save(model, folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", x=x, v=w, z=z)
        sums = plain + b.reshape((-1,) + (1,) * (x.ndim - 2)) + z
        wanted[f"{name}_y"] = np.maximum(sums, 0), tolerance * float(np.abs(sums).max())
        wanted[f"{name}_plain"] = plain, SUM_TOLERANCE * float(np.abs(plain).max())
    return folder, wanted


@pytest.mark.parametrize("level", levels())
def test_convolution(expected: Any, level: str, run_python: Callable[..., Any], tmp_path: Path) -> None:
    folder, wanted = expected
    results = []
    for threads in (1, 3):
        path = tmp_path / f"{threads}.npz"
        run_python(RUN, folder, path, threads, True, ONNX_LIGHT_SIMD=level)
        with np.load(path) as outputs:
            results.append(dict(outputs))
    for name, (want, tolerance) in wanted.items():
        got = results[0][f"{name}_0"]
        case = CASES[int(name[4:6])][0]
        assert got.shape == want.shape, case
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance, err_msg=f"{name} {case}")
        for result, i in itertools.product(results, range(2)):
            assert result[f"{name}_{i}"].tobytes() == got.tobytes(), f"{name} {case}: threads or runs differ"


def test_winograd_can_be_switched_off(expected: Any, run_python: Callable[..., Any], tmp_path: Path) -> None:
    folder, wanted = expected
    results = {}
    for winograd in (True, False):
        run_python(RUN, folder, tmp_path / "outputs.npz", 1, winograd)
        with np.load(tmp_path / "outputs.npz") as outputs:
            results[winograd] = dict(outputs)
    for name, (want, _) in wanted.items():
        case = CASES[int(name[4:6])][0]
        got = results[False][f"{name}_0"]
        tolerance = SUM_TOLERANCE * float(np.abs(want).max())
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance, err_msg=f"{name} {case}")
        differs = got.tobytes() != results[True][f"{name}_0"].tobytes()
        assert differs == (name.endswith("_y") and case in WINOGRAD and case not in TOO_SMALL), f"{name} {case}"
