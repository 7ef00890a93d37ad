# SPDX-License-Identifier: Apache-2.0
"""NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss against numpy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from float_checks import FLOATS, close, uniform
from kernel_arrays import kind

SHAPES = [(3, 5), (2, 4, 3), (2, 3, 2, 2), (1, 1, 2)]


def log_softmax(x: np.ndarray) -> np.ndarray:
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def loss_of(logs: np.ndarray, labels: np.ndarray, weight: Any, ignored: Any, reduction: str) -> np.ndarray:
    """Return the loss, in float64."""
    factors = np.ones(logs.shape[1]) if weight is None else weight.astype(np.float64)
    kept = np.ones(labels.shape, bool) if ignored is None else labels != ignored
    loss, weights = np.zeros(labels.shape), np.zeros(labels.shape)
    for place in np.argwhere(kept):
        n, *rest = place
        label = labels[tuple(place)]
        weights[tuple(place)] = factors[label]
        loss[tuple(place)] = -logs[(n, label, *rest)] * factors[label]
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.sum() / weights.sum()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [None, 1, -7])
def test_losses(run_node: Any, rng: Any, dtype: Any, shape: Any, reduction: str, weighted: bool, ignored: Any) -> None:
    x = uniform(rng, shape, dtype)
    labels = rng.integers(0, shape[1], (shape[0], *shape[2:])).astype(np.int32 if weighted else np.int64)
    if ignored is not None and labels.size > 1:
        labels.flat[:2] = 0, ignored
    weight = rng.uniform(0.5, 2, shape[1]).astype(dtype) if weighted else None
    attributes = {"reduction": reduction} | ({} if ignored is None else {"ignore_index": ignored})
    wide = x.astype(np.float64)
    (got,) = run_node("NegativeLogLikelihoodLoss", [x, labels, weight], 22, **attributes)
    assert got.dtype == dtype
    close(got, loss_of(wide, labels, weight, ignored, reduction), dtype, 10)
    logs = log_softmax(wide)
    got, got_logs = run_node(
        "SoftmaxCrossEntropyLoss", [x, labels, weight], 13, [kind(dtype)] * 2, threads=2, **attributes
    )
    assert got.dtype == got_logs.dtype == dtype
    close(got, loss_of(logs, labels, weight, ignored, reduction), dtype, 20)
    close(got_logs, logs, dtype, 4)


def test_large_scores_and_infinities(run_node: Any) -> None:
    x = np.array([[1000, 1001, -1e30], [np.inf, 0, 0], [-np.inf, 0, 0]], np.float32)
    labels = np.array([0, 1, 0])
    got, logs = run_node("SoftmaxCrossEntropyLoss", [x, labels], 13, [1, 1], reduction="none")
    np.testing.assert_allclose(got, [np.log(1 + np.e), np.nan, np.inf], rtol=1e-6)
    np.testing.assert_allclose(logs[2], [-np.inf, -np.log(2), -np.log(2)], rtol=1e-6)


def test_nothing_counts(run_node: Any) -> None:
    x, labels = np.zeros((2, 3), np.float32), np.array([1, 1])
    for name, opset in (("NegativeLogLikelihoodLoss", 13), ("SoftmaxCrossEntropyLoss", 12)):
        assert np.isnan(run_node(name, [x, labels], opset, ignore_index=1)[0])
        assert run_node(name, [x, labels], opset, ignore_index=1, reduction="sum")[0] == 0
        empty = run_node(name, [np.zeros((0, 3), np.float32), np.zeros(0, np.int64)], opset, reduction="none")[0]
        assert empty.shape == (0,)


@pytest.mark.parametrize("name", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
@pytest.mark.parametrize(
    ("shape", "labels", "weight", "attributes", "message"),
    [
        ((2, 3), [0, 3], None, {}, r"\[0, 3\), got 3"),
        ((2, 3), [0, -1], None, {"ignore_index": 1}, r"\[0, 3\), got -1"),
        ((2, 3), [0], None, {}, "without axis 1"),
        ((2, 3, 2), [0, 1], None, {}, "without axis 1"),
        ((2, 3), [0, 1], [1, 2], {}, "vector of 3"),
        ((2,), [0, 1], None, {}, "batch, classes"),
        ((2, 3), [0, 1], None, {"reduction": "max"}, "none, sum or mean"),
    ],
)
def test_losses_refuse(
    run_node: Any, name: str, shape: Any, labels: Any, weight: Any, attributes: Any, message: str
) -> None:
    inputs = [np.ones(shape, np.float32), np.array(labels), None if weight is None else np.array(weight, np.float32)]
    with pytest.raises(Exception, match=message):
        run_node(name, inputs, 13, unranked=True, **attributes)
