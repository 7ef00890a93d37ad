# SPDX-License-Identifier: Apache-2.0
"""Sequences and optionals as feeds and results."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, TypeProto, helper


def tensor(dtype: object = np.float32, shape: list[int | str] | None = None) -> TypeProto:
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)


STRINGS = helper.make_tensor_type_proto(TensorProto.STRING, None)
sequence = helper.make_sequence_type_proto
optional = helper.make_optional_type_proto


def session_of(
    nodes: list[object], inputs: dict[str, TypeProto], outputs: dict[str, TypeProto]
) -> ort.InferenceSession:
    """Return a session of a model with the given nodes; inputs and outputs map names to types."""
    infos = [[helper.make_value_info(name, kind) for name, kind in given.items()] for given in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return ort.InferenceSession(model.SerializeToString())


def identity(kind: TypeProto) -> ort.InferenceSession:
    return session_of([helper.make_node("Identity", ["x"], ["y"])], {"x": kind}, {"y": kind})


DTYPES = [np.float32, np.int64, np.bool_, np.float16, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sequences_come_back_with_memory_of_their_own(dtype):
    x = [np.array([[0, 1, 1]]).astype(dtype), np.array(1).astype(dtype), np.zeros((0, 2), dtype)]
    session = identity(sequence(tensor(dtype)))
    (y,) = session.run(None, {"x": x})
    (again,) = session.run(None, {"x": tuple(x)})
    assert isinstance(y, list)
    for given, got, other in zip(x, y, again, strict=True):
        assert (got.dtype, got.shape, got.tolist()) == (given.dtype, given.shape, given.tolist())
        assert not np.shares_memory(got, given)
        assert not np.shares_memory(got, other)
        assert got.flags.writeable


def test_two_outputs_share_no_elements():
    kind = sequence(tensor())
    nodes = [helper.make_node("Identity", ["x"], [name]) for name in ("y", "z")]
    x = [np.arange(3, dtype=np.float32)]
    y, z = session_of(nodes, {"x": kind}, {"y": kind, "z": kind}).run(None, {"x": x})
    y[0] += 1
    assert x[0].tolist() == z[0].tolist() == [0, 1, 2]


def test_strings_lists_and_empty_sequences():
    (y,) = identity(sequence(STRINGS)).run(None, {"x": [np.array(["a", "é"], object), ["b"], np.array("", object)]})
    assert [(element.dtype, element.tolist()) for element in y] == [
        (np.dtype(object), ["a", "é"]),
        (np.dtype(object), ["b"]),
        (np.dtype(object), ""),
    ]
    (y,) = identity(sequence(tensor(np.float32))).run(None, {"x": [[1, 2], np.arange(6, dtype=np.float32)[::2]]})
    assert [element.tolist() for element in y] == [[1, 2], [0, 2, 4]]
    assert identity(sequence(tensor())).run(None, {"x": []}) == [[]]


def test_optionals():
    x = np.arange(3, dtype=np.float32)
    session = identity(optional(tensor()))
    assert session.run(None, {"x": None}) == [None]
    (y,) = session.run(None, {"x": x})
    assert y.tolist() == x.tolist()
    assert not np.shares_memory(x, y)
    session = identity(optional(sequence(tensor())))
    assert session.run(None, {"x": None}) == [None]
    assert session.run(None, {"x": []}) == [[]]
    ((y,),) = session.run(None, {"x": [x]})
    assert y.tolist() == x.tolist()


def test_what_an_optional_holds_is_a_value_like_any_other():
    nodes = [helper.make_node("OptionalHasElement", ["x"], ["has"]), helper.make_node("Optional", ["t"], ["made"])]
    session = session_of(
        nodes,
        {"x": optional(tensor()), "t": tensor()},
        {"has": tensor(np.bool_, []), "made": optional(tensor())},
    )
    t = np.float32([1, 2])
    for x, expected in ((None, False), (t, True)):
        has, made = session.run(None, {"x": x, "t": t})
        assert has.item() is expected
        assert made.tolist() == [1, 2]


def test_a_sequence_grows_and_is_read():
    nodes = [
        helper.make_node("SequenceInsert", ["x", "t"], ["longer"]),
        helper.make_node("SequenceLength", ["longer"], ["n"]),
        helper.make_node("SequenceAt", ["longer", "i"], ["at"]),
    ]
    session = session_of(
        nodes,
        {"x": sequence(tensor()), "t": tensor(), "i": tensor(np.int64, [])},
        {"longer": sequence(tensor()), "n": tensor(np.int64, []), "at": tensor()},
    )
    x = [np.float32([1]), np.float32([2, 3])]
    longer, n, at = session.run(None, {"x": x, "t": np.float32([4]), "i": np.array(1, np.int64)})
    assert [element.tolist() for element in longer] == [[1], [2, 3], [4]]
    assert n == 3
    assert at.tolist() == [2, 3]
    for element in [*longer, at]:
        element += 1
    assert [element.tolist() for element in x] == [[1], [2, 3]]


@pytest.mark.parametrize(
    ("kind", "x", "message"),
    [
        (sequence(tensor()), np.zeros(2, np.float32), r"input 'x': expected seq\(tensor\(float\)\) as a list, got nda"),
        (sequence(tensor()), None, r"input 'x': expected seq\(tensor\(float\)\) as a list, got NoneType"),
        (
            sequence(tensor(np.float32, [2])),
            [np.zeros(2, np.float32), np.zeros(3, np.float32)],
            r"input 'x', element 1: expected float32 \[2\], got float32 \[3\]",
        ),
        (
            sequence(tensor()),
            [np.zeros(2, np.int64)],
            r"input 'x', element 0: expected float32( unranked)?, got int64 \[2\]",
        ),
        (sequence(tensor()), [None], "input 'x', element 0: expected float32 .*got NoneType"),
        (optional(tensor()), np.zeros(2, np.int64), r"input 'x': expected float32( unranked)?, got int64 \[2\]"),
        (optional(sequence(tensor())), 1, r"input 'x': expected seq\(tensor\(float\)\) as a list, got int"),
    ],
)
def test_what_does_not_fit_is_named(kind, x, message):
    with pytest.raises(ort.InvalidArgument, match=message):
        identity(kind).run(None, {"x": x})


def test_an_optional_has_to_be_fed_too():
    with pytest.raises(ort.InvalidArgument, match=r"expected all required inputs, got none for \['x'\]"):
        identity(optional(tensor())).run(None, {})
