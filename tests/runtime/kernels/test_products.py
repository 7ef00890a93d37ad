# SPDX-License-Identifier: Apache-2.0
"""MatMul, Gemm and Conv, pooling included, against numpy in float64 or direct sums."""

from __future__ import annotations

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from convolutions import convolve, windows
from onnx import TensorProto

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int32, np.int64, np.uint32, np.uint64]
TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}


def uniform(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    return np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)


def close(got: np.ndarray, want: np.ndarray, depth: int) -> None:
    assert got.shape == want.shape
    tolerance = TOLERANCE[got.dtype.name] * (2 + math.sqrt(depth))
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


MATRICES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((1, 1), (1, 1)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 6)),
    ((1, 2, 3, 4), (3, 1, 4, 2)),
    ((4,), (2, 4, 5)),
    ((2, 3, 4), (4,)),
    ((2, 0), (0, 3)),
    ((0, 3), (3, 2)),
    ((2, 3), (3, 0)),
    ((0, 2, 3), (3, 4)),
    ((2, 3, 0), (2, 0, 4)),
    ((1, 70), (70, 1000)),
    ((2, 1, 70), (2, 70, 40)),
    ((65, 130), (130, 97)),
    ((7, 900), (900, 33)),
    ((3, 17, 40), (3, 40, 50)),
]


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 7, 12, 13, 25, 49, 96, 97, 98, 193])
def test_matmul_does_not_depend_on_threads(run_node: Any, rng: Any, rows: int) -> None:
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, 900), (900, 67)))
    alone, *others = (run_node("MatMul", [a, b], 13, constants=[1], threads=n)[0] for n in (1, 2, 3, 7))
    np.testing.assert_allclose(alone, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=2e-4)
    for other in others:
        assert other.tobytes() == alone.tobytes()


@pytest.mark.parametrize("shapes", MATRICES, ids=str)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_matmul(run_node: Any, rng: Any, shapes: Any, constant: bool, dtype: Any) -> None:
    a, b = (uniform(rng, shape, dtype) for shape in shapes)
    (got,) = run_node("MatMul", [a, b], 13, constants=[1] if constant else [], threads=2)
    assert got.dtype == dtype
    close(got, np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64))), a.shape[-1])


