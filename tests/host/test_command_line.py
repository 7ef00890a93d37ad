# SPDX-License-Identifier: Apache-2.0
"""The command ``onnx-light-ort-host``, run as a user runs it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper
from onnx_light_ort_host import absence, cli, cli_outputs, cli_progress


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
        (["--input", "x=/nowhere.npy"], "InvalidArgument: input 'x': expected 'zeros', 'ones', 'random', an .npy or"),
        ([], "InvalidArgument: input feed: expected all required inputs, got none for ['x']"),
        (["--custom-ops", "/nowhere.so"], "NoSuchFile: "),
        (["--ep", "/nowhere.so"], "NoSuchFile: "),
        (["--dim", "m=3"], "InvalidArgument: --dim: expected names of ['n'], got 'm'"),
        (["--shape", "z=2"], "InvalidArgument: --shape: expected names of ['x'], got 'z'"),
        (["--input", "x=zeros", "--shape", "x=2"], "InvalidArgument: "),
        (["--inputs", "/nowhere.npz"], "InvalidArgument: --inputs: expected an .npz file"),
        (
            ["--input", "x=zeros", "--output", "/dev/null/folder"],
            "InvalidArgument: --output: expected a folder, got '/dev/null/folder': '/dev/null' is no folder",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(model, arguments, message):
    done = command("run", model, *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def saved(folder):
    return {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}


def test_ones_and_seeds_and_shapes(model, tmp_path):
    def run(name, *arguments):
        done = command("run", model, *arguments, "--output", tmp_path / name)
        assert done.returncode == 0, done.stderr
        return saved(tmp_path / name)["y"]

    np.testing.assert_array_equal(run("ones", "--input", "x=ones", "--dim", "n=3"), np.full((3, 2), 2, np.float32))
    np.testing.assert_array_equal(run("shape", "--input", "x=zeros", "--shape", "x=4,2"), np.ones((4, 2), np.float32))
    seeds = {seed: run(f"s{seed}", "--input", f"x=random{seed}", "--dim", "n=5") for seed in ("", ":0", ":7")}
    np.testing.assert_array_equal(seeds[""], seeds[":0"])
    assert not np.array_equal(seeds[""], seeds[":7"])
    expected = np.random.default_rng([7, zlib.crc32(b"x")]).standard_normal((5, 2)).astype(np.float32) + np.float32(1)
    np.testing.assert_array_equal(seeds[":7"], expected)


def test_run_with_an_archive(model, tmp_path):
    archive = tmp_path / "feeds.npz"
    np.savez(archive, x=np.array([[1, 2]], np.float32), other=np.array([[5, 6]], np.float32))
    for what, expected in ((archive, [[2, 3]]), (f"{archive}:other", [[6, 7]])):
        done = command("run", model, "--input", f"x={what}", "--output", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(saved(tmp_path / "out")["y"], expected)
    done = command("run", model, "--inputs", archive)
    assert done.returncode == 1
    assert "--inputs: expected arrays named ['x'], got 'other'" in done.stderr
    np.savez(archive, x=np.array([[1, 2]], np.float32))
    done = command("run", model, "--inputs", archive, "--output", tmp_path / "all")
    np.testing.assert_array_equal(saved(tmp_path / "all")["y"], [[2, 3]])


def test_text_from_a_file(tmp_path):
    info = [helper.make_tensor_value_info(name, TensorProto.STRING, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", info[:1], info[1:])
    path = tmp_path / "text.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    np.save(tmp_path / "x.npy", np.array(["zwölf", ""]))
    done = command("run", path, "--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert saved(tmp_path / "out")["y"].tolist() == ["zwölf", ""]


def test_repeated_runs_are_timed(model):
    done = command("run", model, "--input", "x=zeros", "--repeat", "20")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no terminal, no progress
    number = r"\d+\.\d{3} ms"
    assert re.fullmatch(
        rf"first run {number}; then 20 runs: median {number}, middle half {number} to {number}, "
        rf"all {number} to {number}",
        done.stdout.splitlines()[-1],
    )


def test_timing_of_known_durations():
    seconds = [0.004, 0.001, 0.002, 0.003, 0.100]
    assert cli_progress.timing(0.5, seconds) == (
        "first run 500.000 ms; then 5 runs: median 3.000 ms, middle half 2.000 ms to 4.000 ms, "
        "all 1.000 ms to 100.000 ms"
    )
    assert "then 1 run: median 2.000 ms" in cli_progress.timing(0.5, [0.002])


def test_a_terminal_sees_how_far_long_work_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = iter(range(100))
    monkeypatch.setattr(cli_progress.time, "perf_counter", lambda: next(clock))
    terminal = Terminal()
    assert cli_progress.time_runs(lambda: None, 3, terminal) == [1, 1, 1]
    assert "run 2 of 3" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert cli_progress.time_runs(lambda: None, 3, quiet := io.StringIO()) == [1, 1, 1]
    assert quiet.getvalue() == ""


def test_a_terminal_is_told_how_long_it_takes(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(cli_progress, "PROGRESS_SECONDS", 0.001)
    terminal, told = Terminal(), threading.Event()
    monkeypatch.setattr(terminal, "flush", told.set)
    with cli_progress.telling("running", terminal):
        assert told.wait(30)
    assert "running: 0." in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    with cli_progress.telling("running", quiet := io.StringIO()):
        pass
    assert quiet.getvalue() == ""


def test_a_real_terminal_sees_progress_and_no_rest_of_it(model):
    source = """
