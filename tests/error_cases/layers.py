# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, attention and the like in extended precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from error_cases.case import Case, Exact, near
from error_cases.elementwise import sigmoid

Rng = np.random.Generator
SMALL = (np.float32, np.float16, ml_dtypes.bfloat16)


def made(*shapes: Any, scale: float = 1, extra: Callable[[Rng], list[np.ndarray]] | None = None) -> Any:
    """Return a function that makes an array of each shape, and others after them."""

    def make(rng: Rng, dtype: Any) -> list[Any]:
        arrays = [(near(rng, shape, np.float64) * scale).astype(dtype) for shape in shapes]
        return [*arrays, *(extra(rng) if extra else [])]

    return make


def recurrent(gates: int) -> Callable[..., Any]:
    """Return a layer of 1 (RNN), 3 (GRU, linear before reset) or 4 (LSTM) gates; its states are of the order of one."""

    def exact(x: Any, w: Any, r: Any, b: Any) -> Any:
        weights, again = np.split(w[0], gates), np.split(r[0], gates)
        ahead, behind = (np.split(part, gates) for part in np.split(b[0], 2))
        h = np.zeros((x.shape[1], r.shape[2]), Exact)
        c, y = h, []

        def part(g: int, step: Any, state: Any) -> tuple[Any, Any]:
            return step @ weights[g].T + ahead[g], state @ again[g].T + behind[g]

        for step in x:
            if gates == 1:
                h = np.tanh(sum(part(0, step, h)))
            elif gates == 3:
                update, reset = (sigmoid(sum(part(g, step, h))) for g in (0, 1))
                new, old = part(2, step, h)
                h = (1 - update) * np.tanh(new + reset * old) + update * h
            else:
                enter, leave, forget = (sigmoid(sum(part(g, step, h))) for g in (0, 1, 2))
                c = forget * c + enter * np.tanh(sum(part(3, step, h)))
                h = leave * np.tanh(c)
            y.append(h[None])
        found = [np.stack(y), h[None], *([c[None]] if gates == 4 else [])]
        return [(one, Exact(1)) for one in found]

    return exact


def attention(causal: bool) -> Callable[..., Any]:
    """Return attention with two queries to a key; it is a mean of values, with weights from exponents."""

    def exact(q: Any, k: Any, v: Any) -> Any:
        k, v = (np.repeat(a, 2, 1) for a in (k, v))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(Exact(q.shape[3]))
        if causal:
            scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        weights = powers / powers.sum(-1, keepdims=True)
        sizes = np.abs(q) @ np.abs(k).swapaxes(2, 3) / np.sqrt(Exact(q.shape[3]))
        return weights @ v, (weights * (1 + sizes)) @ np.abs(v)

    return exact


def rotary(x: Any, cos: Any, sin: Any, positions: Any) -> Any:
    """Rotate the halves of each head by the angles of its position."""
    one, two = np.split(x, 2, -1)
    c, s = (table[positions][:, None] for table in (cos, sin))
    return np.concatenate([c * one - s * two, s * one + c * two], -1), np.concatenate(
        [np.abs(c * one) + np.abs(s * two), np.abs(s * one) + np.abs(c * two)], -1
    )


def rotations(rng: Rng, dtype: Any) -> list[np.ndarray]:
    """Return heads, cosines and sines of positions, and the positions."""
    angles = rng.uniform(-3, 3, (50, 8))
    parts = [np.asarray(part).astype(dtype) for part in (np.cos(angles), np.sin(angles))]
    return [near(rng, (2, 3, 5, 16), dtype), *parts, rng.integers(0, 50, (2, 5))]


def swiglu(a: Any, b: Any) -> Any:
    """A swish of one input times the other."""
    y = a * sigmoid(a) * b
    return y, np.abs(y)


def causal_conv(x: Any, w: Any, b: Any) -> Any:
    """A line of weights for each channel, and what the next call begins with."""
    line = np.pad(x, ((0, 0), (0, 0), (w.shape[2] - 1, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(line, w.shape[2], 2)
    factors = w[:, 0][:, None]
    y, size = (seen * factors).sum(-1) + b[:, None], np.abs(seen * factors).sum(-1) + np.abs(b[:, None])
    return [(y, size), (line[..., x.shape[2] :], Exact(0))]


def linear_attention(q: Any, k: Any, v: Any) -> Any:
    """One head: each step adds to a state that the query reads; the magnitudes likewise."""
    found = []
    for parts in ((q, k, v), tuple(np.abs(a) for a in (q, k, v))):
        state = np.zeros((len(q), q.shape[2], v.shape[2]), Exact)
        rows = []
        for t in range(q.shape[1]):
            state = state + parts[1][:, t, :, None] * parts[2][:, t, None, :]
            rows.append((parts[0][:, t, None, :] @ state)[:, 0])
        found.append((np.stack(rows, 1) / np.sqrt(Exact(q.shape[2])), state[:, None]))
    return list(zip(*found, strict=True))


def dft(x: Any, length: Any) -> Any:
    """The sums of a transform, of a line of pairs, which are of the order of the sum of the magnitudes."""
    n = int(length)
    steps = np.arange(n)
    angles = -2 * Exact("3.14159265358979323846264338327950288") * ((steps[:, None] * steps) % n) / n
    c, s = np.cos(angles), np.sin(angles)
    real, imaginary = x[:, :n, 0], x[:, :n, 1]
    y = np.stack([real @ c.T - imaginary @ s.T, real @ s.T + imaginary @ c.T], -1)
    return y, np.sqrt((x * x).sum((1, 2)))[:, None, None] * np.ones_like(y) * np.log2(Exact(n))


def cases() -> Iterator[Case]:
    """Yield them."""
    for op_type, gates, outputs in (("RNN", 1, 2), ("GRU", 3, 2), ("LSTM", 4, 3)):
        hidden, size = 20, 12
        weights = (1, gates * hidden, size), (1, gates * hidden, hidden), (1, 2 * gates * hidden)
        more = {"linear_before_reset": 1} if gates == 3 else {}
        yield Case(op_type, 22, made((6, 3, size), *weights, scale=0.3), recurrent(gates),
                   {"hidden_size": hidden, **more}, outputs=outputs)  # fmt: skip
    for causal in (False, True):
        yield Case("Attention", 23, made((2, 4, 9, 16), (2, 2, 9, 16), (2, 2, 9, 24)), attention(causal),
                   {"is_causal": int(causal)}, variant="causal" if causal else "")  # fmt: skip
    yield Case("RotaryEmbedding", 23, rotations, rotary, dtypes=SMALL)
    yield Case("SwiGLU", 28, made((7, 400), (7, 400), scale=3), swiglu)
    yield Case("CausalConvWithState", 27, made((2, 5, 30), (5, 1, 4), (5,)), causal_conv, {"activation": "none"},
               outputs=2, dtypes=SMALL)  # fmt: skip
    yield Case("LinearAttention", 27, made((2, 20, 8), (2, 20, 8), (2, 20, 6)), linear_attention,
               {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "linear"}, outputs=2, dtypes=SMALL)  # fmt: skip
    for n in (64, 60, 97):
        line = made((3, n, 2), extra=lambda rng, n=n: [np.array(n)])
        yield Case("DFT", 20, line, dft, variant=str(n))
