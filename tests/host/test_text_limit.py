# SPDX-License-Identifier: Apache-2.0
"""The text of strings counts against the memory limit, whoever makes it: at the limit, and one byte beyond."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import onnx_light_ort_host as ort
import pytest

ELEMENT = 32  # bytes of a string object, which holds up to 15 bytes of text itself
LONG = "x" * 100
TEXTS = np.array([LONG, "short"], object)

# Nodes of a model, its feeds, and the bytes of the strings that its nodes make. Text beside its element is as long as
# the memory that was taken for it.
CASES = {
    "StringConcat": ("(string[N] x) => (string[N] y) { y = StringConcat (x, x) }", TEXTS, 2 * ELEMENT + 200),
    "two nodes": (
        "(string[N] x) => (string[N] y) { t = StringConcat (x, x) y = StringConcat (t, x) }",
        TEXTS,
        4 * ELEMENT + 200 + 300,
    ),
    "Identity": ("(string[N] x) => (string[N] y) { y = Identity (x) }", TEXTS, 2 * ELEMENT + 100),
    "Tile": (
        "(string[N] x) => (string[M] y) { n = Constant <value_ints = [3]> () y = Tile (x, n) }",
        TEXTS,
        6 * ELEMENT + 300,
    ),
    "Cast": (
        f"(double[N] x) => (string[N] y) {{ y = Cast <to = {onnx.TensorProto.STRING}> (x) }}",
        np.array([1.25, 1.2345678901234567e100, -1.2345678901234567e100]),
        3 * ELEMENT + len("1.2345678901234567e+100") + len("-1.2345678901234567e+100"),
    ),
    "StringSplit": (  # the other output is two numbers
        "(string[N] x) => (string[N, M] y, int64[N] n) { y, n = StringSplit (x) }",
        TEXTS,
        2 * ELEMENT + 100 + 16,
    ),
}


def session_of(text: str, limit: int | None, **options: object) -> ort.InferenceSession:
    session_options = ort.SessionOptions()
    session_options.memory_limit_bytes = limit
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
    return ort.InferenceSession(model.SerializeToString(), session_options)


@pytest.mark.parametrize("name", CASES)
def test_at_the_limit_and_beyond(name):
    text, x, size = CASES[name]
    expected = [output.tolist() for output in session_of(text, None).run(None, {"x": x})]
    session = session_of(text, size)
    for _ in range(3):  # what a run has charged is free again after it
        assert [output.tolist() for output in session.run(None, {"x": x})] == expected
    session = session_of(text, size - 1)
    for _ in range(2):
        with pytest.raises(ort.Fail, match=rf"over the memory limit of {size - 1} bytes") as failure:
            session.run(None, {"x": x})
        assert str(failure.value).startswith("node ")
    small = x[:0]
    assert session.run(None, {"x": small})[0].size == 0  # a run that fails leaves nothing charged


def test_text_of_the_reference_fallback_counts(monkeypatch):
    text = f"(float8e5m2[N] x) => (string[N] y) {{ y = Cast <to = {onnx.TensorProto.STRING}> (x) }}"
    x = np.zeros(len(TEXTS), ml_dtypes.float8_e5m2)
    size = len(TEXTS) * ELEMENT + 100
    session_of(text, None)  # imports onnx.reference
    from onnx.reference.ops.op_cast import Cast_19

    monkeypatch.setattr(Cast_19, "_run", lambda *_, **__: (TEXTS,))  # no such number has so long a text
    assert session_of(text, size).run(None, {"x": x})[0].tolist() == TEXTS.tolist()
    with pytest.raises(ort.Fail, match=rf"over the memory limit of {size - 1} bytes"):
        session_of(text, size - 1).run(None, {"x": x})


def test_the_message_names_the_node():
    text, x, _ = CASES["two nodes"]
    with pytest.raises(ort.Fail, match=r"^node #0 \(StringConcat\): text of strings: needs 200 bytes, over .* of 263 "):
        session_of(text, 2 * ELEMENT + 199).run(None, {"x": x})


def test_text_that_doubles_in_a_loop_meets_the_limit():
    text = """(string[N] x) => (string[N] y) {
        n = Constant <value_int = 60> ()
        y = Loop (n, "", x) <body = b (int64 i, bool c, string[N] s) => (bool d, string[N] t) {
            d = Identity (c)
            t = StringConcat (s, s)
        }>
    }"""
    with pytest.raises(ort.Fail, match=r"StringConcat\): text of strings: needs \d+ bytes, over the memory limit"):
        session_of(text, 1 << 20).run(None, {"x": np.array([LONG], object)})


# Each makes 256 MB of text from 1 MB that is fed, or from little more.
GROWING = {
    "Expand": "{ n = Constant <value_ints = [256]> () y = Expand (x, n) }",
    "Tile": "{ n = Constant <value_ints = [256]> () y = Tile (x, n) }",
    "Gather": """{
        n = Constant <value_ints = [256]> () i = ConstantOfShape <value = int64[1] {0}> (n) y = Gather (x, i)
    }""",
    "GatherElements": """{
        n = Constant <value_ints = [256]> () i = ConstantOfShape <value = int64[1] {0}> (n) y = GatherElements (x, i)
    }""",
    "GatherND": """{
        n = Constant <value_ints = [256, 1]> () i = ConstantOfShape <value = int64[1] {0}> (n) y = GatherND (x, i)
    }""",
    "Concat": f"{{ y = Concat <axis = 0> ({', '.join(['x'] * 256)}) }}",
    "Pad": """{
        p = Constant <value_ints = [0, 255]> () y = Pad (x, p, x)
    }""",
    "Where": """{
        n = Constant <value_ints = [256]> () c = ConstantOfShape <value = int64[1] {1}> (n)
        b = Cast <to = 9> (c) y = Where (b, x, x)
    }""",
    "StringConcat": """{
        a = StringConcat (x, x) b = StringConcat (a, a) c = StringConcat (b, b) d = StringConcat (c, c)
        e = StringConcat (d, d) f = StringConcat (e, e) g = StringConcat (f, f) y = StringConcat (g, g)
    }""",
    "Scan": """{
        n = Constant <value_ints = [256, 1]> () i = ConstantOfShape (n)
        y2 = Scan <num_scan_inputs = 1, body = b (float[1] s) => (string[1] t) { t = Identity (x) }> (i)
        flat = Constant <value_ints = [-1]> () y = Reshape (y2, flat)
    }""",
}

CHILD = """
import sys
import numpy as np
import onnx_light_ort_host as ort

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))

