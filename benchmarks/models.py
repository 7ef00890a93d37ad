# SPDX-License-Identifier: Apache-2.0
"""The models of the benchmarks: small, made here, the same weights every time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


@dataclass
class GraphWriter:
    """Collects the nodes and weights of one model."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(20))
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)

    def weight(self, name: str, *shape: int, scale: float | None = None) -> str:
        """Add a random float32 weight; by default its scale keeps activations of the order of one."""
        if scale is None:
            fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 1
            scale = 1.0 / float(np.sqrt(fan_in))
        return self.constant(name, (self.rng.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, name: str, array: np.ndarray) -> str:
        """Add an initializer and return its name."""
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op_type: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: object) -> str:
        """Add a node with one output and return the name of that output."""
        name = f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, domain=domain, **attributes))
        return output

    def model(
        self, inputs: dict[str, Sequence[int]], outputs: dict[str, Sequence[int]], domains: Sequence[str] = ()
    ) -> onnx.ModelProto:
        """Close the graph: all inputs and outputs are float32 tensors."""
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "benchmark",
            [info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
            [info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self.initializers,
        )
        imports = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in domains)]
        return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)


def chain(op_type: str, length: int, domain: str = "", elements: int = 4, **attributes: object) -> onnx.ModelProto:
    """Return `length` unary nodes in a row on a float32 [1, elements] tensor."""
    writer = GraphWriter()
    value = "x"
    for i in range(length):
        value = writer.node(op_type, [value], "y" if i == length - 1 else f"t{i}", domain=domain, **attributes)
    return writer.model({"x": [1, elements]}, {"y": [1, elements]}, [domain] if domain else [])


def mlp(batch: int) -> onnx.ModelProto:
    """Return a perceptron 784-512-512-10 with ReLU."""
    writer = GraphWriter()
    value = "x"
    sizes = (784, 512, 512, 10)
    for i, (rows, columns) in enumerate(itertools.pairwise(sizes)):
        weight = writer.weight(f"w{i}", rows, columns, scale=1.0 / float(np.sqrt(rows)))
        last = i == len(sizes) - 2
        value = writer.node("Gemm", [value, weight, writer.weight(f"b{i}", columns)], "y" if last else f"h{i}")
        if not last:
            value = writer.node("Relu", [value], f"r{i}")
    return writer.model({"x": [batch, sizes[0]]}, {"y": [batch, sizes[-1]]})


def cnn() -> onnx.ModelProto:
    """Return a small residual network on 3x64x64: a stem and three stages of two blocks."""
    writer = GraphWriter()

    def layer(value: str, name: str, inputs: int, outputs: int, kernel: int, stride: int, relu: bool) -> str:
        weight = writer.weight(f"{name}_w", outputs, inputs, kernel, kernel)
        bias = writer.weight(f"{name}_b", outputs, scale=0.1)
        value = writer.node(
            "Conv",
            [value, weight, bias],
            f"{name}_c",
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
        )
        return writer.node("Relu", [value], f"{name}_r") if relu else value

    value, channels = layer("x", "stem", 3, 32, 3, 2, True), 32
    for stage, width in enumerate((32, 64, 128)):
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            name = f"s{stage}b{block}"
            main = layer(value, f"{name}_1", channels, width, 3, stride, True)
            main = layer(main, f"{name}_2", width, width, 3, 1, False)
            same = stride == 1 and channels == width
            shortcut = value if same else layer(value, f"{name}_d", channels, width, 1, stride, False)
            value = writer.node("Relu", [writer.node("Add", [main, shortcut], f"{name}_s")], f"{name}_o")
            channels = width
    value = writer.node("Flatten", [writer.node("GlobalAveragePool", [value], "pool")], "flat")
    writer.node("Gemm", [value, writer.weight("fc_w", channels, 10), writer.weight("fc_b", 10)], "y")
    return writer.model({"x": [1, 3, 64, 64]}, {"y": [1, 10]})


