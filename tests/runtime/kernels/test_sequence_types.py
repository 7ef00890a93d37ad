# SPDX-License-Identifier: Apache-2.0
"""A sequence holds elements of one type, whatever way they come in."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import parser


def session_of(text: str) -> ort.InferenceSession:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    return ort.InferenceSession(model.SerializeToString())


@pytest.mark.parametrize("given", ["int8", "string", "double"])
@pytest.mark.parametrize("held", ["float", "string"])
def test_an_element_of_another_type_is_refused_at_preparation(given: str, held: str) -> None:
    text = f"g (seq({held}[k]) s, {given}[k] i) => (seq({held}[k]) z) {{ z = SequenceInsert (s, i) }}"
    if given == held:
        session_of(text)
        return
    with pytest.raises(ort.InvalidGraph, match=r"SequenceInsert.*input 1 \(tensor\): must have the type of the seq"):
        session_of(text)


def test_an_empty_sequence_has_a_type() -> None:
    with pytest.raises(ort.InvalidGraph, match=r"input 1 \(tensor\): must have the type of the sequence's elements"):
        session_of("g (int64[k] i) => (seq(float[k]) z) { e = SequenceEmpty () z = SequenceInsert (e, i) }")


def test_elements_that_are_fed_are_checked() -> None:
    session = session_of("g (seq(float[k]) s) => (float[k] y) { y = ConcatFromSequence <axis: int = 0> (s) }")
    assert session.run(None, {"s": [np.ones(2, np.float32), np.zeros(1, np.float32)]})[0].tolist() == [1, 1, 0]
    with pytest.raises(ort.InvalidArgument, match="element 1: expected float32"):
        session.run(None, {"s": [np.ones(2, np.float32), np.zeros(1, np.int8)]})


@pytest.mark.parametrize(
    ("text", "place", "last"),
    [
        ("(float[k] y) { y = SequenceAt (s, p) }", 1, 1),
        ("(seq(float[k]) y) { y = SequenceErase (s, p) }", 1, 1),
        ("(seq(float[k]) y) { t = Constant <value = float[1] {1}> () y = SequenceInsert (s, t, p) }", 2, 2),
    ],
)
def test_a_position_beyond_the_sequence_is_named(text: str, place: int, last: int) -> None:
    session = session_of(f"g (seq(float[k]) s, int64 p) => {text}")
    for position in (-3, last + 1):
        feeds = {"s": [np.ones(2, np.float32), np.zeros(1, np.float32)], "p": np.array(position)}
        message = rf"input {place} \(position\): must be in \[-2, {last}\] for a sequence of 2, got {position}"
        with pytest.raises(ort.InvalidArgument, match=message):
            session.run(None, feeds)


def test_an_empty_sequence_has_no_position() -> None:
    session = session_of("g (seq(float[k]) s, int64 p) => (float[k] y) { y = SequenceAt (s, p) }")
    with pytest.raises(ort.InvalidArgument, match=r"input 1 \(position\): there is none in an empty sequence, got 0"):
        session.run(None, {"s": [], "p": np.array(0)})


@pytest.mark.parametrize(
    ("new_axis", "shapes", "message"),
    [
        (1, [(2,), (2,), (3,)], r"element 2 must have the extents of element 0, \[2\], got \[3\]"),
        (1, [(2, 1), (2,)], r"element 1 must have the extents of element 0, \[2, 1\], got \[2\]"),
        (0, [(2, 1), (5, 1), (2, 4)], r"element 2 must have .* \[2, 1\], in every axis but 0, got \[2, 4\]"),
        (0, [(2,), (2, 1)], r"element 1 must have .* \[2\], in every axis but 0, got \[2, 1\]"),
    ],
)
def test_an_element_that_cannot_be_joined_is_named_with_its_extents(new_axis, shapes, message) -> None:
    text = f"g (seq(float) s) => (float y) {{ y = ConcatFromSequence <axis: int = 0, new_axis: int = {new_axis}> (s) }}"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    model.graph.input[0].type.sequence_type.elem_type.tensor_type.ClearField("shape")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    session = ort.InferenceSession(model.SerializeToString())
    fine = [np.ones(shapes[0], np.float32)] * 3
    assert session.run(None, {"s": fine})[0].tolist() == (np.stack(fine) if new_axis else np.concatenate(fine)).tolist()
    with pytest.raises(ort.InvalidArgument, match=rf"\(ConcatFromSequence\): input 0 \(input_sequence\): {message}"):
        session.run(None, {"s": [np.ones(shape, np.float32) for shape in shapes]})
