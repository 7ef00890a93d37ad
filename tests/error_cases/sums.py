# SPDX-License-Identifier: Apache-2.0
"""Reductions, normalizations and products in extended precision, with the magnitude of the terms that are summed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from convolutions import convolve

from error_cases.case import Case, Exact, f32, least_normal, near

Rng = np.random.Generator
EPSILON = Exact(f32(1e-5))


def shaped(*shapes: Any, positive: bool = False) -> Callable[[Rng, Any], list[np.ndarray]]:
    """Return a function that makes one array of each shape."""

    def make(rng: Rng, dtype: Any) -> list[np.ndarray]:
        arrays = [near(rng, shape, np.float64) for shape in shapes]
        return [(np.abs(a) + 0.125 if positive else a).astype(dtype) for a in arrays]

    return make


def root(x: Any, axes: Any) -> Any:
    """Return the root of how many elements are reduced: independent roundings add up like it."""
    return np.sqrt(Exact(int(np.prod([x.shape[axis] for axis in axes]))))


def with_axes(shape: Any, axes: list[int], positive: bool = False, small: bool = False) -> Any:
    """Return a function that makes an array and the axes to reduce."""

    def make(rng: Rng, dtype: Any) -> list[np.ndarray]:
        (x,) = shaped(shape, positive=positive)(rng, np.float64)
        return [(0.75 + x / 4 if small else x).astype(dtype), np.array(axes, np.int64)]

    return make


def log_sum_exp(x: Any, axes: Any) -> Any:
    """The logarithm of a sum of powers."""
    most = x.max(tuple(axes), keepdims=True)
    base = np.where(np.isfinite(most), most, 0)
    y = base + np.log(np.exp(x - base).sum(tuple(axes), keepdims=True))
    return y, root(x, axes) + np.abs(y)


def log_sum(x: Any, axes: Any) -> Any:
    """The logarithm of a sum, which magnifies the relative error of the sum where it is near zero itself."""
    y = np.log(x.sum(tuple(axes), keepdims=True))
    return y, root(x, axes) + np.abs(y)


def reduced(function: Callable[..., Any], magnitude: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a reduction of numpy with its magnitude, by default that of the result."""

    def exact(x: Any, axes: Any) -> Any:
        y = function(x, tuple(axes))
        return y, (np.abs(y) if magnitude is None else magnitude(x, tuple(axes))) * root(x, axes)

    return exact


def total(x: Any, axes: Any) -> Any:
    """The sum of magnitudes."""
    return np.abs(x).sum(axes, keepdims=True)


REDUCTIONS: list[tuple[str, int, Callable[..., Any]]] = [
    ("ReduceSum", 13, reduced(lambda x, axes: x.sum(axes, keepdims=True), total)),
    ("ReduceMean", 18, reduced(lambda x, axes: x.mean(axes, keepdims=True),
                               lambda x, axes: np.abs(x).mean(axes, keepdims=True))),
    ("ReduceL1", 18, reduced(total)),
    ("ReduceL2", 18, reduced(lambda x, axes: np.sqrt((x * x).sum(axes, keepdims=True)))),
    ("ReduceSumSquare", 18, reduced(lambda x, axes: (x * x).sum(axes, keepdims=True))),
    ("ReduceLogSumExp", 28, log_sum_exp),
    ("ReduceMax", 20, lambda x, axes: x.max(tuple(axes), keepdims=True)),
    ("ReduceMin", 20, lambda x, axes: x.min(tuple(axes), keepdims=True)),
]  # fmt: skip
REDUCED = [((7, 1000), [1]), ((1000, 7), [0]), ((3, 40, 5, 6), [1, 3]), ((20011,), [0])]


def softmax(x: Any) -> Any:
    """Along the last axis; a rounding of x - max changes a power by as much as that is large."""
    depth = x - x.max(-1, keepdims=True)
    powers = np.exp(depth)
    y = powers / powers.sum(-1, keepdims=True)
    return y, y * (1 + np.abs(depth))


def log_softmax(x: Any) -> Any:
    """Along the last axis."""
    depth = x - x.max(-1, keepdims=True)
    y = depth - np.log(np.exp(depth).sum(-1, keepdims=True))
    return y, 1 + np.abs(y)


def normalized(x: Any, axes: tuple[int, ...], epsilon: Any = EPSILON) -> tuple[Any, Any]:
    """Return x less its mean by its deviation, and the magnitude of what that is the difference of."""
    mean = x.mean(axes, keepdims=True)
    factor = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + epsilon)
    return (x - mean) * factor, (np.abs(x) + np.abs(x).mean(axes, keepdims=True)) * factor


def layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    y, size = normalized(x, (1,))
    return y * scale + bias, size * np.abs(scale) + np.abs(bias)


def rms_norm(x: Any, scale: Any) -> Any:
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * scale
    return y, np.abs(y)


def channels(x: Any, of: Any) -> Any:
    return of.reshape((-1,) + (1,) * (x.ndim - 2))


def instance_norm(x: Any, scale: Any, bias: Any) -> Any:
    y, size = normalized(x, tuple(range(2, x.ndim)))
    return y * channels(x, scale) + channels(x, bias), size * np.abs(channels(x, scale)) + np.abs(channels(x, bias))


def group_norm(x: Any, scale: Any, bias: Any) -> Any:
    y, size = (part.reshape(x.shape) for part in normalized(x.reshape(len(x), 2, -1), (2,)))
    return y * channels(x, scale) + channels(x, bias), size * np.abs(channels(x, scale)) + np.abs(channels(x, bias))


def batch_norm(x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    factor = channels(x, scale) / np.sqrt(channels(x, variance) + EPSILON)
    y = (x - channels(x, mean)) * factor + channels(x, bias)
    return y, (np.abs(x) + np.abs(channels(x, mean))) * np.abs(factor) + np.abs(channels(x, bias))


def batch_inputs(rng: Rng, dtype: Any) -> list[np.ndarray]:
    arrays = shaped((2, 6, 5, 7), (6,), (6,), (6,), (6,))(rng, np.float64)
    arrays[4] = np.abs(arrays[4]) + 0.25
    return [a.astype(dtype) for a in arrays]


def mean_variance(x: Any) -> Any:
    axes = (0, 2, 3)
    mean = x.mean(axes, keepdims=True)
    deviation = np.sqrt((x * x).mean(axes, keepdims=True) - mean * mean)
    y = (x - mean) / (deviation + Exact("1e-9"))
    # The variance is a difference of squares.
    lost = (x * x).mean(axes, keepdims=True) / (deviation * deviation)
    return y, np.abs(y) * lost + (np.abs(x) + np.abs(x).mean(axes, keepdims=True)) / deviation


def lp_norm(x: Any) -> Any:
    y = x / np.sqrt((x * x).sum(-1, keepdims=True))
    return y, np.abs(y)


def local_response(x: Any) -> Any:
    padded = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    window = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    y = x / (1 + Exact(f32(0.0001)) / 3 * window) ** Exact(f32(0.75))
    return y, np.abs(y)


def product(a: Any, b: Any, dtype: Any) -> Any:
    n = a.shape[-1]
    return a @ b, (np.abs(a) @ np.abs(b)) * np.sqrt(Exact(n)) + n * least_normal(dtype)


product.takes_dtype = True  # type: ignore[attr-defined]


def gemm(a: Any, b: Any, c: Any) -> Any:
    size = (np.abs(a) @ np.abs(b).T) / 2 + 2 * np.abs(c)
    return (a @ b.T) / 2 + 2 * c, size * np.sqrt(Exact(a.shape[1]))


def conv(x: Any, w: Any, b: Any, strides: Any, pads: Any, group: int = 1) -> Any:
    call = partial(convolve, strides=strides, dilations=[1] * (x.ndim - 2), pads=pads, group=group)
    return call(x, w, b), call(np.abs(x), np.abs(w), np.abs(b)) * np.sqrt(Exact(w[0].size))


def conv_of_tiles(x: Any, w: Any, b: Any) -> Any:
    """A 3 x 3 convolution with padding 1, and what the tiles around each output see, 4 elements far from its middle."""
    seen = np.lib.stride_tricks.sliding_window_view(np.pad(np.abs(x), [(0, 0), (0, 0), (4, 4), (4, 4)]), (9, 9), (2, 3))
    magnitude = np.einsum("nchw,fc->nfhw", seen.max((-2, -1)), np.abs(w).sum((2, 3))) + np.abs(b).reshape(-1, 1, 1)
    return convolve(x, w, b, [1, 1], [1, 1], [1] * 4, 1), magnitude * np.sqrt(Exact(w[0].size))


def winograd(x: Any, w: Any, variant: str, spiky: bool = False) -> Case:
    """Return a convolution that goes by Winograd's transform; `spiky` with elements and weights of two magnitudes."""

    def make(rng: Rng, dtype: Any) -> list[np.ndarray]:
        arrays = shaped(x, w, (w[0],))(rng, np.float64)
        if spiky:
            arrays[0][..., ::7, ::5] *= 10000
            arrays[1][..., 1:, :] /= 1000
        return [a.astype(dtype) for a in arrays]

    attributes = {"pads": [1] * 4}
    return Case("Conv", 22, make, conv_of_tiles, attributes, variant, "Conv, Winograd", constants=(1, 2))


def convolution(x: Any, w: Any, kernel: int, stride: int, pad: int, group: int = 1, variant: str = "") -> Case:
    """Return a convolution with bias."""
    attributes = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group, "kernel_shape": [kernel] * 2}
    exact = partial(conv, strides=[stride] * 2, pads=[pad] * 4, group=group)
    variant = variant or f"{kernel}x{kernel}/{stride} of {group}"
    return Case("Conv", 22, shaped(x, w, (w[0],)), exact, attributes, variant, constants=(1, 2))


