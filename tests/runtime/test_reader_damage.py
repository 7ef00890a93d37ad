# SPDX-License-Identifier: Apache-2.0
"""Damaged models give an error or a graph: never a crash, and never more memory than their size justifies."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

CODES = {"InvalidProtobuf", "InvalidGraph", "NotImplemented", "NoSuchFile", "Fail"}


def varied_model() -> onnx.ModelProto:
    """Return a model with something of everything: subgraphs, a function, tensors, types, metadata."""
    weight = numpy_helper.from_array(np.ones((2, 2), np.float32), "w")
    branch = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["b"])], "branch", [], [helper.make_tensor_value_info("b", 1, None)]
    )
    function = helper.make_function(
        "local", "F", ["a"], ["c"], [helper.make_node("Neg", ["a"], ["c"])], [helper.make_opsetid("", 21)], ["k"]
    )
    nodes = [
        helper.make_node("Constant", [], ["cond"], value=helper.make_tensor("t", TensorProto.BOOL, [], [1])),
        helper.make_node("If", ["cond"], ["i"], then_branch=branch, else_branch=branch),
        helper.make_node("F", ["i"], ["f"], domain="local", name="call", k=3),
        helper.make_node("SequenceConstruct", ["f", "x"], ["s"]),
        helper.make_node("Reshape", ["f", "shape"], ["r"]),
    ]
    sequence = helper.make_tensor_sequence_value_info("s", 1, None)
    shape = TensorProto(name="shape", data_type=TensorProto.INT64, dims=[1], int64_data=[-1])
    names = TensorProto(name="names", data_type=TensorProto.STRING, dims=[2], string_data=[b"a", b"b"])
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", 2])],
        [sequence, helper.make_tensor_value_info("r", 1, None)],
        [weight, shape, names],
    )
    model = helper.make_model(
        graph, functions=[function], opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    )
    model.metadata_props.add(key="k", value="v")
    return model


def check(answer: dict[str, Any]) -> None:
    assert "graph" in answer or (answer["code"] in CODES and answer["error"]), answer


@pytest.fixture(scope="module")
def data() -> bytes:
    return varied_model().SerializeToString()


def test_the_model_itself_is_good(limited_dump: Any, data: bytes) -> None:
    assert "graph" in limited_dump(data)


def test_cut_at_every_byte(limited_dump: Any, data: bytes) -> None:
    for size in range(len(data)):
        check(limited_dump(data[:size]))


def test_every_byte_changed(limited_dump: Any, data: bytes) -> None:
    for position in range(len(data)):
        for change in (0x01, 0x80, 0xFF, data[position]):
            check(limited_dump(data[:position] + bytes([data[position] ^ change]) + data[position + 1 :]))


def test_random_damage(limited_dump: Any, data: bytes) -> None:
    generator = random.Random(20240229)
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(generator.randint(1, 6)):
            kind = generator.randrange(3)
            at = generator.randrange(len(damaged))
            if kind == 0:
                damaged[at] = generator.randrange(256)
            elif kind == 1:
                del damaged[at : at + generator.randint(1, 8)]
            else:
                damaged[at:at] = generator.randbytes(generator.randint(1, 8))
        check(limited_dump(bytes(damaged)))


def to_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(tag: bytes, content: bytes) -> bytes:
    """Return a length-delimited field."""
    return tag + to_varint(len(content)) + content


@pytest.mark.parametrize(("data", "reason"), [
    (b"", "no bytes"),
    (b"Not a model, but a text that somebody saved under a wrong name.\n", "not an ONNX model"),
    (b"\x08\x0a", "no graph"),
    (b"\x3a\xff\xff\xff\xff\x0f", "graph at byte 0: the length runs past the end of the message, got 4294967295"),
    (b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "the length runs past the end"),
    (b"\x08" + b"\xff" * 10 + b"\x01", "ir_version at byte 0: a number does not fit 64 bits"),
    (b"\x08\xff", "the message ends inside a number"),
    (b"\x3b\x3c", "groups are not part of the format"),
    (b"\x3f", "no such wire type, got 7"),
    (b"\x00", "no field has that number, got 0"),
    (b"\x38\x01", "graph at byte 0: wire type 2 expected, got 0"),
    (b"\x3a\x02\x0a\x05", "graph.node"),
    (b"\x3a\x04\x0a\x02\x0a\x00", "graph.node[0].op_type at byte"),
    (b"\x3a\x08\x5a\x06\x0a\x04a\x00bc", "graph.input[0].name at byte 4: a NUL byte inside a name"),
])  # fmt: skip
def test_errors_name_the_place(limited_dump: Any, data: bytes, reason: str) -> None:
    answer = limited_dump(data)
    assert answer["code"] == "InvalidProtobuf"
    assert answer["error"].startswith("not an ONNX model: ")
    assert reason in answer["error"]


def test_deep_nesting(limited_dump: Any) -> None:
    """A sequence of sequences of sequences."""
    types = b""
    for _ in range(10000):
        types = field(b"\x22", field(b"\x0a", types))
    info = b"\x0a\x01x\x12" + to_varint(len(types)) + types
    graph = b"\x5a" + to_varint(len(info)) + info
    answer = limited_dump(b"\x3a" + to_varint(len(graph)) + graph)
    assert answer["code"] == "InvalidProtobuf"
    assert "nest too deeply" in answer["error"]


def test_many_empty_messages(limited_dump: Any) -> None:
    """A message of two bytes must not cost hundreds: 8 MB of them fit the limit, or are refused at the first."""
    for tag in (b"\x0a", b"\x2a", b"\x5a", b"\x6a"):
        graph = (tag + b"\x00") * (4 << 20)
        check(limited_dump(b"\x3a" + to_varint(len(graph)) + graph))


def function_bomb(levels: int) -> onnx.ModelProto:
    """Return a model whose functions each call the next one twice."""
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    functions = []
    for level in range(levels):
        callee, domain = (f"F{level + 1}", "local") if level + 1 < levels else ("Neg", "")
        body = [
            helper.make_node(callee, ["a"], ["b"], domain=domain),
            helper.make_node(callee, ["b"], ["c"], domain=domain),
        ]
        functions.append(helper.make_function("local", f"F{level}", ["a"], ["c"], body, imports))
    graph = helper.make_graph(
        [helper.make_node("F0", ["x"], ["y"], domain="local")],
        "g",
        [helper.make_tensor_value_info("x", 1, [1])],
        [helper.make_tensor_value_info("y", 1, [1])],
    )
    return helper.make_model(graph, functions=functions, opset_imports=imports)


def test_functions_that_double(dump: Any) -> None:
    assert len(dump(function_bomb(8))["graph"]["nodes"]) == 2**8
    answer = dump(function_bomb(40))
    assert answer["code"] == "NotImplemented"
    assert "too large once functions are inlined" in answer["error"]


def test_file_errors_name_the_file(tmp_path: Path, dump_file: Callable[[Path], dict[str, Any]]) -> None:
    text = tmp_path / "readme.onnx"
    text.write_text("hello")
    answer = dump_file(text)
    assert answer["code"] == "InvalidProtobuf"
    assert answer["error"].startswith(f"{text}: not an ONNX model: ")
    for path in (tmp_path, tmp_path / "missing.onnx"):
        answer = dump_file(path)
        assert answer["code"] == "NoSuchFile"
        assert str(path) in answer["error"]
