# SPDX-License-Identifier: Apache-2.0
"""Options of the command ``run``: none is ignored, and names and values may look odd."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_light_ort_host import cli, cli_run


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Return a function that subtracts two inputs [rows] and returns exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, names: tuple[str, str] = ("a", "b")) -> tuple[int, str, str]:
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows"]) for name in (*names, "y")]
        graph = helper.make_graph([helper.make_node("Sub", names, ["y"])], "g", info[:2], info[2:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
        status = cli.main(["run", "model.onnx", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.mark.parametrize("what", ["random", "random:7"])
def test_random_inputs_differ_from_each_other_and_are_the_same_again(run, what):
    results = []
    for _ in range(2):
        assert run("--input", f"a={what}", "--input", f"b={what}", "--dim", "rows=50", "--output", "out")[0] == 0
        results.append(np.load("out/y.npy"))
    assert np.count_nonzero(results[0]) == 50
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a=ones", "--dim", "rows=5", "--shape", "a=2", "--shape", "b=2"], "--shape does not describe, got 'rows'"),
        (["a=a.npy", "--dim", "rows=5", "--shape", "b=2"], "--shape does not describe, got 'rows'"),
        (["a=a.npy", "--shape", "a=2"], "--shape: expected inputs that are made up by --input, got 'a'"),
    ],
)
def test_options_without_effect_are_refused(run, arguments, message):
    np.save("a.npy", np.ones(2, np.float32))
    status, out, err = run("--input", "b=ones", "--input", *arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_dim_and_shape_for_different_inputs(run):
    arguments = ["--input", "a=ones", "--input", "b=zeros", "--shape", "a=2", "--dim", "rows=2"]
    assert run(*arguments)[:2] == (0, "y: float32 [2]\n[1. 1.]\n")


def test_names_and_files_with_an_equals_sign(run):
    np.save("b=zeros.npy", np.float32([5]))
    names = ("a=b", "c")
    status, out, err = run("--input", "a=b=ones", "--input", "c=b=zeros.npy", names=names)
    assert (status, out, err) == (0, "y: float32 [1]\n[-4.]\n", "")
    status, out, _ = run("--input", "a=b=ones", "--shape", "a=b=2", "--input", "c=zeros", "--shape", "c=2", names=names)
    assert (status, out) == (0, "y: float32 [2]\n[1. 1.]\n")
    status, _, err = run("--input", "d=e=ones", names=names)
    assert status == 1
    assert "--input: expected names of ['a=b', 'c'], got 'd'" in err
    status, _, err = run("--input", "a=b=random:x", "--input", "c=ones", names=names)
    assert status == 1
    assert "input 'a=b': expected a number as seed, got 'x'" in err


def test_the_longest_name_counts():
    assert cli_run.split_input("a=b=ones", dict.fromkeys(["a", "a=b", "b"])) == ("a=b", "ones")
    assert cli_run.split_input("a=b.npy", dict.fromkeys(["a", "a=b", "b"])) == ("a", "b.npy")


def test_no_threads_are_the_default(run):
    assert run("--input", "a=ones", "--input", "b=zeros", "--threads", "0")[:2] == (0, "y: float32 [1]\n[1.]\n")


def test_an_output_folder_that_is_a_file_is_refused_before_the_run(run, tmp_path, monkeypatch):
    (tmp_path / "out").write_text("precious")
    monkeypatch.setattr(cli_run, "open_session", lambda _: pytest.fail("too late"))
    status, out, err = run("--input", "a=ones", "--input", "b=zeros", "--output", "out")
    assert (status, out) == (1, "")
    assert err == (
        "onnx-light-ort-host: InvalidArgument: --output: expected a folder, got 'out': "
        f"'{tmp_path / 'out'}' is no folder\n"
    )
    assert (tmp_path / "out").read_text() == "precious"