PRODUCTS = [((33, 500), (500, 41)), ((1, 700), (700, 33)), ((2, 3, 5, 64), (2, 3, 64, 9)), ((130, 300), (300, 70))]


def cases() -> Iterator[Case]:
    """Yield them."""
    for op_type, opset, exact in REDUCTIONS:
        for shape, axes in REDUCED:
            yield Case(op_type, opset, with_axes(shape, axes), exact, variant=f"{list(shape)}")
    yield Case("ReduceLogSum", 28, with_axes((7, 1000), [1], positive=True), log_sum)
    count = 50
    yield Case("ReduceProd", 18, with_axes((9, count), [1], small=True),
               reduced(lambda x, axes: x.prod(axes, keepdims=True),
                       lambda x, axes: np.abs(x.prod(axes, keepdims=True))))  # fmt: skip
    yield Case("CumSum", 14, lambda rng, dtype: [near(rng, (5, 400), dtype), np.array(1)],
               lambda x, _: (x.cumsum(1), np.abs(x).cumsum(1) * np.sqrt(np.arange(1, 401, dtype=Exact))))  # fmt: skip
    yield Case("CumProd", 26, lambda rng, dtype: [(0.75 + near(rng, (5, 40), float) / 4).astype(dtype), np.array(1)],
               lambda x, _: (x.cumprod(1), np.abs(x).cumprod(1) * np.sqrt(np.arange(1, 41, dtype=Exact))))  # fmt: skip
    for name, function in (("Softmax", softmax), ("LogSoftmax", log_softmax)):
        for width in (10, 1000):
            spread = lambda rng, dtype, width=width: [np.asarray(rng.uniform(-20, 20, (6, width))).astype(dtype)]  # noqa: E731
            yield Case(name, 13, spread, function, variant=str(width))
    yield Case("LayerNormalization", 17, shaped((9, 768), (768,), (768,)), layer_norm)
    yield Case("RMSNormalization", 23, shaped((9, 768), (768,)), rms_norm)
    yield Case("InstanceNormalization", 22, shaped((2, 4, 9, 31), (4,), (4,)), instance_norm)
    yield Case("GroupNormalization", 21, shaped((2, 4, 9, 31), (4,), (4,)), group_norm, {"num_groups": 2})
    yield Case("BatchNormalization", 15, batch_inputs, batch_norm)
    yield Case("MeanVarianceNormalization", 13, shaped((2, 3, 9, 8)), mean_variance)
    yield Case("LpNormalization", 22, shaped((7, 300)), lp_norm)
    yield Case("LRN", 13, shaped((2, 6, 4, 5)), local_response, {"size": 3})
    for a, b in PRODUCTS:
        for constants in ((), (1,)):
            variant = f"{list(a)} {list(b)}" + (", constant" if constants else "")
            yield Case("MatMul", 13, shaped(a, b), product, variant=variant, constants=constants)
    yield Case("Gemm", 13, shaped((17, 300), (40, 300), (40,)), gemm, {"alpha": 0.5, "beta": 2.0, "transB": 1})
    yield Case("Einsum", 28, shaped((5, 6, 30), (30, 8)), product, {"equation": "abk,kn->abn"})
    yield convolution((1, 16, 12, 12), (24, 16, 1, 1), 1, 1, 0)
    yield convolution((2, 16, 12, 12), (16, 1, 3, 3), 3, 1, 1, group=16)
    yield convolution((1, 3, 30, 30), (16, 3, 7, 7), 7, 2, 3)
    yield convolution((1, 32, 20, 20), (32, 32, 3, 3), 3, 1, 1, variant="without Winograd")
    yield winograd((1, 32, 20, 20), (32, 32, 3, 3), "Winograd")
    yield winograd((1, 32, 20, 20), (32, 32, 3, 3), "Winograd, two magnitudes", spiky=True)
    yield winograd((1, 128, 7, 7), (128, 128, 3, 3), "Winograd, few tiles")
    yield winograd((1, 128, 7, 7), (128, 128, 3, 3), "Winograd, few tiles, two magnitudes", spiky=True)
