# SPDX-License-Identifier: Apache-2.0
"""Normalizations against numpy in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from float_checks import FLOATS, TOLERANCE, close, uniform
from onnx import TensorProto

ELEMENT = {"float32": 1, "float64": 11, "float16": 10, "bfloat16": 16}
# Attributes are float32.
EPSILON, DEFAULT_EPSILON = float(np.float32(1e-3)), float(np.float32(1e-5))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 17), (2, 3, 4, 5), (10, 768)], ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_layer_normalization(run_node: Any, rng: Any, dtype: Any, shape: Any, bias: bool) -> None:
    x = uniform(rng, shape, dtype)
    for axis in range(-len(shape), len(shape)):
        row = shape[axis:]
        inputs = [x, uniform(rng, row, dtype), *([uniform(rng, row, dtype)] if bias else [])]
        element = TensorProto.FLOAT
        own = ELEMENT[np.dtype(dtype).name]
        y, mean, deviation = run_node(
            "LayerNormalization", inputs, 17, [own, element, element], axis=axis, epsilon=EPSILON, threads=2
        )
        wide = [a.astype(np.float64) for a in inputs]
        axes = tuple(range(axis % len(shape), len(shape)))
        mu = wide[0].mean(axes, keepdims=True)
        factor = 1 / np.sqrt(wide[0].var(axes, keepdims=True) + EPSILON)
        close(y, (wide[0] - mu) * factor * wide[1] + (wide[2] if bias else 0), dtype, scale=10)
        close(mean, mu, np.float32)
        close(deviation, factor, np.float32, scale=10)


def test_layer_normalization_broadcasts_scale_and_bias(run_node: Any, rng: Any) -> None:
    x = uniform(rng, (2, 3, 4), np.float32)
    wide = x.astype(np.float64)
    normalized = (wide - wide.mean((1, 2), keepdims=True)) / np.sqrt(wide.var((1, 2), keepdims=True) + DEFAULT_EPSILON)
    for scale, bias in [((), (1,)), ((4,), (3, 1)), ((1, 3, 4), (1, 1, 1)), ((2, 1, 4), (4,)), ((3, 4), (2, 3, 1))]:
        s, b = uniform(rng, scale, np.float32), uniform(rng, bias, np.float32)
        (got,) = run_node("LayerNormalization", [x, s, b], 17, axis=1)
        close(got, normalized * s + b, np.float32, scale=10)
    with pytest.raises(Exception, match=r"input 1 \(Scale\)"):
        run_node("LayerNormalization", [x, uniform(rng, (5,), np.float32)], 17, axis=1, unranked=True)
    with pytest.raises(Exception, match=r"input 2 \(B\).*broadcast to float\[2, 3, 4\]"):
        run_node("LayerNormalization", [x, np.ones(4, np.float32), np.ones((2, 1, 1, 1), np.float32)], 17)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale_dtype", FLOATS)
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 17), (2, 3, 4, 5)], ids=str)
def test_rms_normalization(run_node: Any, rng: Any, dtype: Any, scale_dtype: Any, shape: Any) -> None:
    x = uniform(rng, shape, dtype)
    for axis in range(-len(shape), len(shape)):
        scale = uniform(rng, shape[axis:], scale_dtype)
        (got,) = run_node(
            "RMSNormalization", [x, scale], 23, [ELEMENT[np.dtype(scale_dtype).name]], axis=axis, epsilon=EPSILON,
            threads=2,
        )  # fmt: skip
        wide = x.astype(np.float64)
        axes = tuple(range(axis % len(shape), len(shape)))
        want = wide / np.sqrt((wide * wide).mean(axes, keepdims=True) + EPSILON) * scale.astype(np.float64)
        assert got.dtype == scale_dtype
        close(got, want, max((dtype, scale_dtype), key=lambda t: TOLERANCE[np.dtype(t).name]), scale=4)


def test_rms_normalization_broadcasts_the_scale(run_node: Any, rng: Any) -> None:
    x = uniform(rng, (2, 3, 4), np.float32)
    wide = x.astype(np.float64)
    normalized = wide / np.sqrt((wide * wide).mean(2, keepdims=True) + DEFAULT_EPSILON)
    for shape in [(), (1,), (3, 1), (2, 3, 4), (2, 1, 1)]:
        scale = uniform(rng, shape, np.float32)
        (got,) = run_node("RMSNormalization", [x, scale], 23)
        close(got, normalized * scale, np.float32, scale=4)
    with pytest.raises(Exception, match=r"input 1 \(scale\): must broadcast to float\[2, 3, 4\]"):
        run_node("RMSNormalization", [x, np.ones(5, np.float32)], 23, unranked=True)


def spread(parameter: np.ndarray, rank: int) -> np.ndarray:
    return parameter.astype(np.float64).reshape((-1,) + (1,) * (rank - 2))


@pytest.mark.parametrize("opset", [1, 6, 7, 9, 14, 15])
@pytest.mark.parametrize("dtype", FLOATS[:3])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 3, 5), (2, 3, 7, 9), (0, 3, 2)], ids=str)
def test_batch_normalization(run_node: Any, rng: Any, opset: int, dtype: Any, shape: Any) -> None:
    channels = shape[1] if len(shape) > 1 else 1
    x = uniform(rng, shape, dtype)
    scale, bias, mean = (uniform(rng, (channels,), dtype) for _ in range(3))
    variance = np.asarray(rng.uniform(0.5, 2, channels)).astype(dtype)
    attributes: dict[str, Any] = {"is_test": 1} if opset < 7 else {}
    if opset == 1:
        attributes["consumed_inputs"] = [0] * 5
    (got,) = run_node("BatchNormalization", [x, scale, bias, mean, variance], opset, epsilon=EPSILON, **attributes)
    s, b, m, v = (spread(a, len(shape)) for a in (scale, bias, mean, variance))
    close(got, (x.astype(np.float64) - m) / np.sqrt(v + EPSILON) * s + b, dtype, scale=4)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 5), (2, 3, 2, 4)], ids=str)
def test_batch_normalization_per_activation(run_node: Any, rng: Any, shape: Any) -> None:
    x, scale, bias, mean = (uniform(rng, s, np.float32) for s in (shape, shape[1:], shape[1:], shape[1:]))
    variance = np.asarray(rng.uniform(0.5, 2, shape[1:])).astype(np.float32)
    (got,) = run_node("BatchNormalization", [x, scale, bias, mean, variance], 7, spatial=0)
    want = (x.astype(np.float64) - mean) / np.sqrt(variance.astype(np.float64) + DEFAULT_EPSILON) * scale + bias
    close(got, want, np.float32, scale=4)
    if len(shape) > 2:
        with pytest.raises(Exception, match=r"input 1 \(scale\)"):
            run_node("BatchNormalization", [x, scale[:, 0].copy(), bias, mean, variance], 7, spatial=0, unranked=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("statistics", [np.float32, np.float16])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 5), (2, 3, 7, 9)], ids=str)
def test_batch_normalization_trains(run_node: Any, rng: Any, dtype: Any, statistics: Any, shape: Any) -> None:
    channels = shape[1] if len(shape) > 1 else 1
    x = uniform(rng, shape, dtype)
    scale, bias = (uniform(rng, (channels,), np.float32) for _ in range(2))
    mean = uniform(rng, (channels,), statistics)
    variance = np.asarray(rng.uniform(0.5, 2, channels)).astype(statistics)
    of_statistics = ELEMENT[np.dtype(statistics).name]
    y, running_mean, running_variance = run_node(
        "BatchNormalization", [x, scale, bias, mean, variance], 15,
        [ELEMENT[np.dtype(dtype).name], of_statistics, of_statistics],
        training_mode=1, momentum=0.75, epsilon=EPSILON, threads=2,
    )  # fmt: skip
    wide = x.astype(np.float64)
    axes = (0, *range(2, len(shape)))
    center, square = wide.mean(axes), wide.var(axes)
    want = (wide - spread(center, len(shape))) / np.sqrt(spread(square, len(shape)) + EPSILON)
    close(y, want * spread(scale, len(shape)) + spread(bias, len(shape)), dtype, scale=10)
    close(running_mean, np.reshape(mean * 0.75 + center * 0.25, channels), statistics, scale=2)
    close(running_variance, np.reshape(variance * 0.75 + square * 0.25, channels), statistics, scale=2)


def test_batch_normalization_has_one_output_outside_training(run_node: Any) -> None:
    ones = np.ones(3, np.float32)
    with pytest.raises(Exception, match=r"output 1 exists in training mode only"):
        run_node("BatchNormalization", [np.ones((2, 3), np.float32), ones, ones, ones, ones], 15, [1, 1, 1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 4), (2, 4, 5), (3, 6, 3, 11), (2, 2, 3, 4, 5), (0, 4, 3)], ids=str)
def test_group_and_instance_normalization(run_node: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = uniform(rng, shape, dtype)
    channels = shape[1]
    for groups in (n for n in range(1, channels + 1) if channels % n == 0):
        wide = x.astype(np.float64).reshape(shape[0], groups, channels // groups * int(np.prod(shape[2:])))
        normalized = (wide - wide.mean(2, keepdims=True)) / np.sqrt(wide.var(2, keepdims=True) + EPSILON)
        for opset in (18, 21):
            count = channels if opset == 21 else groups
            scale, bias = (uniform(rng, (count,), dtype) for _ in range(2))
            (got,) = run_node(
                "GroupNormalization", [x, scale, bias], opset, num_groups=groups, epsilon=EPSILON, threads=2
            )
            s, b = (spread(np.repeat(a, channels // count), len(shape)) for a in (scale, bias))
            close(got, normalized.reshape(shape) * s + b, dtype, scale=10)
            if groups == channels:
                (same,) = run_node("InstanceNormalization", [x, scale, bias], 22, epsilon=EPSILON)
                assert same.tobytes() == got.tobytes()


def test_group_normalization_of_a_large_mean(run_node: Any) -> None:
    x = np.array([[[4096, 4097, 4098, 4099]]], np.float32)
    ones, zeros = np.ones(1, np.float32), np.zeros(1, np.float32)
    (got,) = run_node("InstanceNormalization", [x, ones, zeros], 6, epsilon=0.0)
    close(got, np.array([[[-1.5, -0.5, 0.5, 1.5]]]) / np.sqrt(1.25), np.float32)


@pytest.mark.parametrize(
    ("op_type", "channels", "scale", "attributes", "message"),
    [
        ("GroupNormalization", 4, 4, {"num_groups": 3}, "multiple of num_groups 3"),
        ("GroupNormalization", 4, 4, {"num_groups": 0}, "num_groups: must be at least 1"),
        ("GroupNormalization", 4, 2, {"num_groups": 2}, r"input 1 \(scale\).*\[4\]"),
        ("InstanceNormalization", 4, 2, {}, r"input 1 \(scale\).*\[4\]"),
    ],
)
def test_group_normalization_refuses(
    run_node: Any, op_type: str, channels: int, scale: int, attributes: Any, message: str
) -> None:
    parameter = np.ones(scale, np.float32)
    with pytest.raises(Exception, match=message):
        run_node(
            op_type, [np.ones((1, channels, 2), np.float32), parameter, parameter], 21, unranked=True, **attributes
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 3, 1, 7), (2, 3, 0, 4)], ids=str)
def test_mean_variance_normalization(run_node: Any, rng: Any, dtype: Any, shape: Any) -> None:
    x = uniform(rng, shape, dtype)
    wide = x.astype(np.float64)
    choices: list[Any] = [None, *(c for n in range(1, 5) for c in itertools.combinations(range(4), n)), (-1, 0)]
    for axes in choices:
        over = axes or (0, 2, 3)
        (got,) = run_node("MeanVarianceNormalization", [x], 13, threads=2, **({"axes": axes} if axes else {}))
        if x.size:
            wide_mean, deviation = wide.mean(over, keepdims=True), wide.std(over, keepdims=True)
            # Where nothing varies, the difference is what is left of rounding.
            want = np.where(deviation < 1e-12, 0, (wide - wide_mean) / (deviation + 1e-9))
            close(got, want, dtype, scale=4)
        assert got.shape == shape


@pytest.mark.parametrize(("shape", "over"), [((5,), 0), ((3, 2), 0), ((3, 2, 4), (0, 2)), ((0, 2), 0)], ids=str)
@pytest.mark.parametrize("attributes", [{}, {"axes": [0, 2, 3]}], ids=str)
def test_mean_variance_normalization_of_fewer_axes(
    run_node: Any, rng: Any, shape: Any, over: Any, attributes: Any
) -> None:
    x = uniform(rng, shape, np.float32)
    (got,) = run_node("MeanVarianceNormalization", [x], 13, **attributes)
    assert got.shape == shape
    if x.size:
        wide = x.astype(np.float64)
        want = (wide - wide.mean(over, keepdims=True)) / wide.std(over, keepdims=True)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("shape", "axes"), [((), [0, 2, 3]), ((2, 2), [5]), ((2, 2), [-3])], ids=str)
def test_mean_variance_normalization_refuses(run_node: Any, shape: Any, axes: Any) -> None:
    with pytest.raises(Exception, match=r"attribute axes: .*got"):
        run_node("MeanVarianceNormalization", [np.ones(shape, np.float32)], 13, unranked=True, axes=axes)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 4), (1, 7, 3, 300), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 100])
def test_lrn(run_node: Any, rng: Any, dtype: Any, shape: Any, size: int) -> None:
    x = uniform(rng, shape, dtype)
    (got,) = run_node("LRN", [x], 13, size=size, alpha=0.5, beta=0.25, bias=2.0, threads=2)
    wide = x.astype(np.float64)
    before, behind = (size - 1) // 2, size // 2  # floor and ceil of (size - 1) / 2
    sums = np.zeros(shape)
    for c in range(shape[1]):
        sums[:, c] = (wide[:, max(0, c - before) : c + behind + 1] ** 2).sum(1)
    close(got, wide / (2 + 0.5 / size * sums) ** 0.25, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 17), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(run_node: Any, rng: Any, dtype: Any, shape: Any, p: int) -> None:
    x = uniform(rng, shape, dtype)
    wide = x.astype(np.float64)
    for axis in range(-len(shape), len(shape)):
        (got,) = run_node("LpNormalization", [x], 22, p=p, axis=axis, threads=2)
        close(got, wide / (np.abs(wide) ** p).sum(axis, keepdims=True) ** (1 / p), dtype)


def test_lp_normalization_at_the_edges(run_node: Any) -> None:
    x = np.array([[0, 0], [3, -4], [3e30, 4e30]], np.float32)
    (got,) = run_node("LpNormalization", [x], 1)
    np.testing.assert_allclose(got, [[0, 0], [0.6, -0.8], [0.6, 0.8]], rtol=1e-6)
    with pytest.raises(Exception, match="attribute p: must be 1 or 2, got 3"):
        run_node("LpNormalization", [x], 22, p=3)
    with pytest.raises(Exception, match="axis"):
        run_node("LpNormalization", [x], 22, axis=2)


@pytest.mark.parametrize("opset", [1, 6, 7, 9])
def test_batch_normalization_declines_old_training(run_node: Any, opset: int) -> None:
    ones = np.ones(3, np.float32)
    inputs = [np.ones((2, 3), np.float32), ones, ones, ones, ones]
    attributes = {"consumed_inputs": [0] * 5} if opset == 1 else {}
    with pytest.raises(Exception, match="training mode before version 14 is not supported"):
        run_node("BatchNormalization", inputs, opset, [1] * 5, **attributes)
