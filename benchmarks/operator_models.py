# SPDX-License-Identifier: Apache-2.0
"""Models of one operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx
from models import GraphWriter


def conv(
    channels: int, filters: int, size: int, kernel: int, stride: int = 1, pad: int = 0, group: int = 1
) -> onnx.ModelProto:
    """Return one convolution with bias over a square image."""
    writer = GraphWriter()
    weights = writer.weight("w", filters, channels // group, kernel, kernel)
    writer.node(
        "Conv",
        ["x", weights, writer.weight("b", filters)],
        "y",
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[pad] * 4,
        group=group,
    )
    extent = (size + 2 * pad - kernel) // stride + 1
    return writer.model({"x": [1, channels, size, size]}, {"y": [1, filters, extent, extent]})


def matmul(rows: int, inner: int, columns: int) -> onnx.ModelProto:
    """Return a product with a constant matrix on the right."""
    writer = GraphWriter()
    writer.node("MatMul", ["x", writer.weight("w", inner, columns, scale=inner**-0.5)], "y")
    return writer.model({"x": [rows, inner]}, {"y": [rows, columns]})


def one(
    op_type: str, shape: Sequence[int], output: Sequence[int] | None = None, **attributes: object
) -> onnx.ModelProto:
    """Return one node of one input."""
    writer = GraphWriter()
    writer.node(op_type, ["x"], "y", **attributes)
    return writer.model({"x": shape}, {"y": shape if output is None else output})


def layer_normalization(rows: int, columns: int) -> onnx.ModelProto:
    writer = GraphWriter()
    writer.node("LayerNormalization", ["x", writer.weight("scale", columns), writer.weight("bias", columns)], "y")
    return writer.model({"x": [rows, columns]}, {"y": [rows, columns]})


def add(shape: Sequence[int], other: Sequence[int]) -> onnx.ModelProto:
    writer = GraphWriter()
    writer.node("Add", ["x", "z"], "y")
    return writer.model({"x": shape, "z": other}, {"y": shape})


MILLION = [1 << 20]
SQUARE = [1024, 1024]

OPERATORS: dict[str, Callable[[], onnx.ModelProto]] = {
    "matmul_512": lambda: matmul(512, 512, 512),
    "matmul_1024": lambda: matmul(1024, 1024, 1024),
    "matmul_1x1024x1024": lambda: matmul(1, 1024, 1024),
    "matmul_8x512x512": lambda: matmul(8, 512, 512),
    "conv3x3": lambda: conv(64, 64, 56, 3, pad=1),
    "conv1x1": lambda: conv(256, 256, 14, 1),
    "conv_depthwise": lambda: conv(128, 128, 28, 3, pad=1, group=128),
    "conv7x7s2": lambda: conv(3, 64, 224, 7, stride=2, pad=3),
    "softmax": lambda: one("Softmax", [512, 1024], axis=-1),
    "layer_normalization": lambda: layer_normalization(512, 768),
    "reduce_mean": lambda: one("ReduceMean", SQUARE, [1024, 1], axes=[1]),
    "transpose": lambda: one("Transpose", SQUARE, perm=[1, 0]),
    "exp": lambda: one("Exp", MILLION),
    "erf": lambda: one("Erf", MILLION),
    "tanh": lambda: one("Tanh", MILLION),
    "sigmoid": lambda: one("Sigmoid", MILLION),
    "add": lambda: add(MILLION, MILLION),
    "add_row": lambda: add(SQUARE, [1024]),
}
