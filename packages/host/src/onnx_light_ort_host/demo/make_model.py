# SPDX-License-Identifier: Apache-2.0
"""Writes the model of the demo: y = relu(AddTwo(x * x) - 6)."""

import sys
from pathlib import Path

from onnx import TensorProto, checker, helper


def main(path: str) -> None:
    """Writes the model to `path`."""
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"], "square"),
        helper.make_node("AddTwo", ["square"], ["more"], "add_two", domain="onnx_light_ort.demo"),
        helper.make_node("Sub", ["more", "six"], ["less"], "minus_six"),
        helper.make_node("Relu", ["less"], ["y"], "relu"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", "columns"]) for name in "xy")
    six = helper.make_tensor("six", TensorProto.FLOAT, [], [6.0])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("onnx_light_ort.demo", 1)]
    model = helper.make_model(
        helper.make_graph(nodes, "demo", [x], [y], [six]), opset_imports=opsets, ir_version=8, producer_name="demo"
    )
    checker.check_model(model)
    Path(path).write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
