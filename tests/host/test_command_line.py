# SPDX-License-Identifier: Apache-2.0
"""The command ``onnx-light-ort-host``, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper
from onnx_light_ort_host import absence, feeds


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "onnx_light_ort_host", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def model(tmp_path) -> Path:
    """Return the path of a model y = x + 1 on [n, 2]."""
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xy"]
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])
    graph = helper.make_graph([helper.make_node("Add", ["x", "one"], ["y"], "plus")], "g", info[:1], info[1:], [one])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_demo():
    done = command("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "AddTwo" in done.stdout
    assert "libadd_two.so" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("checked: none of the ")


def test_run_with_zeros_and_an_output_folder(model, tmp_path):
    done = command("run", model, "--input", "x=zeros", "--dim", "n=3", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "y: float32 [3, 2]" in done.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), np.ones((3, 2), np.float32))


def test_run_with_a_file(model, tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1, 2]], np.float32))
    done = command("run", model, "--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), [[2, 3]])


def test_random_inputs_are_the_same_every_time(model):
    first, second = (command("run", model, "--input", "x=random", "--dim", "n=4") for _ in range(2))
    assert first.returncode == 0
    assert first.stdout == second.stdout
    assert "[0. 0.]" not in first.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "z=zeros"], "InvalidArgument: --input: expected names of ['x'], got 'z'"),
        (["--input", "x"], "InvalidArgument: --input: expected NAME=VALUE, got 'x'"),
        (["--input", "x=/nowhere.npy"], "InvalidArgument: input 'x': expected 'zeros', 'ones', 'random', an .npy or"),
        (["--input", "x=zeros", "--dim", "n=many"], "InvalidArgument: --dim: expected an extent for 'n', got 'many'"),
        ([], "InvalidArgument: input feed: expected all required inputs, got none for ['x']"),
        (["--custom-ops", "/nowhere.so"], "NoSuchFile: "),
        (["--ep", "/nowhere.so"], "NotImplemented: "),
        (["--input", "x=zeros", "--output", "/dev/null/folder"], "NotADirectoryError: "),
    ],
)
def test_mistakes_are_told_in_one_line(model, arguments, message):
    done = command("run", model, *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_outputs_whose_names_make_one_file_name(tmp_path):
    paths = feeds.save_outputs(str(tmp_path), ["a/b", "a_b"], [np.zeros(1), np.ones(1)])
    assert [np.load(path)[0] for path in paths] == [0, 1]


def test_a_reader_that_leaves_early(tmp_path):
    line = f"{sys.executable} -m onnx_light_ort_host support-matrix | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.startswith("table")
    assert done.stderr == ""


def test_explain(model):
    done = command("explain", model)
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[2]
    assert row.split()[:4] == ["#0", "plus", "Add", "CPUExecutionProvider"]


def test_inspect(fixtures):
    done = command("inspect", fixtures / "probe.so")
    assert done.returncode == 0, done.stderr
    assert "probe.so: loadable, slots unknown until run" in done.stdout
    assert "exports: " in done.stdout
    assert command("inspect", "/nowhere.so").returncode == 1


def test_support_matrix():
    rows = json.loads(command("support-matrix", "--json").stdout)
    assert rows == [row.asdict() for row in ort.support_matrix()]
    lines = command("support-matrix", "--markdown").stdout.splitlines()
    assert len(lines) == len(rows) + 2
    assert all(line.startswith(("| ", "|-")) for line in lines)
    assert len(command("support-matrix").stdout.splitlines()) == len(rows) + 2


def test_version():
    assert ort.__version__ in command("--version").stdout


def test_absence_of_onnx_runtime_is_checked_by_content(fixtures, tmp_path):
    assert absence.onnx_runtime_objects() == []
    assert any(Path(path).name.startswith("_host") for path in absence.mapped_files())
    assert absence.exports(str(fixtures / "probe.so"), b"RegisterCustomOps")
    assert not absence.exports(str(fixtures / "probe.so"), b"OrtGetApiBase")
    (tmp_path / "text").write_text("\0OrtGetApiBase\0")
    assert not absence.exports(str(tmp_path / "text"), b"OrtGetApiBase")
    assert not absence.exports(str(tmp_path / "nowhere"), b"OrtGetApiBase")


def test_a_mapped_provider_of_the_entry_point_is_found(run_python, tmp_path):
    source = tmp_path / "fake.c"
    source.write_text("void* OrtGetApiBase(void) { return 0; }\n")
    library = tmp_path / "innocent.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    found = run_python(
        "import ctypes, sys; from onnx_light_ort_host.absence import onnx_runtime_objects\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "print(onnx_runtime_objects())",
        library,
    )
    assert found.stdout.strip() == f"['{library}']"
