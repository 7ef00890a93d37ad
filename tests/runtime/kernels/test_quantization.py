# SPDX-License-Identifier: Apache-2.0
"""Quantized types: conversions as ONNX rounds them, and products against exact integer arithmetic."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from simd_levels import levels

STORED = [np.int8, np.uint8, np.int16, np.uint16]
BYTES = [np.int8, np.uint8]
REAL = [np.float32, np.float16, ml_dtypes.bfloat16]


def kind(dtype: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def integers(rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True))


def quantized(quotients: np.ndarray, zero: np.ndarray, dtype: Any) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.clip(np.rint(quotients.astype(np.float64)) + zero, info.min, info.max).astype(dtype)


def expand(parameter: np.ndarray, shape: Any, axis: int, block: int) -> np.ndarray:
    """Return one scale per element."""
    if block:
        return np.repeat(parameter, block, axis).take(np.arange(shape[axis]), axis)
    if parameter.size == 1:
        return np.broadcast_to(parameter.reshape(()), shape)
    return np.broadcast_to(parameter.reshape([-1 if d == axis % len(shape) else 1 for d in range(len(shape))]), shape)


# x, scale, axis, block_size
LAYOUTS = [
    ((7,), (), 1, 0),
    ((7,), (1,), 1, 0),
    ((), (), 1, 0),
    ((3, 4), (4,), 1, 0),
    ((3, 4), (3,), -2, 0),
    ((2, 3, 700), (3,), 1, 0),
    ((2, 1, 5), (1,), 1, 0),
    ((0, 3), (3,), 1, 0),
    ((3, 8), (3, 2), 1, 4),
    ((3, 8), (3, 3), -1, 3),
    ((7, 3, 5), (2, 3, 5), 0, 4),
    ((2, 5, 3), (2, 3, 3), 1, 2),
    ((2, 4), (2, 1), 1, 10),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("real", REAL)
@pytest.mark.parametrize("has_zero", [False, True])
def test_quantize_linear(run_node: Any, rng: Any, layout: Any, dtype: Any, real: Any, has_zero: bool) -> None:
    shape, scale_shape, axis, block = layout
    x = np.asarray(rng.uniform(-300, 300, shape)).astype(real)
    scale = np.asarray(rng.uniform(0.5, 2, scale_shape)).astype(real)
    zero = integers(rng, scale_shape, dtype)
    attributes: dict[str, Any] = {"axis": axis, "block_size": block}
    if not has_zero:
        attributes["output_dtype"] = kind(dtype)
        zero = np.zeros(scale_shape, dtype)
    inputs = [x, scale, zero] if has_zero else [x, scale]
    (got,) = run_node("QuantizeLinear", inputs, 21, [kind(dtype)], threads=2, **attributes)
    want = quantized(x / expand(scale, shape, axis, block), expand(zero, shape, axis, block).astype(np.float64), dtype)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("opset", [10, 13, 19, 21, 23, 24, 25])
def test_quantize_linear_rounds_half_to_even(run_node: Any, opset: int) -> None:
    x = np.array([-3, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 254.5, 255.5, 1e30, -np.inf, np.inf], np.float32)
    (got,) = run_node("QuantizeLinear", [x, np.array(1, np.float32), np.array(2, np.uint8)], opset, [TensorProto.UINT8])
    assert got.tolist() == [0, 0, 0, 2, 2, 2, 4, 4, 255, 255, 255, 0, 255]
    (got,) = run_node("QuantizeLinear", [x, np.array(1, np.float32)], opset, [TensorProto.UINT8])
    assert got.tolist() == [0, 0, 0, 0, 0, 0, 2, 2, 254, 255, 255, 0, 255]


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("real", REAL)
@pytest.mark.parametrize("zero", [0, 5])
def test_nan_is_the_lowest_number(run_node: Any, dtype: Any, real: Any, zero: int) -> None:
    info = np.iinfo(dtype)
    x = np.array([np.nan] * 40 + [-np.nan, np.inf, -np.inf, 2, np.nan]).astype(real)
    (got,) = run_node("QuantizeLinear", [x, np.array(1, real), np.array(zero, dtype)], 21, [kind(dtype)])
    assert got.tolist() == [info.min] * 41 + [info.max, info.min, 2 + zero, info.min]
    # 0 / 0 is one, too
    (got,) = run_node(
        "QuantizeLinear", [np.array([0, 1, -1], real), np.array(0, real), np.array(zero, dtype)], 21, [kind(dtype)]
    )
    assert got.tolist() == [info.min, info.max, info.min]


def test_dynamic_quantization_passes_over_nan(run_node: Any) -> None:
    x = np.array([np.nan, 1, 2, -3], np.float32)
    kinds = [TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8]
    y, scale, zero = run_node("DynamicQuantizeLinear", [x], 11, kinds)
    assert scale == np.float32(5) / np.float32(255)
    assert zero == 153
    assert y.tolist() == [0, 204, 255, 0]


def test_dequantize_linear_does_not_wrap(run_node: Any) -> None:
    x = np.array([-(2**31), 2**31 - 1, 128], np.int32)
    one = np.array(1, np.float32)
    (got,) = run_node("DequantizeLinear", [x, one, np.array(2**30, np.int32)], 13, [TensorProto.FLOAT])
    assert got.tolist() == [-(2.0**31 + 2.0**30), 2.0**30, 128.0 - 2.0**30]
    (got,) = run_node("DequantizeLinear", [x, one, np.array(-(2**30), np.int32)], 13, [TensorProto.FLOAT])
    assert got.tolist() == [-(2.0**30), 2.0**31 + 2.0**30, 128.0 + 2.0**30]


def test_quantize_linear_of_integers(run_node: Any) -> None:
    x = np.array([-2147483648, -5, 5, 7, 2147483647], np.int32)
    (got,) = run_node("QuantizeLinear", [x, np.array(2, np.float32), np.array(0, np.int8)], 10, [TensorProto.INT8])
    assert got.tolist() == [-128, -2, 2, 4, 127]
    (got,) = run_node("QuantizeLinear", [x, np.array(2, np.int32), np.array(1, np.int8)], 21, [TensorProto.INT8])
    assert got.tolist() == [-128, -1, 3, 5, 127]


def test_the_precision_of_the_division(run_node: Any) -> None:
    # 1 / 0.4 is 2.5 in float16 (rounded to even: 2), and 2.50061 in float, whose 0.4 is that of float16.
    x, scale = np.array([1], np.float32), np.array(0.4, np.float16)
    assert float(scale) == 0.39990234375
    (got,) = run_node("QuantizeLinear", [x, scale], 23, [TensorProto.UINT8])
    assert got.tolist() == [2]
    (got,) = run_node("QuantizeLinear", [x, scale], 23, [TensorProto.UINT8], precision=TensorProto.FLOAT)
    assert got.tolist() == [3]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", [*STORED, np.int32])
@pytest.mark.parametrize("real", REAL)
@pytest.mark.parametrize("has_zero", [False, True])
def test_dequantize_linear(run_node: Any, rng: Any, layout: Any, dtype: Any, real: Any, has_zero: bool) -> None:
    shape, scale_shape, axis, block = layout
    x = integers(rng, shape, dtype)
    scale = np.asarray(rng.uniform(0.5, 2, scale_shape)).astype(real)
    zero = integers(rng, scale_shape, dtype) if has_zero else np.zeros(scale_shape, dtype)
    inputs = [x, scale, zero] if has_zero else [x, scale]
    (got,) = run_node("DequantizeLinear", inputs, 21, [kind(real)], threads=2, axis=axis, block_size=block)
    difference = x.astype(np.float64) - expand(zero, shape, axis, block)
    want = difference * expand(scale, shape, axis, block).astype(np.float64)
    assert got.dtype == real
    with np.errstate(over="ignore"):
        limit = want.astype(real).astype(np.float64)
    np.testing.assert_allclose(got.astype(np.float64), limit, rtol=2 * float(ml_dtypes.finfo(real).eps))


@pytest.mark.parametrize("opset", [10, 13, 19, 21, 23, 24, 25])
def test_versions_of_dequantize_linear(run_node: Any, opset: int) -> None:
    inputs = [np.array([0, 3, 255], np.uint8), np.array(0.5, np.float32), np.array(128, np.uint8)]
    (got,) = run_node("DequantizeLinear", inputs, opset, [TensorProto.FLOAT])
    assert got.tolist() == [-64, -62.5, 63.5]


def test_the_output_type_of_dequantize_linear(run_node: Any) -> None:
    inputs = [np.array([3], np.int8), np.array(0.5, np.float32)]
    (got,) = run_node("DequantizeLinear", inputs, 23, [TensorProto.FLOAT16], output_dtype=TensorProto.FLOAT16)
    assert got.dtype == np.float16
    assert got.tolist() == [1.5]


@pytest.mark.parametrize(
    ("x", "scale", "zero", "attributes", "message"),
    [
        ((3, 4), (3,), None, {}, r"\[4\]"),
        ((3, 4), (1, 4), None, {}, "must be a scalar"),
        ((3, 4), (4,), (3,), {}, r"input 2 \(\w_zero_point\)"),
        ((3, 4), (4,), None, {"axis": 2}, "axis"),
        ((3, 4), (3, 2), None, {"block_size": 3, "axis": 0}, r"blocks of 3"),
        ((3, 4), (3, 1), None, {"block_size": 3}, r"blocks of 3"),
        ((3, 4), (3, 4), None, {"block_size": -1}, "block_size"),
    ],
)
def test_linear_quantization_refuses(
    run_node: Any, x: Any, scale: Any, zero: Any, attributes: Any, message: str
) -> None:
    for op_type, dtype, out in (("QuantizeLinear", np.float32, 2), ("DequantizeLinear", np.uint8, 1)):
        inputs = [np.ones(x, dtype), np.ones(scale, np.float32)]
        if zero is not None:
            inputs.append(np.ones(zero, np.uint8))
        with pytest.raises(Exception, match=message):
            run_node(op_type, inputs, 21, [out], unranked=True, **attributes)


@pytest.mark.parametrize(
    "values",
    [[0, 2, -3, -2.5, 1.34, 0.5], [-1, -2.1, -1.3], [1, 2.1, 1.3, 5], [0.1], list(np.linspace(-7, 3, 1000))],
    ids=["both", "negative", "positive", "one", "many"],
)
def test_dynamic_quantize_linear(run_node: Any, values: Any) -> None:
    x = np.array(values, np.float32)
    y, scale, zero = run_node("DynamicQuantizeLinear", [x], 11, [2, 1, 2])
    low, high = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    want = np.float32((high - low) / np.float32(255))
    want_zero = np.rint(-low / want)
    assert scale.shape == zero.shape == ()
    assert scale == want
    assert zero == want_zero
    np.testing.assert_array_equal(y, quantized(x / want, want_zero, np.uint8))


@pytest.mark.parametrize("shape", [(3,), (0,), (2, 0)])
def test_dynamic_quantize_linear_without_a_range(run_node: Any, shape: Any) -> None:
    y, scale, zero = run_node("DynamicQuantizeLinear", [np.zeros(shape, np.float32)], 11, [2, 1, 2])
    np.testing.assert_array_equal(y, np.zeros(shape, np.uint8))
    assert (scale, zero) == (1, 0)


# a, b, zero points of a, of b
PRODUCTS = [
    ((3, 4), (4, 5), (), ()),
    ((3, 4), (4, 5), (1,), (1,)),
    ((3, 4), (4, 5), (3,), (5,)),
    ((3, 4), (4, 5), (3, 1), (1, 5)),
    ((2, 3, 4), (2, 4, 5), (2, 3, 1), (2, 1, 5)),
    ((2, 3, 4), (4, 5), (3,), (5,)),
    ((2, 1, 3, 4), (5, 4, 6), (2, 1, 3, 1), (5, 1, 6)),
    ((4,), (4, 5), (), (5,)),
    ((3, 4), (4,), (3,), ()),
    ((4,), (4,), (), ()),
    ((3, 0), (0, 5), (), ()),
    ((0, 4), (4, 5), (), ()),
    ((33, 300), (300, 150), (33,), (150,)),
]


def per_row(parameter: np.ndarray) -> np.ndarray:
    return parameter.reshape(-1, 1) if parameter.ndim == 1 and parameter.size > 1 else parameter


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(BYTES, repeat=2)))
@pytest.mark.parametrize("zeros", ["both", "a", "none"])
def test_matmul_integer(run_node: Any, rng: Any, case: Any, left: Any, right: Any, zeros: str) -> None:
    a, b = integers(rng, case[0], left), integers(rng, case[1], right)
    a_zero = integers(rng, case[2], left) if zeros != "none" else np.zeros((), left)
    b_zero = integers(rng, case[3], right) if zeros == "both" else np.zeros((), right)
    inputs = [a, b, a_zero, b_zero][: {"both": 4, "a": 3, "none": 2}[zeros]]
    (got,) = run_node("MatMulInteger", inputs, 10, [TensorProto.INT32], threads=2)
    want = np.asarray(np.matmul(a - per_row(a_zero).astype(np.int64), b - b_zero.astype(np.int64)))
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    (got,) = run_node("MatMulInteger", inputs, 10, [TensorProto.INT32], constants=(1,), threads=2)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
@pytest.mark.parametrize(("left", "right", "out"), list(itertools.product(BYTES, repeat=3)))
@pytest.mark.parametrize("real", REAL)
def test_qlinear_matmul(run_node: Any, rng: Any, case: Any, left: Any, right: Any, out: Any, real: Any) -> None:
    a, b = integers(rng, case[0], left), integers(rng, case[1], right)
    a_zero, b_zero = integers(rng, case[2], left), integers(rng, case[3], right)
    a_scale, b_scale = (np.asarray(rng.uniform(0.1, 2, shape)).astype(real) for shape in case[2:])
    y_scale, y_zero = np.array(97.5, real), integers(rng, (), out)
    inputs = [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero]
    (got,) = run_node("QLinearMatMul", inputs, 21, [kind(out)], threads=2)
    scaled_a = (a - per_row(a_zero).astype(np.int64)) * per_row(a_scale).astype(np.float64)
    product = np.asarray(np.matmul(scaled_a, (b - b_zero.astype(np.int64)) * b_scale.astype(np.float64)))
    quotients = product / float(y_scale)
    want = quantized(quotients, y_zero.astype(np.float64), out)
    assert got.dtype == out
    assert got.shape == want.shape
    # A quotient half way between two integers may go either way by its last bit.
    near_half = np.abs(np.abs(quotients - np.floor(quotients)) - 0.5) < 1e-9
    np.testing.assert_array_equal(got[~near_half], want[~near_half])
    (of_constant,) = run_node("QLinearMatMul", inputs, 21, [kind(out)], constants=(3,))
    np.testing.assert_array_equal(of_constant, got)


@pytest.mark.parametrize(
    ("index", "shape", "message"),
    [
        (2, (2,), r"input 2 \(a_zero_point\)"),
        (5, (3,), r"input 5 \(b_zero_point\)"),
        (1, (1, 5), r"input 1 \(a_scale\)"),
        (4, (2, 1, 5), r"input 4 \(b_scale\)"),
        (6, (5,), r"input 6 \(y_scale\): must be a scalar"),
        (7, (2,), r"input 7 \(y_zero_point\): must be a scalar"),
        (3, (5, 4), r"input 3 \(B\): must have 4 rows"),
    ],
)
def test_qlinear_matmul_refuses(run_node: Any, index: int, shape: Any, message: str) -> None:
    real, byte = np.ones((), np.float32), np.ones((), np.uint8)
    inputs = [np.ones((3, 4), np.uint8), real, byte, np.ones((4, 5), np.uint8), real, byte, real, byte]
    inputs[index] = np.ones(shape, inputs[index].dtype)
    with pytest.raises(Exception, match=message):
        run_node("QLinearMatMul", inputs, 10, [TensorProto.UINT8], unranked=True)


def convolve(x: np.ndarray, w: np.ndarray, strides: Any, dilations: Any, pads: Any, group: int) -> np.ndarray:
    """Convolve integers; padding is 0."""
    rank = x.ndim - 2
    padded = np.pad(x, [(0, 0), (0, 0), *((pads[d], pads[d + rank]) for d in range(rank))])
    out = [(padded.shape[d + 2] - (w.shape[d + 2] - 1) * dilations[d] - 1) // strides[d] + 1 for d in range(rank)]
    y = np.zeros((x.shape[0], w.shape[0], *out), np.int64)
    per_group = w.shape[0] // group
    for k in itertools.product(*(range(n) for n in w.shape[2:])):
        steps = [slice(k[d] * dilations[d], k[d] * dilations[d] + strides[d] * (out[d] - 1) + 1, strides[d])
                 for d in range(rank)]  # fmt: skip
        seen = padded[(slice(None), slice(None), *steps)]
        for g in range(group):
            part = slice(g * w.shape[1], (g + 1) * w.shape[1])
            filters = w[(slice(g * per_group, (g + 1) * per_group), slice(None), *k)]
            y[:, g * per_group : (g + 1) * per_group] += np.moveaxis(
                np.tensordot(seen[:, part], filters, (1, 1)), -1, 1
            )
    return y


# x, w, strides, dilations, pads, group
CONVOLUTIONS = [
    ((1, 1, 5), (1, 1, 3), [1], [1], [1, 0], 1),
    ((2, 3, 6, 7), (4, 3, 3, 2), [2, 1], [1, 2], [1, 0, 2, 1], 1),
    ((1, 4, 5, 5), (6, 2, 3, 3), [1, 1], [1, 1], [1] * 4, 2),
    ((1, 2, 3, 4, 5), (2, 2, 2, 2, 2), [1, 2, 1], [1] * 3, [0] * 6, 1),
    ((0, 2, 4, 4), (2, 2, 2, 2), [1, 1], [1, 1], [0] * 4, 1),
    ((2, 8, 9, 20), (12, 4, 3, 3), [1, 1], [1, 1], [1] * 4, 2),
    ((1, 3, 4, 5, 6), (5, 3, 2, 2, 2), [2, 1, 2], [1, 1, 2], [1, 0, 1, 0, 1, 1], 1),
    ((1, 5, 170), (7, 5, 4), [3], [2], [3, 2], 1),
    ((1, 2, 40, 1), (30, 2, 5, 1), [1, 1], [1, 1], [2, 0, 2, 0], 1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(BYTES, repeat=2)))
@pytest.mark.parametrize("per_filter", [False, True])
def test_quantized_convolutions(run_node: Any, rng: Any, case: Any, left: Any, right: Any, per_filter: bool) -> None:
    x_shape, w_shape, strides, dilations, pads, group = case
    x, w = integers(rng, x_shape, left), integers(rng, w_shape, right)
    x_zero = integers(rng, (), left)
    w_zero = integers(rng, w_shape[:1] if per_filter else (), right)
    per_channel = (-1,) + (1,) * (len(x_shape) - 2)
    centered = w - w_zero.astype(np.int64).reshape(-1, *(1,) * (len(x_shape) - 1))
    sums = convolve(x - x_zero.astype(np.int64), centered, strides, dilations, pads, group)
    attributes = {"strides": strides, "dilations": dilations, "pads": pads, "group": group}
    (got,) = run_node("ConvInteger", [x, w, x_zero, w_zero], 10, [TensorProto.INT32], threads=2, **attributes)
    np.testing.assert_array_equal(got, sums)
    (got,) = run_node("ConvInteger", [x, w, x_zero], 10, [TensorProto.INT32], **attributes)
    raw = convolve(x - x_zero.astype(np.int64), w.astype(np.int64), strides, dilations, pads, group)
    np.testing.assert_array_equal(got, raw)

    x_scale, y_scale = np.array(0.7, np.float32), np.array(131.7, np.float32)
    w_scale = np.asarray(rng.uniform(0.1, 2, w_zero.shape)).astype(np.float32)
    bias = np.asarray(rng.integers(-10000, 10000, w_shape[0])).astype(np.int32)
    for out in BYTES:
        y_zero = integers(rng, (), out)
        inputs = [x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias]
        (got,) = run_node("QLinearConv", inputs, 10, [kind(out)], threads=2, **attributes)
        total = (sums + bias.reshape(per_channel)) * w_scale.astype(np.float64).reshape(per_channel)
        want = quantized(total * float(x_scale) / float(y_scale), y_zero.astype(np.float64), out)
        assert got.dtype == out
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("index", "shape", "message"),
    [
        (2, (2,), r"input 2 \(x_zero_point\): must be a scalar"),
        (3, (3,), r"input 3 \(w_zero_point\): must be a scalar or have extents \[4\]"),
        (1, (4, 3, 2), r"input 1 \(W\)"),
    ],
)
def test_conv_integer_refuses(run_node: Any, index: int, shape: Any, message: str) -> None:
    inputs = [np.ones(s, np.uint8) for s in ((1, 2, 5), (4, 2, 2), (), ())]
    inputs[index] = np.ones(shape, np.uint8)
    with pytest.raises(Exception, match=message):
        run_node("ConvInteger", inputs, 10, [TensorProto.INT32], unranked=True)


def test_quantize_linear_declines_a_division_of_integers(run_node: Any) -> None:
    inputs = [np.ones(3, np.float32), np.ones((), np.float32)]
    with pytest.raises(Exception, match="a division in int32 is not supported"):
        run_node("QuantizeLinear", inputs, 23, [TensorProto.UINT8], precision=TensorProto.INT32)


@pytest.mark.parametrize("level", levels())
def test_products_of_bytes_on_every_level(level: str) -> None:
    functions = (test_matmul_integer, test_qlinear_matmul, test_quantized_convolutions)
    tests = [f"{__file__}::{test.__name__}" for test in functions]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command, env={**os.environ, "ONNX_LIGHT_SIMD": level}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert " passed" in done.stdout
