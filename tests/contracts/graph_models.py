# SPDX-License-Identifier: Apache-2.0
"""Models whose graphs the contract tests look at."""

from __future__ import annotations

import numpy as np
import onnx
from contracts.harness import model_of
from onnx import TensorProto, helper, numpy_helper

NODE = helper.make_node


def tensor(name: str, *elements: float) -> onnx.TensorProto:
    """Return a float vector."""
    return numpy_helper.from_array(np.array(elements, np.float32), name)


def chain(ir_version: int = 8) -> onnx.ModelProto:
    """Return Neg, Add, Mul and LeakyRelu in a row; W is an input with a default, V a constant."""
    nodes = [
        NODE("Neg", ["x"], ["a"], name="neg"),
        NODE("Add", ["a", "W"], ["b"], name="add"),
        NODE("Mul", ["b", "V"], ["c"], name="mul"),
        NODE("LeakyRelu", ["c"], ["y"], name="leaky"),
    ]
    inputs = {"W": [2], "x": [2]} | ({"V": [2]} if ir_version < 4 else {})
    constants = [tensor("W", 1, 2), tensor("V", 3, 4)]
    return model_of(nodes, inputs, ["y", "b"], initializers=constants, ir_version=ir_version)


def branches() -> onnx.ModelProto:
    """Return an If whose branches capture a node's output, a feed, a constant and an input with a default."""
    then = helper.make_graph(
        [NODE("Add", ["x", "W"], ["s"], name="then_add"), NODE("Mul", ["s", "T"], ["t"], name="then_mul")],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
        [tensor("T", 3, 3)],
    )
    other = helper.make_graph(
        [NODE("Sub", ["m", "B"], ["e"], name="else_sub")],
        "else",
        [],
        [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
    )
    nodes = [
        NODE("Neg", ["x"], ["m"], name="neg"),
        NODE("If", ["cond"], ["y"], name="if", then_branch=then, else_branch=other),
    ]
    model = model_of(nodes, {"x": [2], "B": [2]}, ["y"], initializers=[tensor("W", 1, 2), tensor("B", 5, 6)])
    model.graph.input.append(helper.make_tensor_value_info("cond", TensorProto.BOOL, []))
    return model


def loop() -> onnx.ModelProto:
    """Return a Loop whose body reads its own formal inputs and a captured constant."""
    body = helper.make_graph(
        [NODE("Add", ["v", "W"], ["w"], name="body_add"), NODE("Identity", ["go"], ["on"], name="body_go")],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, None),
        ],
    )
    node = NODE("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    count = numpy_helper.from_array(np.array(3, np.int64), "n")
    return model_of([node], {"x": [2]}, ["y"], initializers=[count, tensor("W", 1, 2)])


def crossed() -> onnx.ModelProto:
    """Return a model where a feeds b and c feeds d."""
    nodes = [
        NODE("Neg", ["x"], ["p"], name="a"),
        NODE("Relu", ["p"], ["q"], name="b"),
        NODE("Relu", ["x"], ["r"], name="c"),
        NODE("Neg", ["r"], ["s"], name="d"),
    ]
    return model_of(nodes, {"x": [2]}, ["q", "s"])
