# SPDX-License-Identifier: Apache-2.0
"""ConvTranspose against a sum over every pair of an input element and a kernel element."""

from __future__ import annotations

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_light_ort_host as oh
import pytest

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}


def uniform(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    return np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)


def transposed(x: Any, w: Any, strides: Any, dilations: Any, begin: Any, out: Any, group: int) -> np.ndarray:
    """Return the result of extents `out` when `begin` elements are cut off in front of each axis."""
    rank = x.ndim - 2
    channels, filters = x.shape[1] // group, w.shape[1]
    y = np.zeros((x.shape[0], filters * group, *out))
    x, w = x.astype(np.float64), w.astype(np.float64)
    for i in itertools.product(*(range(n) for n in x.shape[2:])):
        for k in itertools.product(*(range(n) for n in w.shape[2:])):
            at = [i[d] * strides[d] + k[d] * dilations[d] - begin[d] for d in range(rank)]
            if not all(0 <= at[d] < out[d] for d in range(rank)):
                continue
            for g in range(group):
                part = slice(g * channels, (g + 1) * channels)
                y[(slice(None), slice(g * filters, (g + 1) * filters), *at)] += (
                    x[(slice(None), part, *i)] @ w[(part, slice(None), *k)]
                )
    return y


# x, w, strides, dilations, pads, output_padding, group
CASES = [
    ((1, 1, 5), (1, 1, 3), [1], [1], [0, 0], [0], 1),
    ((2, 3, 7), (3, 4, 4), [3], [2], [2, 1], [2], 1),
    ((1, 4, 5, 6), (4, 3, 3, 3), [1, 1], [1, 1], [1] * 4, [0, 0], 1),
    ((2, 4, 5, 6), (4, 3, 3, 2), [2, 3], [1, 2], [1, 0, 2, 1], [1, 0], 2),
    ((1, 6, 4, 4), (6, 1, 2, 2), [2, 2], [1, 1], [0] * 4, [0, 0], 6),
    ((1, 2, 3, 3), (2, 2, 2, 2), [4, 4], [1, 1], [0] * 4, [3, 1], 1),
    ((1, 2, 3, 2, 4), (2, 3, 2, 3, 2), [1, 2, 2], [2, 1, 1], [1, 0, 1, 0, 1, 0], [0, 1, 0], 1),
    ((0, 2, 3, 3), (2, 2, 3, 3), [1, 1], [1, 1], [0] * 4, [0, 0], 1),
    # As products: four channels of a group or more.
    ((2, 8, 5, 4), (8, 5, 3, 3), [2, 1], [1, 2], [1, 0, 0, 2], [1, 0], 2),
    ((1, 5, 37), (5, 17, 4), [2], [1], [1, 1], [0], 1),
    ((1, 16, 3, 3), (16, 33, 2, 2), [2, 2], [1, 1], [0] * 4, [0, 0], 1),
    ((2, 4, 2, 3, 2), (4, 2, 1, 2, 3), [1, 3, 2], [1, 1, 2], [0, 1, 1, 0, 0, 1], [0, 2, 0], 1),
    ((1, 9, 2, 2), (9, 3, 1, 1), [3, 1], [1, 1], [0] * 4, [1, 0], 1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_conv_transpose(run_node: Any, rng: Any, case: Any, dtype: Any) -> None:
    x_shape, w_shape, strides, dilations, pads, extra, group = case
    rank = len(strides)
    x, w, b = (uniform(rng, shape, dtype) for shape in (x_shape, w_shape, (w_shape[1] * group,)))
    out = [
        strides[d] * (x_shape[d + 2] - 1)
        + extra[d]
        + (w_shape[d + 2] - 1) * dilations[d]
        + 1
        - pads[d]
        - pads[d + rank]
        for d in range(rank)
    ]
    want = transposed(x, w, strides, dilations, pads[:rank], out, group)
    tolerance = TOLERANCE[np.dtype(dtype).name] * (2 + math.sqrt(np.prod(w_shape)))
    for inputs in ([x, w], [x, w, b]):
        (got,) = run_node(
            "ConvTranspose", inputs, 22, threads=2, strides=strides, dilations=dilations, pads=pads,
            output_padding=extra, group=group, kernel_shape=w_shape[2:],
        )  # fmt: skip
        assert got.dtype == dtype
        assert got.shape == want.shape
        wide = want + b.astype(np.float64).reshape((-1,) + (1,) * rank) if len(inputs) == 3 else want
        np.testing.assert_allclose(got.astype(np.float64), wide, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("edge", [21, 31])
def test_a_kernel_of_many_places(rng: Any, edge: int, threads: int) -> None:
    """All products of one filter would take more than the limit: the kernel's places are taken some at a time."""
    x, w = uniform(rng, (1, 4, 144, 128), np.float32), uniform(rng, (4, 2, edge, edge), np.float32)
    node = onnx.helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[1, 2])
    graph = onnx.helper.make_graph(
        [node],
        "large",
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, a.shape) for name, a in (("x", x), ("w", w))],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
    )
    options = oh.SessionOptions()
    options.intra_op_num_threads = threads
    options.memory_limit_bytes = 30 << 20
    opsets = [onnx.helper.make_opsetid("", 11)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (got,) = oh.InferenceSession(model.SerializeToString(), options).run(None, {"x": x, "w": w})
    want = np.zeros((1, 2, 144 + edge - 1, 2 * 127 + edge))
    for k, kw in itertools.product(range(edge), range(edge)):
        part = want[:, :, k : k + 144, kw : kw + 255 : 2]
        part += np.einsum("bchw,cf->bfhw", x, w[:, :, k, kw], dtype=np.float64)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "NOTSET"])
