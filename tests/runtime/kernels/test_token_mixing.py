# SPDX-License-Identifier: Apache-2.0
"""SwiGLU, CausalConvWithState and LinearAttention against numpy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import kind
from onnx import TensorProto

STATES = [np.float32, np.float16, ml_dtypes.bfloat16]


def wide(*arrays: np.ndarray | None) -> list[Any]:
    return [None if a is None else a.astype(np.float64) for a in arrays]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (7,), (3, 0), (40, 50)], ids=str)
@pytest.mark.parametrize("alpha", [1.0, -0.5, 1.702])
def test_swiglu(run_node: Any, rng: Any, dtype: Any, shape: Any, alpha: float) -> None:
    a, b = uniform(rng, shape, dtype), uniform(rng, shape, dtype)
    x, y = wide(a, b)
    (got,) = run_node("SwiGLU", [a, b], 28, threads=2, alpha=alpha)
    close(got, x / (1 + np.exp(-np.float64(np.float32(alpha)) * x)) * y, dtype)


def test_swiglu_of_large_numbers_and_other_extents(run_node: Any) -> None:
    a = np.array([-1000, 1000, np.inf, np.nan], np.float32)
    (got,) = run_node("SwiGLU", [a, np.ones(4, np.float32)], 28)
    np.testing.assert_array_equal(got, [0, 1000, np.inf, np.nan])
    with pytest.raises(Exception, match="extents of float"):
        run_node("SwiGLU", [np.ones((2, 3), np.float32), np.ones(3, np.float32)], 28)


@pytest.mark.parametrize("dtype", STATES)
@pytest.mark.parametrize("length", [0, 1, 2, 9])
@pytest.mark.parametrize("taps", [1, 2, 4])
@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
@pytest.mark.parametrize("extras", [False, True])
def test_causal_conv(
    run_node: Any, rng: Any, dtype: Any, length: int, taps: int, activation: str, extras: bool
) -> None:
    x, weight = uniform(rng, (2, 5, length), dtype), uniform(rng, (5, 1, taps), dtype)
    bias, past = (uniform(rng, (5,), dtype), uniform(rng, (2, 5, taps - 1), dtype)) if extras else (None, None)
    inputs = [x, weight, bias, past]
    line, factors, start, before = wide(*inputs)
    line = np.concatenate([np.zeros((2, 5, taps - 1)) if before is None else before, line], 2)
    want = np.zeros((2, 5, length))
    for i in range(length):
        want[..., i] = (line[..., i : i + taps] * factors[:, 0]).sum(2) + (0 if start is None else start)
    if activation != "none":
        want = want / (1 + np.exp(-want))
    got, present = run_node("CausalConvWithState", inputs, 27, [kind(dtype)] * 2, threads=2, activation=activation)
    assert got.dtype == present.dtype == dtype
    close(got, want, dtype, 4)
    assert present.astype(np.float64).tolist() == line[..., length:].tolist()


@pytest.mark.parametrize(
    ("shapes", "attributes", "message"),
    [
        ([(1, 2, 4), (2, 2, 3)], {}, r"weight.*\[2, 1, taps\]"),
        ([(1, 2, 4), (2, 1, 3), (3,)], {}, "bias.*vector of 2"),
        ([(1, 2, 4), (2, 1, 3), None, (1, 2, 3)], {}, r"past_state.*\[1, 2, 2\]"),
        ([(2, 4), (2, 1, 3)], {}, "batch, channels, length"),
        ([(1, 2, 4), (2, 1, 3)], {"activation": "relu"}, "none, silu or swish"),
    ],
)
def test_causal_conv_refuses(run_node: Any, shapes: Any, attributes: Any, message: str) -> None:
    inputs = [None if shape is None else np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(Exception, match=message):
        run_node("CausalConvWithState", inputs, 27, [TensorProto.FLOAT] * 2, unranked=True, **attributes)


def linear_attention(
    q: Any, k: Any, v: Any, past: Any, decay: Any, beta: Any, heads: tuple[int, int], rule: str, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return output and state, one step of one head at a time."""
    (batch, steps, _), (readers, writers) = q.shape, heads
    q, k, v = (x.reshape(batch, steps, n, -1) for x, n in ((q, readers), (k, writers), (v, writers)))
    state = np.zeros((batch, writers, k.shape[-1], v.shape[-1])) if past is None else past.copy()
    out = np.zeros((batch, steps, readers, v.shape[-1]))
    for b, t, h in np.ndindex(batch, steps, writers):
        s, value = state[b, h], v[b, t, h]
        if "gated" in rule:
            gate = decay[b, t].reshape(writers, -1)[h]
            s *= np.exp(gate)[:, np.newaxis]
        if "delta" in rule:
            value = beta[b, t, h % beta.shape[2]] * (value - s.T @ k[b, t, h])
        s += np.outer(k[b, t, h], value)
        for reader in range(h * readers // writers, (h + 1) * readers // writers):
            out[b, t, reader] = (scale or q.shape[-1] ** -0.5) * (q[b, t, reader] @ s)
    return out.reshape(batch, steps, -1), state


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("dtype", STATES)
@pytest.mark.parametrize("state", [None, *STATES])
@pytest.mark.parametrize(
    ("heads", "per_key", "per_head"), [((1, 1), False, True), ((4, 2), True, True), ((2, 2), True, False)]
)
def test_linear_attention(
    run_node: Any, rng: Any, rule: str, dtype: Any, state: Any, heads: Any, per_key: bool, per_head: bool
) -> None:
    readers, writers = heads
    q = rng.uniform(-1, 1, (2, 5, readers * 3)).astype(dtype)
    k = (rng.uniform(-1, 1, (2, 5, writers * 3)) / 2).astype(dtype)
    v = rng.uniform(-1, 1, (2, 5, writers * 4)).astype(dtype)
    past = None if state is None else rng.uniform(-1, 1, (2, writers, 3, 4)).astype(state)
    decay = -rng.uniform(0, 1, (2, 5, writers * (3 if per_key else 1))).astype(dtype) if "gated" in rule else None
    beta = rng.uniform(0, 1, (2, 5, writers if per_head else 1)).astype(dtype) if "delta" in rule else None
    inputs = [q, k, v, past, decay, beta]
    scale = 0.75 if per_key else 0.0
    want, want_state = linear_attention(*wide(*inputs), heads, rule, scale)
    outputs = [kind(dtype), kind(state or dtype)]
    got, present = run_node(
        "LinearAttention", inputs, 27, outputs, threads=2, q_num_heads=readers, kv_num_heads=writers, update_rule=rule,
        scale=scale,
    )  # fmt: skip
    assert (got.dtype, present.dtype) == (dtype, state or dtype)
    close(got, want, dtype, 4)
    close(present, want_state, state or dtype, 4)


@pytest.mark.parametrize(
    ("shapes", "attributes", "message"),
    [
        ([(1, 2, 4)] * 3, {"update_rule": "gated"}, "decay.*must be given"),
        ([(1, 2, 4)] * 3 + [None, (1, 2, 1)], {"update_rule": "linear"}, "decay.*must not be given"),
        ([(1, 2, 4)] * 3 + [None, None, (1, 2, 3)], {"update_rule": "delta"}, "beta"),
        ([(1, 2, 4)] * 3 + [(1, 1, 4, 3)], {"update_rule": "linear"}, r"past_state.*\[1, 1, 4, 4\]"),
        ([(1, 2, 4), (1, 2, 3), (1, 2, 4)], {"update_rule": "linear"}, "key.*4 numbers"),
        ([(1, 2, 4), (1, 2, 4), (1, 3, 4)], {"update_rule": "linear"}, r"value.*\[1, 2, numbers\]"),
        ([(1, 2, 4)] * 3, {"update_rule": "linear", "q_num_heads": 3, "kv_num_heads": 2}, "multiple of kv_num_heads"),
        ([(1, 2, 4)] * 3, {"update_rule": "other"}, "linear, gated, delta or gated_delta, got other"),
    ],
)
def test_linear_attention_refuses(run_node: Any, shapes: Any, attributes: Any, message: str) -> None:
    inputs = [None if shape is None else np.ones(shape, np.float32) for shape in shapes]
    attributes = {"q_num_heads": 1, "kv_num_heads": 1} | attributes
    with pytest.raises(Exception, match=message):
        run_node("LinearAttention", inputs, 27, [TensorProto.FLOAT] * 2, unranked=True, **attributes)
