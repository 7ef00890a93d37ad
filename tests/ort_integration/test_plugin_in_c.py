# SPDX-License-Identifier: Apache-2.0
"""The plugin in a C program: custom operators and provider, without Python in the process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx_light_ort_plugin
import onnxruntime
from onnx import helper
from plugin_ep import model_of

F32 = np.float32


def test_a_c_program_runs_both(tmp_path: Path) -> None:
    standard = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Mul", ["n", "n"], ["y"])]
    custom = [helper.make_node("Abs", ["x"], ["y"], domain="onnx_light")]
    for name, nodes in (("standard", standard), ("custom", custom)):
        (tmp_path / name).write_bytes(model_of(nodes, {"x": (F32, [1])}, {"y": (F32, [1])}))
    (library,) = Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so.*")
    program = Path(os.environ["ONNX_LIGHT_ORT_FIXTURES"]) / "plugin_in_c"
    plugin = onnx_light_ort_plugin.get_library_path()
    done = subprocess.run(
        [program, library, plugin, tmp_path / "custom", tmp_path / "standard"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "custom ops: 2.5\nprovider: 6.25\npython: not mapped\n"), done.stderr
