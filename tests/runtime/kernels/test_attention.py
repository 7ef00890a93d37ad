# SPDX-License-Identifier: Apache-2.0
"""Attention, RotaryEmbedding and TensorScatter against numpy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import MOVED_DTYPES, int64, kind, numbered, same
from onnx import TensorProto

SMALL_FLOATS = [np.float32, np.float16, ml_dtypes.bfloat16]


def split(x: np.ndarray, heads: int) -> np.ndarray:
    """Return matrices that hold heads side by side as [batch, heads, rows, size]."""
    batch, rows, columns = x.shape
    return x.reshape(batch, rows, heads, columns // heads).transpose(0, 2, 1, 3)


def expected(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    bias: Any = 0.0,
    scale: float | None = None,
    softcap: float = 0.0,
) -> dict[str, np.ndarray]:
    """Return the result and all that comes before it, in float64; `bias` is -inf where a query sees nothing."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    repeats = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, repeats, 1), np.repeat(v, repeats, 1)
    product = q @ k.swapaxes(2, 3) * (1 / np.sqrt(q.shape[3]) if scale is None else scale)
    capped = softcap * np.tanh(product / softcap) if softcap else product
    biased = np.where(np.isneginf(bias), -np.inf, capped + bias)
    most = biased.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(biased - np.where(np.isneginf(most), 0, most))
    sums = powers.sum(-1, keepdims=True)
    weights = powers / np.where(sums == 0, 1, sums)
    return {"y": weights @ v, "0": product, "1": capped, "2": biased, "3": weights}


