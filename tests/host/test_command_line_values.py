# SPDX-License-Identifier: Apache-2.0
"""Values that are no plain tensors on the command line, and files that are not what they should be."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import onnx
import pytest
from onnx_light_ort_host import cli

SEQUENCE = "seq(float[N])"
MODELS = {
    "insert": f"({SEQUENCE} s, float[N] x) => ({SEQUENCE} y) {{ y = SequenceInsert (s, x) }}",
    "length": f"({SEQUENCE} s) => (int64 n) {{ n = SequenceLength (s) }}",
    "words": "(seq(string[N]) s) => (seq(string[N]) y) { y = Identity (s) }",
    "has": "(optional(float[N]) o) => (bool y) { y = OptionalHasElement (o) }",
    "keep": "(optional(float[N]) o) => (optional(float[N]) y) { y = Identity (o) }",
    "keep_sequence": f"(optional({SEQUENCE}) o) => (optional({SEQUENCE}) y) {{ y = Identity (o) }}",
    "half": "(bfloat16[N] x) => (bfloat16[N] y) { y = Identity (x) }",
    "negate": "(float[n] x) => (float[n] y) { y = Neg (x) }",
    "clip": "(float[N] x, float low) => (float[N] y) { y = Clip (x, low) }",
}


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Return a function that runs a model by the command line and returns exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *arguments: str) -> tuple[int, str, str]:
        text = f'<ir_version: 10, opset_import: ["" : 21]> g {MODELS[name]}'
        onnx.save(onnx.parser.parse_model(text), "model.onnx")
        status = cli.main(["run", "model.onnx", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_sequence_comes_from_an_archive_and_goes_to_one(run):
    elements = [np.float32([5, 6]), np.float32([]), np.float32([7])]
    np.savez("s.npz", z=elements[0], b=elements[1], a=elements[2])  # not in the order of their names
    status, out, err = run("insert", "--input", "s=s.npz", "--input", "x=ones", "--output", "out")
    assert (status, err) == (0, "")
    assert out.startswith("y: sequence of 4\ny.0: float32 [2]\n[5. 6.]\ny.1: float32 [0]\n[]\n")
    assert "written: out/y.npz\n" in out
    with np.load("out/y.npz") as made:
        assert made.files == ["0", "1", "2", "3"]
        assert [array.tolist() for array in made.values()] == [[5, 6], [], [7], [1]]
    status, out, _ = run("length", "--input", "s=out/y.npz")  # what was written can be read
    assert (status, out) == (0, "n: int64 []\n4\n")


def test_a_long_sequence_keeps_its_order(run):
    np.savez("s.npz", *[np.float32([i]) for i in range(12)])
    status, _, err = run("insert", "--input", "s=s.npz", "--input", "x=zeros", "--output", ".")
    assert status == 0, err
    with np.load("y.npz") as made:
        assert [array[0] for array in made.values()] == [*range(12), 0]


def test_empty_sequences(run):
    status, out, _ = run("insert", "--input", "s=empty", "--input", "x=ones", "--shape", "x=2")
    assert (status, out) == (0, "y: sequence of 1\ny.0: float32 [2]\n[1. 1.]\n")
    np.savez("s.npz")
    assert run("length", "--input", "s=s.npz")[1] == "n: int64 []\n0\n"
    assert run("length", "--input", "s=empty")[1] == "n: int64 []\n0\n"
    status, out, _ = run("words", "--input", "s=empty", "--output", "out")
    assert out == "y: sequence of 0\nwritten: out/y.npz\n"
    with np.load("out/y.npz") as made:
        assert made.files == []


def test_text_in_sequences(run):
    np.savez("s.npz", np.array(["zwölf", ""]), np.array(["a"]))
    status, _, err = run("words", "--input", "s=s.npz", "--output", ".")
    assert status == 0, err
    with np.load("y.npz") as made:
        assert [array.tolist() for array in made.values()] == [["zwölf", ""], ["a"]]


def test_a_tensor_of_a_type_that_files_lack(run):
    for what in ("x=ones", "x=y.npy"):
        status, out, err = run("half", "--input", what, "--output", ".")
        assert status == 0, err
        assert "y: bfloat16 [1]" in out
        assert np.load("y.npy").tolist() == [1]


def test_optionals(run):
    assert run("has", "--input", "o=none")[1] == "y: bool []\nFalse\n"
    assert run("has", "--input", "o=ones", "--shape", "o=3")[1] == "y: bool []\nTrue\n"
    np.save("o.npy", np.float32([1, 2]))
    status, out, _ = run("keep", "--input", "o=o.npy", "--output", "out")
    assert out == "y: float32 [2]\n[1. 2.]\nwritten: out/y.npy\n"
    np.savez("all.npz", o=np.float32([1, 2]))
    assert run("keep", "--inputs", "all.npz")[1] == "y: float32 [2]\n[1. 2.]\n"
    status, out, _ = run("keep", "--input", "o=none", "--output", "none_out")
    assert (status, out) == (0, "y: none\n")  # and no file
    np.savez("o.npz", np.float32([1]), np.float32([2, 3]))
    status, out, _ = run("keep_sequence", "--input", "o=o.npz")
    assert out == "y: sequence of 2\ny.0: float32 [1]\n[1.]\ny.1: float32 [2]\n[2. 3.]\n"
    assert run("keep_sequence", "--input", "o=none")[1] == "y: none\n"


def test_an_optional_that_is_not_given_is_an_error_that_names_it(run):
    status, _, err = run("has")
    assert status == 1
    assert "InvalidArgument: input feed: expected all required inputs, got none for ['o']" in err


def test_a_scalar_is_made_up(run):
    status, out, _ = run("clip", "--input", "x=zeros", "--shape", "x=2", "--input", "low=ones", "--shape", "low=scalar")
    assert (status, out) == (0, "y: float32 [2]\n[1. 1.]\n")


def archive_with(content: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("x.npy", content)
    return buffer.getvalue()


def saved(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


GOOD = archive_with(saved(np.ones(100, np.float32)), zipfile.ZIP_DEFLATED)
DAMAGED = {
    "empty": b"",
    "text": b"this is no array",
    "cut off": GOOD[:-30],
    "wrong bits": GOOD[:70] + bytes(byte ^ 255 for byte in GOOD[70:90]) + GOOD[90:],
    "array cut off": saved(np.ones(100))[:-1],
    "objects": saved(np.array([None, 1], object)),
    "objects in an archive": archive_with(saved(np.array([None, 1], object))),
    "no array in an archive": archive_with(b"text"),
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("option", ["--input", "--inputs"])
def test_files_that_are_damaged_or_something_else(run, what, option):
    with open("x.npz", "wb") as file:
        file.write(DAMAGED[what])
    for name, argument in (("negate", "x"), ("length", "s")):
        status, out, err = run(name, option, "x.npz" if option == "--inputs" else f"{argument}=x.npz")
        assert (status, out) == (1, "")
        assert len(err.splitlines()) == 1
        assert err.startswith("onnx-light-ort-host: InvalidArgument: ")
        assert "x.npz" in err


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("negate", ["--input", "x=none"], "input 'x': only an optional may be none, expected a value of tensor(float)"),
        ("negate", ["--input", "x=empty"], "input 'x': expected 'zeros', 'ones', 'random', an .npy or an .npz file"),
        ("negate", ["--input", "x=many.npz:c"], "got 'many.npz': it holds arrays ['a', 'b'], none named 'c'"),
        ("negate", ["--input", "x=zeros", "--dim", f"n={10**30}"], "input 'x': numpy has no arrays of shape"),
        (
            "length",
            ["--input", "s=ones"],
            "input 's': expected 'empty' or an .npz file with one array for each element",
        ),
        ("length", ["--input", "s=none"], "input 's': only an optional may be none, expected a value of seq(tensor"),
        ("length", ["--input", "s=one.npy"], "for each element of seq(tensor(float)), got one array in 'one.npy'"),
        ("length", ["--input", "s=wrong.npz"], "input 's', element 1: expected float32"),
        ("length", ["--inputs", "s.npz"], "--inputs: input 's' is a seq(tensor(float)), which has a file of its own"),
        ("negate", ["--inputs", "one.npy"], "--inputs: expected an .npz file with one array for each input"),
    ],
)
def test_values_that_do_not_fit(run, model, arguments, message):
    np.save("one.npy", np.float32([1]))
    np.savez("many.npz", a=np.float32([1]), b=np.float32([1]))
    np.savez("wrong.npz", np.float32([1]), np.float64([1]))
    np.savez("s.npz", s=np.float32([1]))
    status, out, err = run(model, *arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert "internal error" not in err
