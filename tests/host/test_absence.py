# SPDX-License-Identifier: Apache-2.0
"""No ONNX Runtime code is loaded, not even for a moment: every load of a child process is recorded by the loader."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from link_graph.elf import read_library
from real_libraries import library_path

CASES = Path(__file__).resolve().parent.parent / "cases"

RUN_CASES = """
import sys
sys.path.insert(0, sys.argv[1])
import onnx_light_ort_host as ort, run_cases
for case in run_cases.load_index("onnx_extended_tutorial"):
    if case["expect"] == "ok":
        assert run_cases.problems_of(run_cases.open_session(ort, case, sys.argv[2]), case) == []
"""

RUN_FIXTURE = """
import sys
import numpy as np
import onnx_light_ort_host as ort
from onnx import TensorProto, helper
info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
graph = helper.make_graph([helper.make_node(sys.argv[2], ["x"], ["y"], domain="fixtures")], "g", info[:1], info[1:])
imports = [helper.make_opsetid("", 17), helper.make_opsetid("fixtures", 1)]
model = helper.make_model(graph, opset_imports=imports, ir_version=8)
options = ort.SessionOptions()
options.register_custom_ops_library(sys.argv[1])
ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": np.ones(3, np.float32)})
"""


def loaded_objects(tmp_path: Path, source: str, *arguments: object) -> set[str]:
    """Return every file that the dynamic loader opened or was asked for in a child that runs `source`."""
    log = tmp_path / "loads"
    env = {**os.environ, "LD_DEBUG": "files,libs", "LD_DEBUG_OUTPUT": str(log)}
    done = subprocess.run(
        [sys.executable, "-c", source, *map(str, arguments)],
        env=env, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = "".join(path.read_text(errors="replace") for path in tmp_path.glob("loads.*"))
    return set(re.findall(r"(?:file=|calling init: |trying file=)(\S+)", text))


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def offenders(objects: set[str]) -> list[str]:
    """Return the objects that are ONNX Runtime by name, or provide its entry point."""
    found = []
    for name in objects:
        path = Path(name)
        is_ort = "libonnxruntime" in path.name or "onnxruntime_pybind11_state" in path.name
        provides = path.is_file() and is_elf(path) and "OrtGetApiBase" in read_library(path).exported
        if is_ort or provides:
            found.append(name)
    return sorted(found)


def test_running_a_real_library_loads_no_onnx_runtime(tmp_path):
    library = library_path("onnx_extended_tutorial")
    objects = loaded_objects(tmp_path, RUN_CASES, CASES, library)
    assert any(Path(name).name == library.name for name in objects), "the record misses the library itself"
    assert any("_host" in Path(name).name for name in objects)
    assert offenders(objects) == []


def test_the_check_catches_a_library_that_is_open_only_during_compute(tmp_path, fixtures):
    objects = loaded_objects(tmp_path, RUN_FIXTURE, fixtures / "opens_fake_ort.so", "Loads")
    assert any("libonnxruntime" in name for name in offenders(objects))


def test_onnxruntime_is_not_installed(run_python):
    run_python("import importlib.util as u, sys; sys.exit(u.find_spec('onnxruntime') is not None)")


def test_importing_the_host_imports_no_onnx_and_no_numpy(run_python):
    source = "import sys, onnx_light_ort_host; print(sorted({'onnx', 'numpy', 'ml_dtypes'} & set(sys.modules)))"
    assert run_python(source).stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["libonnxruntime.so.1", "onnxruntime_pybind11_state.so"])
def test_the_check_knows_onnx_runtime_by_name(name):
    assert offenders({f"/nowhere/{name}"}) == [f"/nowhere/{name}"]