@pytest.mark.parametrize("size", [8, 9, 10, 13])
@pytest.mark.parametrize("extra", [0, 1])
def test_output_shape(run_node: Any, rng: Any, mode: str, size: int, extra: int) -> None:
    x, w = uniform(rng, (1, 2, 4), np.float32), uniform(rng, (2, 3, 3), np.float32)
    total = max(2 * 3 + extra + 3 - size, 0)
    begin = total // 2 if mode == "SAME_UPPER" else total - total // 2
    (got,) = run_node(
        "ConvTranspose", [x, w], 11, strides=[2], output_shape=[size], output_padding=[extra], auto_pad=mode
    )
    np.testing.assert_allclose(got, transposed(x, w, [2], [1], [begin], [size], 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_automatic_padding(run_node: Any, rng: Any, mode: str, kernel: int) -> None:
    x, w = uniform(rng, (1, 2, 4), np.float32), uniform(rng, (2, 3, kernel), np.float32)
    full = 2 * 3 + kernel
    size = full if mode == "VALID" else 8
    total = max(full - size, 0)
    begin = total // 2 if mode == "SAME_UPPER" else total - total // 2
    (got,) = run_node("ConvTranspose", [x, w], 1, strides=[2], auto_pad=mode)
    np.testing.assert_allclose(got, transposed(x, w, [2], [1], [begin], [size], 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("shapes", "attributes", "message"),
    [
        (((1, 3, 5), (4, 2, 3)), {}, r"input 1 \(W\).*channels"),
        (((1, 3, 5), (3, 2, 3)), {"group": 2}, r"input 1 \(W\).*group"),
        (((1, 3, 5), (3, 2, 3, 3)), {}, r"input 1 \(W\).*rank"),
        (((1, 3, 5), (3, 2, 0)), {}, r"input 1 \(W\).*kernel"),
        (((1, 3, 5), (3, 2, 3), (3,)), {}, r"input 2 \(B\).*\[2\]"),
        (((1, 3, 1), (3, 2, 2)), {"pads": [2, 1]}, "padding takes more"),
        (((1, 3, 5), (3, 2, 3)), {"output_shape": [1, 2]}, "output_shape"),
        (((1, 3, 5), (3, 2, 3)), {"output_padding": [-1]}, "output_padding"),
        (((1, 3, 5), (3, 2, 3)), {"kernel_shape": [2]}, "kernel_shape"),
        (((1, 1, 5), (1, 2**40, 0)), {"group": 2**30, "kernel_shape": [1]}, r"input 1 \(W\)"),
    ],
)
def test_conv_transpose_refuses(run_node: Any, shapes: Any, attributes: Any, message: str) -> None:
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(Exception, match=message):
        run_node("ConvTranspose", arrays, 11, unranked=True, **attributes)