import sys
from onnx_light_ort_host import cli, cli_progress
cli_progress.PROGRESS_SECONDS = 0.001
sys.exit(cli.main(sys.argv[1:]))
"""
    line = [sys.executable, "-c", source, "run", str(model), "--input", "x=zeros", "--repeat", "3000"]
    terminal, its_end = pty.openpty()
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=its_end, text=True) as process:
        os.close(its_end)
        told = b""
        with contextlib.suppress(OSError):  # nobody writes any more
            while part := os.read(terminal, 4096):
                told += part
        assert "then 3000 runs" in process.stdout.read()
    os.close(terminal)
    assert process.returncode == 0
    assert re.search(rb"\rrun \d+ of 3000", told)
    assert told.endswith(b"\r\x1b[K")


def test_a_traceback_is_shown_on_demand(model):
    done = command("run", model, "--traceback", "--input", "x=zeros", "--custom-ops", "/nowhere.so")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "NoSuchFile" in done.stderr


def test_a_mistake_of_ours_is_told_in_one_line_too(monkeypatch, capsys):
    def broken(_):
        raise KeyError("what")

    monkeypatch.setattr(cli.cli_reports, "matrix", broken)
    assert cli.main(["support-matrix"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("onnx-light-ort-host: internal error (--traceback says more): KeyError: 'what'")
    assert cli.main(["support-matrix", "--traceback"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "KeyError: 'what'"


def test_an_interrupted_command(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.cli_reports, "matrix", interrupted)
    assert cli.main(["support-matrix"]) == 130
    assert capsys.readouterr().err == "onnx-light-ort-host: interrupted\n"


@pytest.mark.parametrize("arguments", [[], ["fly"], ["run"], ["support-matrix", "--json", "--markdown"]])
def test_wrong_usage(arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert "usage: onnx-light-ort-host" in done.stderr


@pytest.mark.parametrize("name", ["run", "explain", "inspect", "support-matrix"])
def test_help_shows_examples_and_exit_codes(name):
    done = command(name, "--help")
    assert done.returncode == 0
    assert f"onnx-light-ort-host {name}" in done.stdout.partition("examples:")[2]
    assert "exit status:" in done.stdout


def test_outputs_whose_names_make_one_file_name(tmp_path):
    paths = cli_outputs.save_outputs(str(tmp_path), ["a/b", "a_b", "a_b_1"], [np.zeros(1), np.ones(1), np.ones(1) * 2])
    assert [np.load(path)[0] for path in paths] == [0, 1, 2]


def test_the_options_of_a_session(model, tmp_path):
    for limit, status in (("1G", 0), ("4096k", 0), ("8", 1)):
        done = command("run", model, "--input", "x=zeros", "--dim", "n=4", "--memory-limit", limit)
        assert done.returncode == status, done.stderr
    assert "Fail: node 'plus' (Add): output 'y': needs 32 bytes, over the memory limit of 8 bytes" in done.stderr
    graph = helper.make_graph(
        [helper.make_node("RegexFullMatch", ["x"], ["y"], "words", pattern="1")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.STRING, [1])],
        [helper.make_tensor_value_info("y", TensorProto.BOOL, [1])],
    )
    path = tmp_path / "match.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    for name in ("run", "explain"):
        arguments = ["--input", "x=ones"] if name == "run" else []
        assert command(name, path, *arguments).returncode == 0
        done = command(name, path, *arguments, "--no-reference-fallback")
        assert done.returncode == 1
        assert "NotImplemented: node 'words' (RegexFullMatch): nothing here runs version 20" in done.stderr


def test_checked_mode_finds_what_a_library_does_wrong(fixtures, tmp_path, monkeypatch):
    monkeypatch.setenv("ONNX_LIGHT_ORT_CHECKED", "0")
    text = (
        """<ir_version: 8, opset_import: ["fixtures" : 1]> g (float[3] x) => (float[3] y) { y = fixtures.Faulty (x) }"""
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    line = ["run", tmp_path / "model.onnx", "--custom-ops", fixtures / "writes_input.so", "--input", "x=ones"]
    assert command(*line).returncode == 0
    done = command(*line, "--checked")
    assert done.returncode == 1
    assert "input_written: input 0: the kernel changed it" in done.stderr


def test_explain(model):
    done = command("explain", model)
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[2]
    assert row.split()[:4] == ["#0", "plus", "Add", "CPUExecutionProvider"]


def test_explain_as_json_and_as_a_picture(model, tmp_path):
    picture = tmp_path / "model.svg"
    done = command("explain", model, "--json", "--svg", picture)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert row == ort.InferenceSession(model).node_assignments()[0].asdict()
    assert (row["inputs"], row["outputs"]) == (["x", "one"], ["y"])
    texts = [element.text for element in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["model.onnx", "native kernel: 1 node", "x", "Add", "plus", "native kernel", "y"]
    assert f"written: {picture}" in done.stderr


def test_explain_as_a_picture_alone(model, tmp_path):
    command("explain", model, "--svg", tmp_path / "model.svg")
    done = command("explain", model, "--svg", "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "model.svg").read_text()
    assert not Path("-").exists()
    done = command("explain", model, "--svg", "-", "--json")
    assert done.returncode == 1
    assert "InvalidArgument: --svg -: expected a file together with --json" in done.stderr


def test_explain_asks_no_provider_for_constants(tmp_path, fixtures):
    nodes = [
        helper.make_node("Constant", [], ["k"], "constant", value_floats=[1.0, 2.0]),
        helper.make_node("Add", ["x", "k"], ["y"], "plus"),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    done = command("explain", tmp_path / "m.onnx", "--ep", fixtures / "kernel_ep.so", "--require-all", "--json")
    assert done.returncode == 0, done.stderr
    constant, plus = json.loads(done.stdout)
    assert plus["provider"] != constant["provider"] == "CPUExecutionProvider"
    assert "sees its value as an initializer, not the node" in constant["reason"]


def test_inspect(fixtures):
    done = command("inspect", fixtures / "probe.so")
    assert done.returncode == 0, done.stderr
    assert "probe.so: loadable, slots unknown until run" in done.stdout
    assert "exports: " in done.stdout
    assert command("inspect", "/nowhere.so").returncode == 1
    report = json.loads(command("inspect", "--json", fixtures / "probe.so").stdout)
    assert report["verdict"] == "loadable, slots unknown until run"
    assert report["exports"] == ort.inspect_library(fixtures / "probe.so").exports


def test_inspect_tells_why_a_library_is_refused(model):
    done = command("inspect", model)
    assert done.returncode == 1
    assert "model.onnx: refused because" in done.stdout


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


@pytest.mark.parametrize("option", [
    ["--repeat", "0"], ["--repeat", "x"], ["--threads", "-1"], ["--dim", "rows=abc"], ["--dim", "rows=-1"],
    ["--dim", "rows=1,2"], ["--dim", "rows"], ["--dim", "rows=scalar"], ["--memory-limit", "5X"],
    ["--memory-limit", "-1"], ["--memory-limit", "M"], ["--memory-limit", "1KK"], ["--input", "x"],
    ["--input", "x=random:abc"], ["--shape", "x=2,y"],
], ids=" ".join)  # fmt: skip
def test_options_that_cannot_be_meant(model, option):
    done = command("run", model, *option)
    assert done.returncode == 2
    assert f"argument {option[0]}: expected" in done.stderr


def test_an_input_is_given_once(model):
    done = command("run", model, "--input", "x=zeros", "--input", "x=ones")
    assert done.returncode == 1
    assert "'x' is given twice" in done.stderr
