# SPDX-License-Identifier: Apache-2.0
"""What one more native node costs once a session has warmed up: no memory, and no lock but to wake threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from run_costs import more_for_the_longer

COPIES = (2, 12)
LOOPS = 4  # most loops over threads that a node has
Nodes = list[onnx.NodeProto]


class Writer:
    """Collects the nodes and weights of a chain of equal parts."""

    def __init__(self) -> None:
        self.nodes: Nodes = []
        self.initializers: list[onnx.TensorProto] = []
        self.rng = np.random.default_rng(3)

    def weight(self, *shape: int) -> str:
        return self.constant((self.rng.standard_normal(shape) * 0.1).astype(np.float32))

    def constant(self, value: Any) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [output], **attributes))
        return output


def convolutions(w: Writer, x: str) -> str:
    """A residual block, with pooling that keeps the extents."""
    first = w.node("Relu", w.node("Conv", x, w.weight(16, 16, 3, 3), w.weight(16), pads=[1] * 4))
    second = w.node("Conv", first, w.weight(16, 16, 1, 1), w.weight(16))
    third = w.node("Conv", second, w.weight(16, 1, 3, 3), pads=[1] * 4, group=16)
    pooled = w.node("MaxPool", w.node("Relu", w.node("Add", third, x)), kernel_shape=[3, 3], pads=[1] * 4)
    return w.node("AveragePool", pooled, kernel_shape=[3, 3], pads=[1] * 4)


def transformer(w: Writer, x: str) -> str:
    """A block of attention and a perceptron, from single nodes."""
    split, joined = w.constant([2, 16, 4, 16]), w.constant([2, 16, 64])
    heads = [w.node("Reshape", w.node("MatMul", x, w.weight(64, 64)), split) for _ in range(3)]
    query, value = (w.node("Transpose", heads[i], perm=[0, 2, 1, 3]) for i in (0, 2))
    scores = w.node("MatMul", query, w.node("Transpose", heads[1], perm=[0, 2, 3, 1]))
    seen = w.node("MatMul", w.node("Softmax", w.node("Mul", scores, w.constant(np.float32(0.25)))), value)
    flat = w.node("Reshape", w.node("Transpose", seen, perm=[0, 2, 1, 3]), joined)
    normal = w.node("LayerNormalization", w.node("Add", flat, x), w.weight(64), w.weight(64))
    hidden = w.node("Gelu", w.node("Add", w.node("MatMul", normal, w.weight(64, 128)), w.weight(128)))
    return w.node("Add", w.node("MatMul", hidden, w.weight(128, 64)), normal)


def attention(w: Writer, x: str) -> str:
    return w.node("Attention", x, x, x, q_num_heads=4, kv_num_heads=4)


def lstm(w: Writer, x: str) -> str:
    made = w.node("LSTM", x, w.weight(1, 256, 64), w.weight(1, 256, 64), hidden_size=64)
    return w.node("Squeeze", made, w.constant([1]))


def elementwise_tree(w: Writer, x: str) -> str:
    leaves = [w.node(op, x) for op in ("Exp", "Tanh", "Sigmoid", "Erf", "Abs")]
    total = leaves[0]
    for leaf in leaves[1:]:
        total = w.node("Add", w.node("Mul", total, w.constant(np.float32(0.5))), leaf)
    return w.node("Clip", total, w.constant(np.float32(-1)), w.constant(np.float32(1)))


def dft(w: Writer, x: str) -> str:
    return w.node("DFT", x, "", w.constant(1))


def dft_of_a_prime_length(w: Writer, x: str) -> str:
    return w.node("Slice", w.node("DFT", x, w.constant(37), w.constant(1)), *map(w.constant, ([0], [30], [1])))


def stft(w: Writer, x: str) -> str:
    return w.node("Reshape", w.node("STFT", x, w.constant(16), "", w.constant(16), onesided=0), w.constant([4, 48, 2]))


def tile(w: Writer, x: str) -> str:
    parts = w.node("Tile", x, w.constant([2, 3, 2, 2]))
    return w.node("Slice", parts, w.constant([0] * 4), w.constant([1, 16, 20, 20]))


def branches(op_type: str) -> onnx.GraphProto:
    result = helper.make_tensor_value_info("r", 1, None)
    return helper.make_graph([helper.make_node(op_type, ["x"], ["r"])], op_type, [], [result])


def condition(w: Writer, x: str) -> str:
    made = w.node("If", w.constant(True), then_branch=branches("Relu"), else_branch=branches("Neg"))
    for branch in w.nodes[-1].attribute:
        branch.g.node[0].input[0] = x
    return made


def loop(w: Writer, x: str) -> str:
    """A value that is carried through five turns, and one that is collected."""
    info = helper.make_tensor_value_info
    inputs = [info("turn", 7, []), info("goes", 9, []), info("v", 1, None)]
    outputs = [info("on", 9, []), info("next", 1, None), info("kept", 1, None)]
    nodes = [
        helper.make_node("Identity", ["goes"], ["on"]),
        helper.make_node("Tanh", ["v"], ["next"]),
        helper.make_node("Neg", ["v"], ["kept"]),
    ]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    name = f"t{len(w.nodes)}"
    w.nodes.append(helper.make_node("Loop", [w.constant(5), "", x], [name, f"{name}_kept"], body=body))
    return name


def scan(w: Writer, x: str) -> str:
    """A sum that goes along the first axis."""
    info = helper.make_tensor_value_info
    inputs = [info("s", 1, [128]), info("v", 1, [128])]
    outputs = [info("total", 1, [128]), info("kept", 1, [128])]
    nodes = [helper.make_node("Add", ["s", "v"], ["total"]), helper.make_node("Tanh", ["total"], ["kept"])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    name = f"t{len(w.nodes)}"
    zeros = w.constant(np.zeros(128, np.float32))
    w.nodes.append(helper.make_node("Scan", [zeros, x], [f"{name}_total", name], body=body, num_scan_inputs=1))
    return name


Part = Callable[[Writer, str], str]
PARTS: list[tuple[Part, list[int]]] = [
    (convolutions, [1, 16, 20, 20]),
    (transformer, [2, 16, 64]),
    (attention, [2, 16, 64]),
    (lstm, [7, 3, 64]),
    (elementwise_tree, [64, 128]),
    (dft, [2, 30, 2]),
    (dft_of_a_prime_length, [2, 30, 2]),
    (stft, [4, 48, 2]),
    (tile, [1, 16, 20, 20]),
    (condition, [64, 128]),
    (loop, [64, 128]),
    (scan, [16, 128]),
]


def model(part: Part, shape: list[int], copies: int) -> onnx.ModelProto:
    """Return a chain of equal parts."""
    writer, value = Writer(), "x"
    for _ in range(copies):
        value = part(writer, value)
    graph = helper.make_graph(
        writer.nodes,
        "chain",
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info(value, 1, None)],
        writer.initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)


@pytest.mark.interposes
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("part", "shape"), PARTS, ids=[part.__name__ for part, _ in PARTS])
def test_a_native_node_takes_no_memory_and_no_lock(run_python, fixtures, tmp_path, part, shape, threads):
    made = [model(part, shape, copies) for copies in COPIES]
    paths = [tmp_path / f"{copies}.onnx" for copies in COPIES]
    for path, one in zip(paths, made, strict=True):
        onnx.save(one, path)
    allocations, locks = more_for_the_longer(run_python, fixtures, paths, threads=threads)
    assert allocations == 0
    if threads == 1:
        assert locks == 0
    else:
        # A loop locks once to wake a thread that sleeps, and the thread does before it sleeps.
        (more,) = [len(long.graph.node) - len(short.graph.node) for short, long in pairwise(made)]
        turns = 5 if part is loop else 16 if part is scan else 1
        assert locks <= 2 * LOOPS * more * turns
