# SPDX-License-Identifier: Apache-2.0
"""Models whose memory is measured."""

from __future__ import annotations

from pathlib import Path

import onnx
from models import IR_VERSION, OPSET, GraphWriter
from onnx import TensorProto, helper

SHAPE = [1024, 4096]
TENSOR_MIB = 16  # of a float32 tensor of that shape


def large_chain(length: int = 8) -> onnx.ModelProto:
    """Return operators in a row whose result cannot lie where their input does.

    Two tensors live while a node runs, beside what the caller feeds: its input and its output.
    """
    writer = GraphWriter()
    value = "x"
    for i in range(length):
        value = writer.node("Softmax", [value], "y" if i == length - 1 else f"t{i}", axis=i % 2)
    return writer.model({"x": SHAPE}, {"y": SHAPE})


def large_diamonds(count: int = 3) -> onnx.ModelProto:
    """Return diamonds in a row: two branches from one tensor, joined by a sum.

    Three tensors live at most: where a diamond begins and its branches.
    """
    writer = GraphWriter()
    value = writer.node("Softmax", ["x"], "t", axis=0)
    for i in range(count):
        left = writer.node("Softmax", [value], f"left{i}", axis=0)
        right = writer.node("Softmax", [value], f"right{i}", axis=1)
        value = writer.node("Add", [left, right], "y" if i == count - 1 else f"t{i}")
    return writer.model({"x": SHAPE}, {"y": SHAPE})


# With how many tensors live at most, not counting what is fed.
MEMORY = {"large_chain": (large_chain, 2), "large_diamonds": (large_diamonds, 3)}


def write_external(folder: Path, size: int = 16384) -> None:
    """Write `external_1gib`: a product whose [size, size] weights lie in a sparse file, which takes no room."""
    with (folder / "external_1gib.bin").open("wb") as file:
        file.truncate(4 * size * size)
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[size, size], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="external_1gib.bin")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name in "xy")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "external", [x], [y], [weights])
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    (folder / "external_1gib.onnx").write_bytes(model.SerializeToString())