def window(queries: int, keys: int, offset: int, left: int = -1, right: int = -1) -> np.ndarray:
    """Return a bias that lets a query see keys around its position."""
    distance = np.arange(keys)[None] - (np.arange(queries)[:, None] + offset)
    seen = (distance >= -left if left >= 0 else True) & (distance <= right if right >= 0 else distance < 1 << 30)
    return np.where(seen, 0, -np.inf)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("batch", "heads", "key_heads", "queries", "keys", "size", "value_size"),
    [
        (2, 3, 3, 4, 6, 8, 8),
        (1, 6, 2, 1, 19, 5, 7),
        (2, 4, 1, 70, 33, 16, 40),
        (1, 1, 1, 2, 1, 1, 1),
        (1, 2, 1, 130, 70, 3, 33),
    ],
)
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("threads", [1, 2])
def test_attention(
    run_node: Any, rng: Any, dtype: Any, batch: int, heads: int, key_heads: int, queries: int, keys: int, size: int,
    value_size: int, causal: int, threads: int,
) -> None:  # fmt: skip
    q = uniform(rng, (batch, heads, queries, size), dtype)
    k, v = (
        uniform(rng, (batch, key_heads, keys, size), dtype),
        uniform(rng, (batch, key_heads, keys, value_size), dtype),
    )
    want = expected(q, k, v, window(queries, keys, 0, right=0) if causal else 0.0)["y"]
    (got,) = run_node("Attention", [q, k, v], 23, is_causal=causal, threads=threads)
    close(got, want, dtype, scale=5)

    def flat(x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, x.shape[2], -1)

    (got,) = run_node(
        "Attention", [flat(q), flat(k), flat(v)], 24, is_causal=causal, q_num_heads=heads, kv_num_heads=key_heads
    )
    close(got, flat(want), dtype, scale=5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("softcap", [0.0, 0.5])
@pytest.mark.parametrize("queries", [1, 5])
def test_scores_of_attention(run_node: Any, rng: Any, dtype: Any, mode: int, softcap: float, queries: int) -> None:
    q, k = uniform(rng, (2, 4, queries, 8), dtype), uniform(rng, (2, 2, 6, 8), dtype)
    v, mask = uniform(rng, (2, 2, 6, 3), dtype), uniform(rng, (queries, 6), dtype)
    kinds = [kind(dtype), 0, 0, kind(dtype)]
    attributes = {"qk_matmul_output_mode": mode, "softcap": softcap, "scale": 0.5}
    y, scores = run_node("Attention", [q, k, v, mask], 23, kinds, is_causal=1, **attributes)
    bias = mask.astype(np.float64) + window(queries, 6, 0, right=0)
    want = expected(q, k, v, bias, 0.5, softcap)
    close(y, want["y"], dtype, scale=5)
    close(scores, want[str(mode)], dtype, scale=5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("flat", [False, True])
def test_cache_of_attention(run_node: Any, rng: Any, dtype: Any, flat: bool) -> None:
    heads, key_heads, queries, past = 4, 2, 3, 5
    q, k = uniform(rng, (2, queries, heads * 4), dtype), uniform(rng, (2, queries, key_heads * 4), dtype)
    v = uniform(rng, (2, queries, key_heads * 6), dtype)
    past_k, past_v = uniform(rng, (2, key_heads, past, 4), dtype), uniform(rng, (2, key_heads, past, 6), dtype)
    q4, k4, v4 = split(q, heads), split(k, key_heads), split(v, key_heads)
    full_k, full_v = np.concatenate([past_k, k4], 2), np.concatenate([past_v, v4], 2)
    want = expected(q4, full_k, full_v, window(queries, past + queries, past, right=0))["y"]
    own = kind(dtype)
    if flat:
        inputs, attributes = [q, k, v], {"q_num_heads": heads, "kv_num_heads": key_heads}
        want = want.transpose(0, 2, 1, 3).reshape(2, queries, -1)
    else:
        inputs, attributes = [np.ascontiguousarray(a) for a in (q4, k4, v4)], {}
    y, present_k, present_v = run_node(
        "Attention", [*inputs, None, past_k, past_v], 23, [own, own, own], is_causal=1, **attributes
    )
    close(y, want, dtype, scale=5)
    same(present_k, full_k)
    same(present_v, full_v)
    # Without a past the present keys are the keys.
    y, present_k, present_v = run_node("Attention", inputs, 23, [own, own, own], **attributes)
    same(present_k, k4)
    same(present_v, v4)


@pytest.mark.parametrize(
    "mask_dtype", [np.bool_, *FLOATS, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
)
@pytest.mark.parametrize("shape", [(6,), (1, 6), (4, 6), (3, 1, 6), (2, 1, 4, 6), (1, 3, 4, 6), (2, 3, 4, 4)], ids=str)
def test_masks(run_node: Any, rng: Any, mask_dtype: Any, shape: Any) -> None:
    q, k, v = (uniform(rng, (2, 3, rows, 8), np.float32) for rows in (4, 6, 6))
    if mask_dtype is np.bool_:
        mask = rng.integers(0, 2, shape).astype(np.bool_)
        bias = np.where(mask, 0, -np.inf)
    else:
        mask = rng.integers(0, 4, shape).astype(mask_dtype)
        bias = mask.astype(np.float64)
    bias = np.concatenate([bias, np.full((*shape[:-1], 6 - shape[-1]), -np.inf)], -1)
    (got,) = run_node("Attention", [q, k, v, mask], 23)
    close(got, expected(q, k, v, bias)["y"], np.float32, scale=5)


@pytest.mark.parametrize("queries", [1, 4])
def test_queries_that_see_nothing(run_node: Any, rng: Any, queries: int) -> None:
    q, k, v = (uniform(rng, (1, 1, rows, 8), np.float32) for rows in (queries, 6, 6))
    k[0, 0, 2] = np.nan  # never written, and never to be seen
    v[0, 0, 2] = 0
    mask = np.ones((queries, 6), np.bool_)
    mask[:, 2] = False
    mask[0] = False
    y, weights = run_node("Attention", [q, k, v, mask], 23, [1, 0, 0, 1], qk_matmul_output_mode=3)
    assert not y[0, 0, 0].any()
    assert not weights[0, 0, 0].any()
    assert np.isfinite(y).all()
    assert not weights[..., 2].any()


@pytest.mark.parametrize("queries", [1, 3, 9])
@pytest.mark.parametrize("causal", [0, 1])
def test_keys_that_are_padding(run_node: Any, rng: Any, queries: int, causal: int) -> None:
    q, k, v = (uniform(rng, (3, 2, rows, 8), np.float32) for rows in (queries, 7, 7))
    valid = int64([3, 7, 0])
    bias = np.stack(
        [
            np.where(np.arange(7) < n, 0, -np.inf) + (window(queries, 7, n - queries, right=0) if causal else 0)
            for n in valid
        ]
    )[:, None]
    bias = np.broadcast_to(bias, (3, 1, queries, 7)) if causal else bias.reshape(3, 1, 1, 7)
    want = expected(q, k, v, bias)
    for b, n in enumerate(valid):
        k[b, :, n:] = v[b, :, n:] = np.nan  # memory that was never written
    (y,) = run_node("Attention", [q, k, v, None, None, None, valid], 24, is_causal=causal)
    close(y, want["y"], np.float32, scale=5)


@pytest.mark.parametrize(("left", "right"), [(2, 0), (0, 0), (1, 2), (-1, 1), (3, -1)])
@pytest.mark.parametrize("causal", [0, 1])
def test_windows(run_node: Any, rng: Any, left: int, right: int, causal: int) -> None:
    q, k, v = (uniform(rng, (2, 2, rows, 8), np.float32) for rows in (6, 9, 9))
    want = expected(q, k, v, window(6, 9, 0, left, 0 if causal else right))["y"]
    attributes = {"left_window_size": left, "right_window_size": right, "is_causal": causal}
    (y,) = run_node("Attention", [q, k, v], 25, **attributes)
    close(y, want, np.float32, scale=5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("precision", [1, 10, 11, 16])
def test_precision_of_the_softmax(run_node: Any, rng: Any, dtype: Any, precision: int) -> None:
    q, k, v = (uniform(rng, (1, 2, rows, 8), dtype) for rows in (4, 6, 6))
    (y,) = run_node("Attention", [q, k, v], 23, softmax_precision=precision)
    narrow = {10: np.float16, 16: ml_dtypes.bfloat16}.get(precision, np.float32 if precision == 1 else np.float64)
    loosest = max([dtype, narrow], key=lambda t: float(ml_dtypes.finfo(t).eps))
    close(y, expected(q, k, v)["y"], loosest, scale=5)
    if np.dtype(loosest) != np.dtype(dtype):  # and it is rounded to that type indeed
        (exact,) = run_node("Attention", [q, k, v], 23)
        assert not np.array_equal(exact, y)


def test_values_of_another_type_and_no_keys(run_node: Any, rng: Any) -> None:
    q, k = uniform(rng, (1, 2, 3, 4), np.float32), uniform(rng, (1, 2, 5, 4), np.float32)
    v = uniform(rng, (1, 2, 5, 6), np.float64)
    (y,) = run_node("Attention", [q, k, v], 23, [TensorProto.FLOAT])
    close(y, expected(q, k, v)["y"], np.float32)
    empty = np.zeros((1, 2, 0, 4), np.float32)
    (y,) = run_node("Attention", [q, empty, empty], 23)
    same(y, np.zeros((1, 2, 3, 4), np.float32))
    (y,) = run_node("Attention", [empty, k, k], 23)
    assert y.shape == (1, 2, 0, 4)


@pytest.mark.parametrize(("change", "message"), [
    ({"q_num_heads": 3}, r"input 0 \(Q\): must have a multiple of q_num_heads columns"),
    ({"kv_num_heads": 4, "q_num_heads": 2}, r"input 1 \(K\): must have"),
    ({"qk_matmul_output_mode": 4}, "qk_matmul_output_mode: must be 0, 1, 2 or 3, got 4"),
    ({"softmax_precision": 7}, "softmax_precision: must be 1, 10, 11 or 16, got 7"),
    ({"scale": -1.0}, "scale: must not be negative"),
])  # fmt: skip
def test_attributes_of_attention(run_node: Any, change: dict[str, Any], message: str) -> None:
    x = np.ones((1, 2, 8), np.float32)
    with pytest.raises(Exception, match=message):
        run_node("Attention", [x, x, x], 23, unranked=True, **{"q_num_heads": 2, "kv_num_heads": 2, **change})


def test_inputs_of_attention(run_node: Any) -> None:
    x = np.ones((1, 2, 3, 4), np.float32)
    for inputs, message in [
        ([x, np.ones((1, 2, 3, 5), np.float32), x], r"input 1 \(K\): must have the rank, the batch and the head size"),
        ([x, x, np.ones((1, 2, 2, 4), np.float32)], r"input 2 \(V\): must have the rank, the batch, the heads"),
        ([x, x, x, np.ones((2, 3), np.bool_)], r"input 3 \(attn_mask\): must broadcast to \[1, 2, 3, 3\]"),
        ([x, x, x, np.ones((3, 4), np.bool_)], r"input 3 \(attn_mask\)"),
        ([x, x, x, None, x], r"input 5 \(past_value\): must be given"),
        ([x, x, x, None, x, np.ones((1, 2, 4, 4), np.float32)], r"input 5 \(past_value\): must have extents"),
        ([x, x, x, None, None, None, int64([4])], r"input 6 \(nonpad_kv_seqlen\): must be in \[0, 3\], got 4"),
        ([x, x, x, None, x, x, int64([3])], r"input 6 \(nonpad_kv_seqlen\): must not be given together"),
    ]:
        with pytest.raises(Exception, match=message):
            run_node("Attention", inputs, 24, unranked=True)


@pytest.mark.parametrize("dtype", SMALL_FLOATS)
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rotary", [0, 4])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("indexed", [False, True])
def test_rotary_embedding(
    run_node: Any, rng: Any, dtype: Any, interleaved: int, rotary: int, flat: bool, indexed: bool
) -> None:
    batch, heads, steps, size = 2, 3, 5, 8
    x = uniform(rng, (batch, heads, steps, size), dtype)
    half = (rotary or size) // 2
    angles = rng.uniform(-3, 3, (11, half) if indexed else (batch, steps, half))
    cosines, sines = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
    inputs = [x, cosines, sines]
    positions = rng.integers(0, 11, (batch, steps))
    chosen = [(c[positions] if indexed else c).astype(np.float64)[:, None] for c in (cosines, sines)]
    wide = x.astype(np.float64)
    want = wide.copy()
    real = slice(0, 2 * half, 2) if interleaved else slice(0, half)
    imaginary = slice(1, 2 * half, 2) if interleaved else slice(half, 2 * half)
    # As complex numbers: a product with one of length 1.
    turned = (wide[..., real] + 1j * wide[..., imaginary]) * (chosen[0] + 1j * chosen[1])
    want[..., real], want[..., imaginary] = turned.real, turned.imag
    attributes: dict[str, Any] = {"interleaved": interleaved, "rotary_embedding_dim": rotary}
    if flat:
        inputs[0] = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, steps, -1)
        want = want.transpose(0, 2, 1, 3).reshape(batch, steps, -1)
        attributes["num_heads"] = heads
    (got,) = run_node("RotaryEmbedding", [*inputs, *([positions] if indexed else [])], 23, **attributes)
    close(got, want, dtype)


def test_inputs_of_rotary_embedding(run_node: Any) -> None:
    x, cache, positions = np.ones((1, 2, 3, 4), np.float32), np.ones((5, 2), np.float32), int64([[0, 1, 5]])
    for inputs, attributes, message in [
        ([x, cache, cache, positions], {}, r"input 3 \(position_ids\): must be in \[0, 4\], got 5"),
        ([x, cache, cache], {}, r"input 1 \(cos_cache\): must be \[1, 3, 2\] without position_ids"),
        ([x, cache, cache[:4], positions], {}, r"input 2 \(sin_cache\): must have the extents of cos_cache"),
        ([x, cache, cache, positions], {"rotary_embedding_dim": 3}, "rotary_embedding_dim: must be even"),
        ([x[0], cache, cache, positions], {}, r"input 0 \(X\): must have a multiple of num_heads columns"),
        ([x[..., :3], cache, cache, positions], {}, r"input 0 \(X\): must have heads of an even size"),
    ]:
        with pytest.raises(Exception, match=message):
            run_node("RotaryEmbedding", inputs, 23, unranked=True, **attributes)


@pytest.mark.parametrize("dtype", MOVED_DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((2, 7, 3), -2), ((2, 3, 7), 2), ((3, 2, 5, 2), 2), ((1, 4), 1)], ids=str)
@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_tensor_scatter(run_node: Any, rng: Any, dtype: Any, shape: Any, axis: int, mode: str) -> None:
    axis %= len(shape)
    for steps in (0, 1, 3, shape[axis]):
        past = numbered(shape, dtype)
        update = numbered((*shape[:axis], steps, *shape[axis + 1 :]), dtype, 100)
        starts = rng.integers(0, (20 if mode == "circular" else shape[axis] - steps) + 1, shape[0])
        for given in (starts, None):
            want = past.copy()
            for b in range(shape[0]):
                for s in range(steps):
                    at = (s + (0 if given is None else given[b])) % shape[axis]
                    place: list[Any] = [b, *[slice(None)] * (len(shape) - 1)]
                    source = list(place)
                    place[axis], source[axis] = at, s
                    want[tuple(place)] = update[tuple(source)]
            inputs = [past, update, *([given] if given is not None else [])]
            (got,) = run_node("TensorScatter", inputs, 24, [kind(past.dtype)], axis=axis, mode=mode)
            same(got, want)


def test_inputs_of_tensor_scatter(run_node: Any) -> None:
    past, update = np.zeros((2, 4, 3), np.float32), np.ones((2, 2, 3), np.float32)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ([past, update, int64([0, 3])], {}, r"input 2 \(write_indices\): must be in \[0, 2\].*got 3 for sample 1"),
        ([past, update, int64([0])], {}, r"input 2 \(write_indices\): must be a vector of 2"),
        ([past, np.ones((2, 5, 3), np.float32)], {}, r"input 1 \(update\): must have the extents of float\[2, 4, 3\]"),
        ([past, update], {"axis": 0}, "axis: must not be the batch axis"),
        ([past, update], {"mode": "round"}, "mode: must be linear or circular, got round"),
    ]
    for inputs, attributes, message in cases:
        with pytest.raises(Exception, match=message):
            run_node("TensorScatter", inputs, 24, unranked=True, **attributes)
