# SPDX-License-Identifier: Apache-2.0
"""The text of strings counts against the memory limit, whoever makes it: at the limit, and one byte beyond."""

from __future__ import annotations

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
    "StringSplit": (  # runs through onnx.reference; the other output is two numbers
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
