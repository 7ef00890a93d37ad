# SPDX-License-Identifier: Apache-2.0
"""Operators whose exact results `onnx.reference` computes in float64, with the same node on magnitudes as the scale."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from error_cases.case import Case, Exact, near

Rng = np.random.Generator
Arrays = list[Any]


def reference(
    op_type: str, opset: int, attributes: dict[str, Any], inputs: Sequence[Any], outputs: int = 1
) -> list[np.ndarray]:
    """Return what onnx.reference computes of floats in float64."""
    arrays = {}
    for index, array in enumerate(inputs):
        if array is not None:
            is_float = array.dtype == Exact
            arrays[f"x{index}"] = array.astype(np.float64) if is_float else array
    names = ["" if array is None else f"x{index}" for index, array in enumerate(inputs)]
    results = [f"y{index}" for index in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, results, **attributes)],
        "node",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in arrays.items()
        ],
        [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in results],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ReferenceEvaluator(model).run(None, arrays)
    for value in found:
        assert value.dtype == np.float64, f"{op_type}: onnx.reference computes in {value.dtype}"
    return [np.asarray(value) for value in found]


def made(*shapes: Any, extra: Callable[[Rng, Any], Arrays] | None = None, scale: float = 1) -> Any:
    """Return a function that makes arrays of shapes, None for an omitted one, and more."""

    def make(rng: Rng, dtype: Any) -> Arrays:
        arrays = [None if shape is None else (near(rng, shape, np.float64) * scale).astype(dtype) for shape in shapes]
        return [*arrays, *(extra(rng, dtype) if extra else [])]

    return make


def linear(op_type: str, opset: int, inputs: Any, depth: int = 1, of: int | None = None, **attributes: Any) -> Case:
    """Return a case of what is linear in its inputs, or in the input `of`: the magnitude is the result of magnitudes.

    `depth` is how many terms are summed, whose roundings add up like its square root.
    """

    def exact(*arrays: Any) -> Any:
        sizes = [
            np.abs(a) if a is not None and a.dtype == Exact and of in (None, i) else a for i, a in enumerate(arrays)
        ]
        (y,), (size,) = (reference(op_type, opset, attributes, each) for each in (arrays, sizes))
        return y, np.abs(size) * np.sqrt(Exact(depth))

    variant = ", ".join(f"{key}={value}" for key, value in attributes.items() if isinstance(value, (str, int)))
    return Case(op_type, opset, inputs, exact, attributes, variant)


def scaled(op_type: str, opset: int, inputs: Any, outputs: int = 1, size: Any = None, **attributes: Any) -> Case:
    """Return a case whose magnitude is one, or a function of inputs and results."""

    def exact(*arrays: Any) -> Any:
        found = reference(op_type, opset, attributes, arrays, outputs)
        return [(y, Exact(1) if size is None else size(arrays, y)) for y in found]

    variant = ", ".join(f"{key}={value}" for key, value in attributes.items() if isinstance(value, (str, int)))
    return Case(op_type, opset, inputs, exact, attributes, variant, outputs=outputs)


def greatest(index: int) -> Any:
    """Return a function that gives the greatest magnitude in an input."""
    return lambda arrays, _: np.abs(arrays[index]).max()


def boxes(rng: Rng, dtype: Any) -> Arrays:
    """Return regions of interest and the image of each."""
    corners = rng.uniform(0, 5, (4, 2))
    sizes = rng.uniform(1, 6, (4, 2))
    return [np.concatenate([corners, corners + sizes], 1).astype(dtype), np.array([0, 1, 1, 0], np.int64)]


def labels(rng: Rng, dtype: Any) -> Arrays:
    """Return classes."""
    return [rng.integers(0, 5, (3, 4, 6))]


def normal_logs(rng: Rng, dtype: Any) -> Arrays:
    """Return scores."""
    return [np.asarray(rng.uniform(-3, 3, (3, 5, 4, 6))).astype(dtype)]


def with_labels(rng: Rng, dtype: Any) -> Arrays:
    """Return scores, classes and the weights of the classes."""
    return [*normal_logs(rng, dtype), *labels(rng, dtype), (np.abs(near(rng, (5,), np.float64)) + 0.25).astype(dtype)]


def size_of_loss(_: Any, y: Any) -> Any:
    """A loss here is of the order of one."""
    return 1 + np.abs(y)


def cases() -> Iterator[Case]:
    """Yield them."""
    half = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    yield linear("AveragePool", 22, made((2, 3, 12, 11)), 9, **half)
    yield linear("AveragePool", 22, made((2, 3, 12, 11)), 9, **half, count_include_pad=1)
    yield linear("GlobalAveragePool", 22, made((2, 3, 12, 11)), 132)
    yield linear("GlobalMaxPool", 22, made((2, 3, 12, 11)))
    yield linear("MaxPool", 22, made((2, 3, 12, 11)), **half)
    yield linear("LpPool", 22, made((2, 3, 12, 11)), **half, p=2)
    yield linear("ConvTranspose", 22, made((1, 8, 6, 7), (8, 5, 3, 3), (5,)), 72, strides=[2, 2], kernel_shape=[3, 3])
    yield linear("Col2Im", 18, made((1, 8, 16), extra=lambda rng, dtype: [np.array([5, 5]), np.array([2, 2])]), 4)
    yield scaled("RoiAlign", 22, made((2, 3, 12, 12), extra=boxes), size=greatest(0), output_height=3, output_width=2)
    yield scaled("Det", 22, made((5, 4, 4)), size=lambda arrays, _: np.abs(arrays[0]).sum(-1).prod(-1))
    yield scaled("SoftmaxCrossEntropyLoss", 13, with_labels, size=size_of_loss, reduction="none")
    yield linear("NegativeLogLikelihoodLoss", 22, with_labels, 72, reduction="sum")