@pytest.mark.parametrize("shapes", MATRICES[:17], ids=str)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_matmul_of_integers_wraps(run_node: Any, rng: Any, shapes: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    a, b = (np.asarray(rng.integers(info.min, info.max, shape, dtype=dtype)) for shape in shapes)
    (got,) = run_node("MatMul", [a, b], 13)
    with np.errstate(over="ignore"):
        want = np.asarray(np.matmul(a, b))
    assert got.dtype == dtype
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("shapes", [((3, 4), (5, 6)), ((), (3,)), ((2, 3, 4), (3, 4, 5)), ((4,), (3,))], ids=str)
def test_matmul_refuses(run_node: Any, shapes: Any) -> None:
    a, b = (np.ones(shape, np.float32) for shape in shapes)
    with pytest.raises(Exception, match="input"):
        run_node("MatMul", [a, b], 13, unranked=True)


@pytest.mark.parametrize("transposed", list(itertools.product([0, 1], repeat=2)))
@pytest.mark.parametrize("extents", [(3, 4, 5), (1, 40, 33), (30, 1, 7), (65, 97, 130), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, np.int32, np.uint64])
def test_gemm(run_node: Any, rng: Any, transposed: Any, extents: Any, constant: bool, dtype: Any) -> None:
    m, k, n = extents
    integer = np.dtype(dtype).kind in "iu"

    def make(shape: Any) -> np.ndarray:
        return np.asarray(rng.integers(0, 9, shape)).astype(dtype) if integer else uniform(rng, shape, dtype)

    a = make((k, m) if transposed[0] else (m, k))
    b = make((n, k) if transposed[1] else (k, n))
    wide = (a.T if transposed[0] else a).astype(np.float64) @ (b.T if transposed[1] else b).astype(np.float64)
    for shape in (None, (m, n), (n,), (1, n), (m, 1), (), (1,), (1, 1)):
        for alpha, beta in ((1.0, 1.0), (2.0, 3.0), (0.5, 0.0)):
            if integer and alpha == 0.5:
                continue
            inputs = [a, b] if shape is None else [a, b, make(shape)]
            want = alpha * wide + (0 if shape is None else beta * inputs[2].astype(np.float64))
            (got,) = run_node(
                "Gemm", inputs, 13, constants=[1] if constant else [], threads=2,
                transA=transposed[0], transB=transposed[1], alpha=alpha, beta=beta,
            )  # fmt: skip
            assert got.dtype == dtype
            if integer:
                assert got.tolist() == want.astype(dtype).tolist()
            else:
                close(got, want, k)


@pytest.mark.parametrize("opset", [1, 6])
def test_gemm_before_it_broadcast(run_node: Any, rng: Any, opset: int) -> None:
    a, b, full, row = (uniform(rng, shape, np.float64) for shape in ((3, 4), (4, 6), (3, 6), (6,)))
    (got,) = run_node("Gemm", [a, b, full], opset, beta=2.0)
    close(got, a @ b + 2 * full, 4)
    (got,) = run_node("Gemm", [a, b, row], opset, broadcast=1)
    close(got, a @ b + row, 4)
    with pytest.raises(Exception, match=r"input 2 \(C\): must have extents \[3, 6\] without broadcast"):
        run_node("Gemm", [a, b, row], opset, unranked=True)


def test_gemm_of_integers_wraps(run_node: Any) -> None:
    a, b = np.array([[2**31 - 1]], np.int32), np.array([[3]], np.int32)
    assert run_node("Gemm", [a, b], 13, alpha=2.0)[0].tolist() == [[-6]]  # 6 * 2**31 - 6
    assert run_node("Gemm", [a, b], 13, alpha=0.5)[0].tolist() == [[2**30 - 2]]  # half of what wrapped to 2**31 - 3
    assert run_node("Gemm", [a, b], 13, alpha=1.5e10)[0].tolist() == [[2**31 - 1]]


@pytest.mark.parametrize("bias", [(5,), (4, 1), (2, 3, 1)])
def test_gemm_refuses_a_bias(run_node: Any, bias: Any) -> None:
    arrays = [np.ones(shape, np.float32) for shape in ((3, 4), (4, 6), bias)]
    with pytest.raises(Exception, match=r"input 2 \(C\)"):
        run_node("Gemm", arrays, 13, unranked=True)


# x, w, strides, dilations, pads, group
CONVOLUTIONS = [
    ((1, 1, 5), (1, 1, 3), [1], [1], [0, 0], 1),
    ((2, 3, 20), (4, 3, 5), [2], [2], [3, 1], 1),
    ((1, 4, 7, 9), (8, 4, 3, 3), [1, 1], [1, 1], [1, 1, 1, 1], 1),
    ((2, 3, 12, 11), (5, 3, 3, 2), [2, 3], [1, 2], [0, 1, 2, 3], 1),
    ((1, 16, 14, 14), (24, 16, 1, 1), [1, 1], [1, 1], [0] * 4, 1),
    ((1, 16, 14, 14), (24, 16, 1, 1), [2, 2], [1, 1], [0] * 4, 1),
    ((1, 6, 13, 40), (6, 1, 3, 3), [1, 1], [1, 1], [1] * 4, 6),
    ((2, 6, 13, 17), (12, 1, 3, 3), [2, 2], [1, 1], [1] * 4, 6),
    ((1, 8, 9, 9), (12, 4, 3, 3), [1, 1], [1, 1], [1] * 4, 2),
    ((1, 3, 40, 40), (16, 3, 7, 7), [2, 2], [1, 1], [3] * 4, 1),
    ((1, 70, 9, 9), (20, 70, 3, 3), [1, 1], [1, 1], [1] * 4, 1),
    ((1, 2, 5, 6, 7), (4, 2, 3, 2, 3), [1, 2, 1], [1, 1, 2], [1, 0, 1, 0, 1, 2], 1),
    ((2, 2, 3, 4, 5, 6), (4, 1, 2, 2, 2, 2), [1] * 4, [1] * 4, [0] * 8, 2),
    ((0, 3, 5, 5), (4, 3, 3, 3), [1, 1], [1, 1], [0] * 4, 1),
    ((1, 4, 3, 3), (8, 4, 3, 3), [1, 1], [1, 1], [5] * 4, 1),
    ((1, 0, 5, 5), (4, 0, 3, 3), [1, 1], [1, 1], [0] * 4, 1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("constant", [False, True])
def test_conv(run_node: Any, rng: Any, case: Any, dtype: Any, constant: bool) -> None:
    x_shape, w_shape, strides, dilations, pads, group = case
    x, w, b = (uniform(rng, shape, dtype) for shape in (x_shape, w_shape, w_shape[:1]))
    for inputs in ([x, w], [x, w, b]):
        (got,) = run_node(
            "Conv", inputs, 22, constants=[1, 2][: len(inputs) - 1] if constant else [], threads=2,
            strides=strides, dilations=dilations, pads=pads, group=group, kernel_shape=w_shape[2:],
        )  # fmt: skip
        want = convolve(x, w, inputs[2] if len(inputs) == 3 else None, strides, dilations, pads, group)
        assert got.dtype == dtype
        close(got, want, int(np.prod(w_shape[1:])))


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_automatic_padding(run_node: Any, rng: Any, mode: str, stride: int, kernel: int) -> None:
    size = 11
    x, w = uniform(rng, (1, 4, size, size), np.float32), uniform(rng, (4, 4, kernel, kernel), np.float32)
    total = 0 if mode == "VALID" else max((-(-size // stride) - 1) * stride + kernel - size, 0)
    before = total // 2 if mode == "SAME_UPPER" else total - total // 2
    pads = [before, before, total - before, total - before]
    (got,) = run_node("Conv", [x, w], 11, auto_pad=mode, strides=[stride] * 2)
    close(got, convolve(x, w, None, [stride] * 2, [1, 1], pads, 1), 4 * kernel * kernel)
    (got,) = run_node("MaxPool", [x], 12, auto_pad=mode, strides=[stride] * 2, kernel_shape=[kernel] * 2)
    want = windows(x, [kernel] * 2, [stride] * 2, [1, 1], pads, -np.inf).max((-1, -2))
    np.testing.assert_array_equal(got, want.astype(np.float32))


@pytest.mark.parametrize(
    ("shapes", "attributes", "message"),
    [
        (((1, 3, 5, 5), (4, 2, 3, 3)), {}, r"input 1 \(W\).*channels"),
        (((1, 4, 5, 5), (3, 2, 3, 3)), {"group": 2}, r"input 1 \(W\).*filters"),
        (((1, 3, 5, 5), (4, 3, 3)), {}, r"input 1 \(W\).*rank"),
        (((1, 3, 2, 5), (4, 3, 3, 3)), {}, "more than there are"),
        (((1, 3, 5, 5), (4, 3, 3, 3)), {"kernel_shape": [2, 2]}, "kernel_shape"),
        (((1, 3, 5, 5), (4, 3, 3, 3)), {"group": 2**62}, r"input 1 \(W\).*channels"),
        (((1, 3, 5, 5), (4, 3, 3, 3)), {"strides": [0, 1]}, "strides"),
        (((1, 3, 5, 5), (4, 3, 3, 3)), {"pads": [1, 1]}, "pads"),
        (((1, 3, 5, 5), (4, 3, 3, 3)), {"auto_pad": "EVEN"}, "auto_pad"),
    ],
)
def test_conv_refuses(run_node: Any, shapes: Any, attributes: Any, message: str) -> None:
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(Exception, match=message):
        run_node("Conv", arrays, 11, unranked=True, **attributes)


# x, kernel, strides, dilations, pads
POOLS = [
    ((1, 2, 9), [3], [1], [1], [0, 0]),
    ((2, 3, 8, 10), [2, 2], [2, 2], [1, 1], [0] * 4),
    ((1, 2, 11, 13), [3, 3], [2, 2], [1, 1], [1] * 4),
    ((1, 2, 11, 13), [3, 2], [1, 3], [2, 3], [1, 0, 2, 1]),
    ((1, 2, 5, 6, 7), [2, 3, 2], [2, 1, 2], [1] * 3, [0, 1, 0, 1, 1, 1]),
    ((1, 16, 40, 40), [3, 3], [1, 1], [1, 1], [1] * 4),
    ((1, 2, 3, 1500), [2, 3], [1, 2], [1, 1], [0, 1, 1, 1]),
]


@pytest.mark.parametrize("case", POOLS, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint8])
def test_max_pool(run_node: Any, rng: Any, case: Any, dtype: Any) -> None:
    shape, kernel, strides, dilations, pads = case
    # Different elements where the type has that many, so that the place of the largest is certain.
    x = rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float64)
    if dtype not in (np.float32, np.float64):
        x = x % 100
    x = x.astype(dtype)
    attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}
    seen = windows(x, kernel, strides, dilations, pads, -np.inf)
    want = seen.reshape(*seen.shape[: len(shape)], -1).max(-1)
    (got,) = run_node("MaxPool", [x], 22, threads=2, **attributes)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.astype(np.float64), want)
    own = {"float32": 1, "float64": 11, "float16": 10, "bfloat16": 16, "int8": 3, "uint8": 2}[np.dtype(dtype).name]
    both = run_node("MaxPool", [x], 22, [own, TensorProto.INT64], **attributes)
    np.testing.assert_array_equal(both[0].astype(np.float64), want)
    np.testing.assert_array_equal(x.ravel()[both[1]].astype(np.float64), want)
    # Column major: the place within a plane counts the first spatial axis fastest.
    (_, columns) = run_node("MaxPool", [x], 22, [own, TensorProto.INT64], storage_order=1, **attributes)
    plane = int(np.prod(shape[2:]))
    place = np.stack(np.unravel_index(columns % plane, shape[2:], order="F"))
    row_major = np.ravel_multi_index(tuple(place), shape[2:]) + columns // plane * plane
    np.testing.assert_array_equal(row_major, both[1])


def test_max_pool_rounding_up(run_node: Any) -> None:
    x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    (got,) = run_node("MaxPool", [x], 12, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    assert got.tolist() == [[[[11, 12], [15, 16]]]]
    # A window that would start in the padding behind does not exist.
    x = np.arange(1, 4, dtype=np.float32).reshape(1, 1, 3)
    (got,) = run_node("MaxPool", [x], 12, kernel_shape=[2], strides=[3], pads=[0, 1], ceil_mode=1)
    assert got.tolist() == [[[2]]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 4, 7, 9), (2, 2, 3, 4, 5), (0, 3, 2, 2), (2, 3)], ids=str)
def test_global_average_pool(run_node: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = uniform(rng, shape, dtype)
    (got,) = run_node("GlobalAveragePool", [x], 22)
    want = x.astype(np.float64).mean(tuple(range(2, len(shape))), keepdims=True)
    close(got, want, 1)
