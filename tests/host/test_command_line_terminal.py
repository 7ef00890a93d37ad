# SPDX-License-Identifier: Apache-2.0
"""The command line and what it writes to: pipes that close, full disks, terminals, Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper
from onnx_light_ort_host import cli, cli_reports, terminal

COMMAND = [sys.executable, "-m", "onnx_light_ort_host"]
EVIL = "a\x1b]0;title\x07\x1b[2J\n\r\t\x9b31m\u202eb\x7f"
ESCAPED = r"a\x1b]0;title\x07\x1b[2J\n\r\t\x9b31m\u202eb\x7f"


@pytest.fixture
def model(tmp_path) -> Path:
    """Return the path of a model with evil names."""
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("x", EVIL)]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], [EVIL], EVIL)], "g", info[:1], info[1:])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def controls(text: str) -> set[str]:
    """Return the letters that do something to a terminal."""
    return {letter for letter in text if not letter.isprintable()} - {"\n"}


@pytest.mark.parametrize("arguments", [["support-matrix"], ["support-matrix", "--json"]])
def test_a_reader_that_leaves(arguments):
    end, start = os.pipe()
    os.close(end)
    done = subprocess.run([*COMMAND, *arguments], stdout=start, stderr=subprocess.PIPE, timeout=300, check=False)
    os.close(start)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_reader_that_leaves_early_has_what_it_read():
    line = f"{sys.executable} -m onnx_light_ort_host support-matrix | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.startswith("table")
    assert done.stderr == ""


def run_into(stdout: int, model: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a model whose outputs go to a folder too."""
    arguments = ["run", model, "--input", "x=ones", "--output", folder, "--shape", "x=9"]
    return subprocess.run(
        [*COMMAND, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=300, check=False
    )


def test_files_are_written_when_the_reader_of_the_output_left(model, tmp_path):
    end, start = os.pipe()
    os.close(end)
    done = run_into(start, model, tmp_path / "out")
    os.close(start)
    assert (done.returncode, done.stderr) == (141, "")
    (file,) = (tmp_path / "out").glob("*.npy")
    np.testing.assert_array_equal(np.load(file), np.full(9, -1, np.float32))


def test_files_are_written_when_the_output_has_no_room(model, tmp_path):
    with open("/dev/full", "w") as full:
        done = run_into(full.fileno(), model, tmp_path / "out")
        assert done.returncode == 1
        assert done.stderr == "onnx-light-ort-host: OSError: [Errno 28] No space left on device\n"
        (file,) = (tmp_path / "out").glob("*.npy")
        np.testing.assert_array_equal(np.load(file), np.full(9, -1, np.float32))
        picture = tmp_path / "model.svg"
        done = subprocess.run(
            [*COMMAND, "explain", model, "--svg", picture], stdout=full, stderr=subprocess.PIPE, check=False
        )
        assert done.returncode == 1
        assert picture.read_text().endswith("</svg>\n")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["explain", "--help"], ["support-matrix"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_cannot_be_written_is_an_error(arguments, unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1
    assert done.stderr == "onnx-light-ort-host: OSError: [Errno 28] No space left on device\n"


def test_shown():
    assert terminal.shown(EVIL) == ESCAPED
    assert terminal.shown("Grüße, 世界 \\ 'a' \U0001f600") == "Grüße, 世界 \\ 'a' \U0001f600"
    assert terminal.shown("\u2028\xad\udc80") == r"\u2028\xad\udc80"


def test_names_of_a_model_do_nothing_to_a_terminal(model, capsys):
    assert cli.main(["run", str(model), "--input", "x=ones"]) == 0
    assert capsys.readouterr().out == f"{ESCAPED}: float32 [1]\n[-1.]\n"
    assert cli.main(["explain", str(model)]) == 0
    _, _, row = capsys.readouterr().out.splitlines()
    assert ESCAPED in row
    assert not controls(row)
    assert cli.main(["explain", "--json", str(model)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["outputs"]) == (EVIL, [EVIL])


def test_errors_do_nothing_to_a_terminal_and_stay_exact_in_python(tmp_path, capsys):
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    node = helper.make_node(f"Op{EVIL}", ["x"], ["y"], EVIL, domain=EVIL)
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid(EVIL, 1)], ir_version=8), path)
    with pytest.raises(ort.OrtHostError) as raised:
        ort.InferenceSession(path)
    assert f"Op{EVIL}" in str(raised.value)
    assert cli.main(["explain", str(path)]) == 1
    error = capsys.readouterr().err
    assert f"Op{ESCAPED}" in error
    assert error.count("\n") == 1
    assert not controls(error)
    assert cli.main(["explain", str(path), "--traceback"]) == 1
    error = capsys.readouterr().err
    assert "Op" + ESCAPED.replace(r"\n", "\n") in error
    assert not controls(error)


def test_text_of_a_model_does_nothing_to_a_terminal(tmp_path, capsys):
    for shape in ([], [1], [1, 1]):
        info = helper.make_tensor_value_info("y", TensorProto.STRING, shape)
        value = helper.make_tensor("value", TensorProto.STRING, shape, [EVIL.encode()])
        graph = helper.make_graph([helper.make_node("Constant", [], ["y"], value=value)], "g", [], [info])
        path = tmp_path / "text.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        assert cli.main(["run", str(path)]) == 0
        printed = capsys.readouterr().out
        assert ESCAPED in printed
        assert not controls(printed)


def test_what_a_library_says_does_nothing_to_a_terminal(monkeypatch, capsys):
    registration = ort.RegistrationReport(
        *({"operators": [], "api_versions": [1]}.get(name, EVIL) for name in ort.RegistrationReport.__slots__)
    )
    report = ort.LibraryReport(EVIL, [EVIL], [EVIL], [EVIL], EVIL, "", [EVIL], registration)
    monkeypatch.setattr(cli_reports, "inspect_library", lambda *_, **__: report)
    assert cli.main(["inspect", "lib.so"]) == 1
    printed = capsys.readouterr().out
    assert not controls(printed)
    assert len(printed.splitlines()) == 7
    assert cli.main(["inspect", "--json", "lib.so"]) == 1
    assert json.loads(capsys.readouterr().out)["exports"] == [EVIL]


def test_log_lines_do_nothing_to_a_terminal(fixtures, tmp_path, run_python):
    evil = EVIL.replace("/", "")
    library = tmp_path / f"ä{evil}.so"
    shutil.copy(fixtures / "add_two.so", library)
    source = "import sys, onnx_light_ort_host as ort; ort.SessionOptions().register_custom_ops_library(sys.argv[1])"
    line = run_python(source, library).stderr
    # Of what is not printable, control characters alone do something.
    wanted = ESCAPED.replace(r"\t", "\t").replace(r"\u202e", "\u202e").replace(r"\r", r"\x0d")
    assert f"ä{wanted}.so: unaudited" in line
    assert line.count("\n") == 1


# Ctrl-C comes while the module given first is looked for; the rest is the command line.
INTERRUPTED_IMPORT = """
import os, runpy, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == wanted: os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, getattr(signal, handler))
"""


def interrupted_at(
    tmp_path: Path, module: str, *line: object, handler: str = "default_int_handler"
) -> subprocess.CompletedProcess[str]:
    start = f"wanted, handler = {module!r}, {handler!r}\n{INTERRUPTED_IMPORT}"
    (tmp_path / "sitecustomize.py").write_text(start)
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}"}
    return subprocess.run([*map(str, line)], env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(
    "module", ["errors", "_host", "session", "cli", "cli_run", "feeds", "_conversions", "datetime"]
)
@pytest.mark.parametrize("how", ["-m", "script"])
def test_an_interrupted_import(model, tmp_path, module, how):
    start = COMMAND
    if how == "script":
        script = tmp_path / "onnx-light-ort-host"
        script.write_text("from onnx_light_ort_host.__main__ import main\nraise SystemExit(main())\n")
        start = [sys.executable, script]
    arguments = ["run", model, "--input", "x=ones"]
    name = module if module == "datetime" else f"onnx_light_ort_host.{module}"
    done = interrupted_at(tmp_path, name, *start, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "onnx-light-ort-host: interrupted\n")


def test_a_program_that_imports_us_keeps_its_ctrl_c(tmp_path):
    source = "try: import onnx_light_ort_host\nexcept KeyboardInterrupt: print('mine')"
    done = interrupted_at(tmp_path, "onnx_light_ort_host.session", sys.executable, "-c", source)
    assert (done.returncode, done.stdout) == (0, "mine\n"), done.stderr
    source = (
        "import signal\nbefore = signal.getsignal(2)\nimport onnx_light_ort_host\nassert signal.getsignal(2) is before"
    )
    subprocess.run([sys.executable, "-c", source], check=True)


def test_ctrl_c_that_is_ignored_stays_so(model, tmp_path):
    # As it is for what a shell starts in the background.
    line = [*COMMAND, "run", model, "--input", "x=ones"]
    done = interrupted_at(tmp_path, "onnx_light_ort_host.session", *line, handler="SIG_IGN")
    assert (done.returncode, done.stderr) == (0, "")