options = ort.SessionOptions()
options.memory_limit_bytes = 8 << 20
session = ort.InferenceSession(sys.argv[1], options)
feeds = {"x": np.array(["x" * 1_000_000], object)}
before = peak()
try:
    session.run(None, feeds)
except ort.Fail as error:
    print(error)
else:
    print("no error")
assert peak() - before < 24 << 20, f"{peak() - before >> 20} MiB were taken"
"""


@pytest.mark.parametrize("name", GROWING)
def test_text_is_not_taken_before_it_is_charged(name, run_python, tmp_path):
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> g (string[1] x) => (string[M] y) {GROWING[name]}'
    )
    onnx.save(model, tmp_path / "m.onnx")
    message = run_python(CHILD, tmp_path / "m.onnx").stdout
    assert f"({name})" in message
    assert "over the memory limit of 8388608 bytes" in message


# Nodes, and the text that they make from two strings of 100 bytes.
MOVING = {
    "Transpose": ("y = Transpose (x)", 200),
    "Slice": ("s = Constant <value_ints = [0]> () e = Constant <value_ints = [1]> () y = Slice (x, s, e)", 100),
}


@pytest.mark.parametrize("name", MOVING)
def test_moved_text_at_the_limit_and_beyond(name):
    nodes, size = MOVING[name]
    x = np.array([[LONG], ["z" * 100]], object)
    text = f"(string[N, M] x) => (string[A, B] y) {{ {nodes} }}"
    expected = session_of(text, None).run(None, {"x": x})[0]
    size += expected.size * ELEMENT
    for _ in range(2):
        assert session_of(text, size).run(None, {"x": x})[0].tolist() == expected.tolist()
    with pytest.raises(ort.Fail, match=rf"\({name}\): text of strings: .* over the memory limit of {size - 1} bytes"):
        session_of(text, size - 1).run(None, {"x": x})


def test_constants_are_not_folded_into_text_without_end(run_python, tmp_path):
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (string[1] x) => (string[M] y, string[1] z) {'
        f'c = Constant <value_strings = ["{"c" * 1_000_000}"]> () n = Constant <value_ints = [256]> ()'
        "y = Expand (c, n) z = Identity (x) }"
    )
    onnx.save(model, tmp_path / "m.onnx")
    assert "(Expand): text of strings" in run_python(CHILD, tmp_path / "m.onnx").stdout
