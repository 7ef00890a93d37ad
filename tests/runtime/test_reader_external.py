# SPDX-License-Identifier: Apache-2.0
"""External data lies beside the model and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

DumpFile = Callable[[Path], dict[str, Any]]
ARRAY = np.arange(6, dtype=np.float32)


def write_model(folder: Path, **entries: str) -> Path:
    """Write a model with a float[6] initializer in an external file."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[6], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [6])
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [], [output], [tensor])
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a data file whose tensor begins at byte 4, and a second time, misaligned, at 31."""
    inside = tmp_path / "model"
    (inside / "sub").mkdir(parents=True)
    data = b"abcd" + ARRAY.tobytes() + b"xyz" + ARRAY.tobytes()
    (inside / "w.bin").write_bytes(data)
    (inside / "sub" / "w.bin").write_bytes(data)
    (tmp_path / "outside.bin").write_bytes(data)
    return inside


@pytest.mark.parametrize(("location", "offset"), [("w.bin", 4), ("w.bin", 31), ("sub/w.bin", 4), ("./w.bin", 4)])
def test_reads_the_bytes(folder: Path, dump_file: DumpFile, location: str, offset: int) -> None:
    answer = dump_file(write_model(folder, location=location, offset=str(offset), length="24"))
    value = answer["graph"]["values"][0]
    assert bytes.fromhex(value["data"]) == ARRAY.tobytes()
    assert value["external"] == [location, offset, 24]


def test_length_may_be_left_out(folder: Path, dump_file: DumpFile) -> None:
    answer = dump_file(write_model(folder, location="w.bin", offset="31"))
    assert bytes.fromhex(answer["graph"]["values"][0]["data"]) == ARRAY.tobytes()


@pytest.mark.parametrize(("entries", "code", "reason"), [
    ({"location": "../outside.bin", "offset": "4"}, "InvalidGraph", "must not contain '..'"),
    ({"location": "sub/../w.bin", "offset": "4"}, "InvalidGraph", "must not contain '..'"),
    ({"location": "/etc/passwd"}, "InvalidGraph", "must be a relative path"),
    ({"location": ""}, "InvalidGraph", "location is missing"),
    ({}, "InvalidGraph", "location is missing"),
    ({"location": "nothing.bin"}, "NoSuchFile", "nothing.bin"),
    ({"location": "sub"}, "NoSuchFile", "not a regular file"),
    ({"location": "w.bin", "offset": "32"}, "InvalidGraph", "past the end"),
    ({"location": "w.bin", "offset": "9223372036854775807"}, "InvalidGraph", "past the end"),
    ({"location": "w.bin", "offset": "-4"}, "InvalidGraph", "offset must be a number of bytes"),
    ({"location": "w.bin", "offset": "4x"}, "InvalidGraph", "offset must be a number of bytes"),
    ({"location": "w.bin", "length": "20"}, "InvalidGraph", "float[6] needs 24 bytes, got length 20"),
    ({"location": "w.bin", "length": "-1"}, "InvalidGraph", "length must be a number of bytes, got '-1'"),
    ({"location": "w.bin", "length": ""}, "InvalidGraph", "length must be a number of bytes, got ''"),
])  # fmt: skip
def test_refusals(folder: Path, dump_file: DumpFile, entries: dict[str, str], code: str, reason: str) -> None:
    answer = dump_file(write_model(folder, **entries))
    assert answer["code"] == code, answer
    assert "graph.initializer[0]: tensor 'w': external data: " in answer["error"]
    assert reason in answer["error"]


def test_the_name_may_come_behind_what_is_wrong(folder: Path, dump_file: DumpFile) -> None:
    """Fields of a message may have any order; merging two messages puts the name last."""
    path = write_model(folder, location="w.bin", offset="no")
    model = onnx.load(path, load_external_data=False)
    tensor = model.graph.initializer[0]
    tensor.ClearField("name")
    nameless = tensor.SerializeToString()
    whole = nameless + TensorProto(name="last").SerializeToString()
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    graph.ClearField("initializer")

    def field(number: int, content: bytes) -> bytes:
        assert len(content) < 128
        return bytes([number << 3 | 2, len(content)]) + content

    head = onnx.ModelProto(ir_version=10, opset_import=model.opset_import).SerializeToString()
    path.write_bytes(head + field(7, graph.SerializeToString() + field(5, whole)))
    error = dump_file(path)["error"]
    assert "graph.initializer[0]: tensor 'last': external data: offset must be a number" in error


def test_a_link_may_not_lead_outside(folder: Path, dump_file: DumpFile) -> None:
    (folder / "link.bin").symlink_to("../outside.bin")
    answer = dump_file(write_model(folder, location="link.bin", offset="4"))
    assert answer["code"] == "InvalidGraph"
    assert "through a link" in answer["error"]


def test_the_folder_of_a_model_behind_a_link_is_that_of_the_link(
    folder: Path, dump_file: DumpFile, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = write_model(folder, location="w.bin", offset="31")
    assert "graph" in dump_file(model)
    link = tmp_path_factory.mktemp("elsewhere") / "link.onnx"
    link.symlink_to(model)
    assert "w.bin" in dump_file(link)["error"]
    (link.parent / "w.bin").write_bytes((folder / "w.bin").read_bytes())
    assert "graph" in dump_file(link)


def test_a_link_may_stay_inside(folder: Path, dump_file: DumpFile) -> None:
    (folder / "link.bin").symlink_to("sub/w.bin")
    answer = dump_file(write_model(folder, location="link.bin", offset="4"))
    assert bytes.fromhex(answer["graph"]["values"][0]["data"]) == ARRAY.tobytes()


def test_a_pipe_is_no_file(folder: Path, dump_file: DumpFile) -> None:
    os.mkfifo(folder / "pipe")
    answer = dump_file(write_model(folder, location="pipe"))
    assert answer["code"] == "NoSuchFile"
    assert "not a regular file" in answer["error"]


def test_bytes_have_no_folder(folder: Path, dump: Any) -> None:
    answer = dump(onnx.load(write_model(folder, location="w.bin", offset="4"), load_external_data=False))
    assert answer["code"] == "NoSuchFile"
    assert "given as bytes" in answer["error"]