def transformer(length: int = 128, width: int = 256, heads: int = 4, hidden: int = 1024) -> onnx.ModelProto:
    """Return one pre-norm encoder block: attention and a Gelu feed-forward layer."""
    writer = GraphWriter()
    split = writer.constant("split", np.array([1, length, heads, width // heads], np.int64))
    merge = writer.constant("merge", np.array([1, length, width], np.int64))

    def scalar(name: str, number: float) -> str:
        return writer.constant(name, np.array(number, np.float32))

    def linear(value: str, name: str, rows: int, columns: int) -> str:
        weight = writer.weight(f"{name}_w", rows, columns, scale=1.0 / float(np.sqrt(rows)))
        product = writer.node("MatMul", [value, weight], f"{name}_m")
        return writer.node("Add", [product, writer.weight(f"{name}_b", columns, scale=0.1)], name)

    def norm(value: str, name: str) -> str:
        scale, bias = writer.weight(f"{name}_g", width), writer.weight(f"{name}_be", width)
        return writer.node("LayerNormalization", [value, scale, bias], name, axis=-1, epsilon=1e-5)

    normed = norm("x", "norm1")
    parts = {}
    for part, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        shaped = writer.node("Reshape", [linear(normed, part, width, width), split], f"{part}_s")
        parts[part] = writer.node("Transpose", [shaped], f"{part}_t", perm=perm)
    scores = writer.node("MatMul", [parts["q"], parts["k"]], "scores")
    scaled = writer.node("Div", [scores, scalar("root", float(np.sqrt(width // heads)))], "scaled")
    attention = writer.node("Softmax", [scaled], "attention", axis=-1)
    context = writer.node("MatMul", [attention, parts["v"]], "context")
    context = writer.node("Transpose", [context], "context_t", perm=[0, 2, 1, 3])
    projected = linear(writer.node("Reshape", [context, merge], "context_m"), "out", width, width)
    residual = writer.node("Add", ["x", projected], "residual")
    inner = linear(norm(residual, "norm2"), "ff1", width, hidden)
    erf = writer.node("Erf", [writer.node("Div", [inner, scalar("root2", float(np.sqrt(2.0)))], "ff1_s")], "ff1_e")
    gate = writer.node("Mul", [inner, writer.node("Add", [erf, scalar("one", 1.0)], "ff1_a")], "ff1_g")
    gelu = writer.node("Mul", [gate, scalar("half", 0.5)], "gelu")
    writer.node("Add", [residual, linear(gelu, "ff2", hidden, width)], "y")
    return writer.model({"x": [1, length, width]}, {"y": [1, length, width]})


def elementwise_tree(size: int = 1 << 20) -> onnx.ModelProto:
    """Return ten elementwise operators on two vectors."""
    writer = GraphWriter()
    total = writer.node("Add", ["x", "z"], "total")
    product = writer.node("Mul", ["x", "z"], "product")
    gate = writer.node("Sigmoid", [writer.node("Relu", [writer.node("Sub", [total, product], "d")], "r")], "gate")
    gated = writer.node("Mul", [gate, total], "gated")
    squashed = writer.node("Tanh", [product], "squashed")
    summed = writer.node("Add", [gated, squashed], "summed")
    writer.node("Div", [summed, writer.node("Exp", [squashed], "grown")], "y")
    return writer.model({"x": [size], "z": [size]}, {"y": [size]})


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "mlp_b1": lambda: mlp(1),
    "mlp_b64": lambda: mlp(64),
    "cnn": cnn,
    "transformer": transformer,
    "elementwise_tree": elementwise_tree,
}


def feeds(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Return random inputs of the declared shapes, the same every time."""
    rng = np.random.default_rng(30)
    weights = {tensor.name for tensor in model.graph.initializer}
    return {
        value.name: rng.standard_normal([d.dim_value for d in value.type.tensor_type.shape.dim]).astype(np.float32)
        for value in model.graph.input
        if value.name not in weights
    }
