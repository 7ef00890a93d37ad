# SPDX-License-Identifier: Apache-2.0
"""Linear models, support vector machines and trees of ai.onnx.ml, against numpy in float64.

What a single score becomes in a classifier of two classes is what ONNX Runtime makes of it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from kernel_arrays import int64, same
from onnx import TensorProto, numpy_helper

NUMBERS = [np.float32, np.float64, np.int64, np.int32]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


@pytest.fixture
def run_ml(run_node: Any) -> Any:
    """Run one node of the domain ai.onnx.ml."""

    def run(op: str, inputs: Any, outputs: Any, opset: int = 1, **attributes: Any) -> Any:
        return run_node(op, inputs, opset, outputs, domain="ai.onnx.ml", **attributes)

    return run


def f32(values: Any) -> Any:
    """Return what attributes hold, in float64."""
    return np.asarray(values, np.float32).astype(np.float64)


def near(got: np.ndarray, want: np.ndarray, tolerance: float = 3e-6) -> None:
    """Check shape and values."""
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def transformed(name: str, scores: Any) -> Any:
    """Return rows of two or more scores, transformed; PROBIT by the textbook's approximation of the inverse of erf."""
    scores = np.asarray(scores, np.float64)
    if name == "LOGISTIC":
        return logistic(scores)
    if name == "PROBIT":
        with np.errstate(all="ignore"):
            x = 2 * scores - 1
            log = np.log(1 - x * x)
            first = 2 / (np.pi * 0.147) + log / 2
            return np.sqrt(2) * np.sign(x) * np.sqrt(np.sqrt(first * first - log / 0.147) - first)
    if name in ("SOFTMAX", "SOFTMAX_ZERO"):
        powers = np.exp(scores - scores.max(1, keepdims=True))
        if name == "SOFTMAX_ZERO":
            powers[np.abs(scores) <= 1e-7] = 0
        return powers / powers.sum(1, keepdims=True)
    return scores


def two_scores(name: str, score: Any, complement: bool) -> Any:
    """Return the scores of both classes, made from that of the second one."""
    if name == "LOGISTIC":
        return np.stack([logistic(-score), logistic(score)], 1)
    if name == "PROBIT":
        return transformed(name, np.stack([1 - score, score], 1))
    return np.stack([1 - score if complement else -score, score], 1)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(("rows", "columns", "targets"), [(4, 3, 2), (70, 33, 19), (1, 1, 1), (0, 3, 2)])
def test_linear_regressor(
    run_ml: Any, rng: Any, dtype: Any, transform: str, rows: int, columns: int, targets: int
) -> None:
    x = rng.uniform(0, 3, (rows, columns)).astype(dtype)
    w, b = rng.uniform(0, 1 / columns, (targets, columns)), rng.uniform(0, 0.1, targets)
    attributes = {"coefficients": (w / 4).ravel().tolist(), "targets": targets, "post_transform": transform}
    scores = x.astype(np.float64) @ f32(w / 4).T
    for with_intercepts in (False, True):
        want = scores + (f32(b) if with_intercepts else 0)
        if targets > 1 or transform == "PROBIT":
            want = transformed(transform, want) if rows else want
        (got,) = run_ml("LinearRegressor", [x], [FLOAT], **attributes, **({"intercepts": b} if with_intercepts else {}))
        near(got, want, 1e-5)
    if rows:
        (got,) = run_ml("LinearRegressor", [x[0]], [FLOAT], intercepts=b, **attributes)
        near(got, want[:1], 1e-5)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("names", [[5, -7, 9], ["a", "b", "c"]], ids=str)
def test_linear_classifier(run_ml: Any, rng: Any, dtype: Any, transform: str, names: Any) -> None:
    x = rng.uniform(0, 3, (9, 4)).astype(dtype)
    w, b = rng.uniform(0, 0.08, (3, 4)), rng.uniform(0, 0.04, 3)
    scores = x.astype(np.float64) @ f32(w).T + f32(b)
    strings = isinstance(names[0], str)
    attributes = {"classlabels_strings" if strings else "classlabels_ints": names, "post_transform": transform}
    y, z = run_ml(
        "LinearClassifier", [x], [STRING if strings else INT64, FLOAT], coefficients=w.ravel(), intercepts=b,
        **attributes,
    )  # fmt: skip
    assert y.tolist() == [names[i] for i in scores.argmax(1)]
    near(z, transformed(transform, scores), 1e-5)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_linear_classifier_of_two_classes(run_ml: Any, transform: str) -> None:
    x: Any = np.array([[-1, 0.3], [0.5, 1], [0.2, 0.1], [0, 0]], np.float32)
    if transform == "PROBIT":
        x = np.abs(x) / 2  # scores that are probabilities
    scores = x @ f32([1, 0.5]) + f32(0.1)
    y, z = run_ml(
        "LinearClassifier", [x], [INT64, FLOAT], coefficients=[1.0, 0.5], intercepts=[0.1], classlabels_ints=[5, 7],
        post_transform=transform,
    )  # fmt: skip
    same(y, np.where(scores > 0, 7, 5))
    near(z, two_scores(transform, scores, complement=True))


def test_attributes_of_linear_models(run_ml: Any) -> None:
    x = np.ones((2, 3), np.float32)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"coefficients": [1.0] * 4, "targets": 3}, "coefficients: must have a multiple of 3 elements, got 4"),
        ({"coefficients": [1.0] * 6, "targets": 2, "intercepts": [1.0]}, "intercepts: must have 2 elements, got 1"),
        ({"coefficients": [1.0] * 4, "targets": 2}, r"input 0 \(X\): must have 2 columns"),
        ({"coefficients": [1.0] * 3, "post_transform": "EXP"}, "post_transform: must be NONE.*got EXP"),
    ]
    for attributes, message in cases:
        with pytest.raises(Exception, match=message):
            run_ml("LinearRegressor", [x], [FLOAT], **attributes)
    with pytest.raises(Exception, match="classlabels_ints and classlabels_strings: one of them must have labels"):
        run_ml("LinearClassifier", [x], [INT64, FLOAT], coefficients=[1.0] * 3, intercepts=[0.0])
    with pytest.raises(Exception, match="intercepts: must have an element for each class, or one for two classes"):
        run_ml(
            "LinearClassifier",
            [x],
            [INT64, FLOAT],
            coefficients=[1.0] * 3,
            intercepts=[0.0],
            classlabels_ints=[1, 2, 3],
        )


PARAMETERS = [0.5, 0.25, 3.0]  # gamma, coef0, degree


def kernel_values(name: str, x: np.ndarray, vectors: np.ndarray) -> Any:
    """Return the kernel function of each row with each vector."""
    gamma, offset, degree = PARAMETERS
    products = x.astype(np.float64) @ vectors.T
    if name == "RBF":
        return np.exp(-gamma * ((x.astype(np.float64)[:, None] - vectors[None]) ** 2).sum(2))
    return {
        "LINEAR": products,
        "POLY": (gamma * products + offset) ** degree,
        "SIGMOID": np.tanh(gamma * products + offset),
    }[name]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("columns", [2, 37])
def test_svm_regressor(run_ml: Any, rng: Any, dtype: Any, kernel: str, columns: int) -> None:
    x = rng.uniform(-2, 3, (6, columns)).astype(dtype)
    vectors, w = rng.uniform(-1, 1, (5, columns)) / np.sqrt(columns), rng.uniform(-1, 1, 5)
    attributes = {
        "coefficients": w, "support_vectors": vectors.ravel(), "n_supports": 5, "rho": [0.25],
        "kernel_type": kernel, "kernel_params": PARAMETERS,
    }  # fmt: skip
    want = kernel_values(kernel, x, f32(vectors)) @ f32(w) + 0.25
    near(run_ml("SVMRegressor", [x], [FLOAT], **attributes)[0], want[:, None], 2e-5)
    (got,) = run_ml("SVMRegressor", [x], [FLOAT], one_class=1, **attributes)
    near(got, np.where(want > 0, 1, -1)[:, None])
    (got,) = run_ml("SVMRegressor", [x], [FLOAT], coefficients=vectors[0], rho=[0.25], kernel_type=kernel)
    near(got, (x.astype(np.float64) @ f32(vectors[0]) + 0.25)[:, None], 2e-5)


def pair_scores(counts: list[int], w: np.ndarray, values: np.ndarray, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the score of each pair of classes and the votes for each class."""
    first = np.concatenate([[0], np.cumsum(counts)])
    scores, votes = [], np.zeros((len(values), len(counts)))
    for pair, (i, j) in enumerate(itertools.combinations(range(len(counts)), 2)):
        of_i, of_j = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
        score = values[:, of_i] @ w[j - 1, of_i] + values[:, of_j] @ w[i, of_j] + rho[pair]
        votes[np.arange(len(values)), np.where(score > 0, i, j)] += 1
        scores.append(score)
    return np.stack(scores, 1), votes


def optimal_probabilities(pairs: np.ndarray) -> Any:
    """Return what minimises sum over i != j of (r[j, i] p[i] - r[i, j] p[j])^2 with sum p = 1, by linear algebra."""
    n = len(pairs)
    q = -pairs.T * pairs
    q[np.diag_indices(n)] = [sum(pairs[j, i] ** 2 for j in range(n) if j != i) for i in range(n)]
    system = np.block([[q, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    return np.linalg.solve(system, np.eye(n + 1)[n])[:n]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("counts", [[3, 2], [2, 3, 1], [1, 2, 3, 2]], ids=str)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_svm_classifier(run_ml: Any, rng: Any, dtype: Any, kernel: str, counts: list[int], transform: str) -> None:
    classes, total = len(counts), sum(counts)
    pairs = classes * (classes - 1) // 2
    x = rng.uniform(-2, 3, (8, 3)).astype(dtype)
    vectors, w = rng.uniform(-1, 1, (total, 3)), rng.uniform(-1, 1, (classes - 1, total))
    rho, a, b = rng.uniform(-0.5, 0.5, pairs), rng.uniform(-2, -1, pairs), rng.uniform(-0.2, 0.2, pairs)
    names = [f"class {i}" for i in range(classes)]
    attributes = {
        "classlabels_strings": names, "coefficients": w.ravel(), "support_vectors": vectors.ravel(),
        "vectors_per_class": counts, "rho": rho, "kernel_type": kernel, "kernel_params": PARAMETERS,
        "post_transform": transform,
    }  # fmt: skip
    scores, votes = pair_scores(counts, f32(w), kernel_values(kernel, x, f32(vectors)), f32(rho))
    y, z = run_ml("SVMClassifier", [x], [STRING, FLOAT], **attributes)
    assert y.tolist() == [names[i] for i in votes.argmax(1)]
    if transform != "PROBIT":  # such scores are no probabilities
        want = (
            two_scores(transform, scores[:, 0], complement=transform != "NONE")
            if classes == 2
            else transformed(transform, scores)
        )
        near(z, want, 5e-5)

    y, z = run_ml("SVMClassifier", [x], [STRING, FLOAT], prob_a=a, prob_b=b, **attributes)
    assert y.tolist() == [names[i] for i in votes.argmax(1)]
    if transform == "NONE":
        # Iterated until the conditions hold to 0.005 / classes, as LIBSVM does.
        for row, got in zip(scores, z, strict=True):
            r = np.zeros((classes, classes))
            for pair, (i, j) in enumerate(itertools.combinations(range(classes), 2)):
                r[i, j] = np.clip(logistic(-(row[pair] * f32(a[pair]) + f32(b[pair]))), 1e-7, 1 - 1e-7)
                r[j, i] = 1 - r[i, j]
            np.testing.assert_allclose(got, optimal_probabilities(r), atol=0.02)
            np.testing.assert_allclose(got.sum(), 1, rtol=1e-6)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_svm_classifier_without_vectors(run_ml: Any, rng: Any, transform: str) -> None:
    x = rng.uniform(-2, 3, (8, 4)).astype(np.float32)
    w = rng.uniform(-1, 1, (3, 4))
    y, z = run_ml(
        "SVMClassifier", [x], [INT64, FLOAT], classlabels_ints=[4, 5, 6], coefficients=w.ravel(), rho=[0.25],
        post_transform=transform,
    )  # fmt: skip
    scores = x @ f32(w).T + 0.25
    same(y, scores.argmax(1) + 4)
    near(z, transformed(transform, scores))


def test_attributes_of_svm(run_ml: Any) -> None:
    x = np.ones((2, 2), np.float32)
    base: dict[str, Any] = {
        "coefficients": [1.0, 2.0],
        "support_vectors": [1.0, 2.0, 3.0, 4.0],
        "n_supports": 2,
        "rho": [0.0],
    }
    cases: list[tuple[dict[str, Any], str]] = [
        ({"kernel_type": "COSINE"}, "kernel_type: must be LINEAR, POLY, RBF or SIGMOID, got COSINE"),
        ({"kernel_params": [1.0]}, "kernel_params: must be gamma, coef0 and degree, got 1 elements"),
        ({"support_vectors": [1.0] * 3}, "support_vectors: must have a multiple of 2 elements, got 3"),
        ({"coefficients": [1.0]}, "coefficients: must have at least 2 elements, got 1"),
        ({"support_vectors": [1.0] * 6}, r"input 0 \(X\): must have 3 columns"),
    ]
    for change, message in cases:
        with pytest.raises(Exception, match=message):
            run_ml("SVMRegressor", [x], [FLOAT], **{**base, **change})


class Node:
    """A random tree."""

    def __init__(self, rng: Any, depth: int, features: int, targets: int, modes: list[str]) -> None:
        self.leaf = depth == 0 or (rng.random() < 0.2 and depth < 3)
        if self.leaf:
            chosen = rng.permutation(targets)[: rng.integers(1, targets + 1)]
            self.votes = [(int(t), float(np.float32(rng.uniform(-1, 1)))) for t in chosen]
            return
        self.feature, self.value = int(rng.integers(features)), float(rng.integers(-3, 4))
        self.mode, self.missing = modes[rng.integers(len(modes))], bool(rng.integers(2))
        self.children = [Node(rng, depth - 1, features, targets, modes) for _ in range(2)]

    def find(self, x: np.ndarray) -> list[tuple[int, float]]:
        """Return the votes of the leaf that a row reaches."""
        if self.leaf:
            return self.votes
        value = x[self.feature]
        holds = {
            "BRANCH_LEQ": value <= self.value, "BRANCH_LT": value < self.value, "BRANCH_GTE": value >= self.value,
            "BRANCH_GT": value > self.value, "BRANCH_EQ": value == self.value, "BRANCH_NEQ": value != self.value,
        }[self.mode]  # fmt: skip
        return self.children[0 if holds or (self.missing and np.isnan(value)) else 1].find(x)

    def all(self) -> list[Node]:
        return [self] if self.leaf else [self, *self.children[0].all(), *self.children[1].all()]


def attributes_of(trees: list[Node], votes: str, rng: Any, wide: bool) -> dict[str, Any]:
    """Return the trees as TreeEnsembleRegressor and TreeEnsembleClassifier want them."""
    a: dict[str, Any] = {f"nodes_{n}": [] for n in (
        "treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
        "missing_value_tracks_true",
    )}  # fmt: skip
    cast: list[tuple[int, int, int, float]] = []
    for number, tree in enumerate(trees):
        nodes = tree.all()
        ids = {id(node): i for i, node in enumerate(nodes)}
        for i, node in enumerate(nodes):
            of_node = (
                [0, 0.0, "LEAF", 0, 0, 0]
                if node.leaf
                else [node.feature, node.value, node.mode, *(ids[id(c)] for c in node.children), int(node.missing)]
            )
            a["nodes_treeids"].append(number)
            a["nodes_nodeids"].append(i)
            names = ("featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")
            for name, value in zip(names, of_node, strict=True):
                a[f"nodes_{name}"].append(value)
            if node.leaf:
                cast += [(number, i, target, weight) for target, weight in node.votes]
    cast = [cast[i] for i in rng.permutation(len(cast))]
    for name, column in zip(("treeids", "nodeids", "ids", "weights"), zip(*cast, strict=True), strict=True):
        a[f"{votes}_{name}"] = list(column)
    if wide:
        for name in ("nodes_values", f"{votes}_weights"):
            a[f"{name}_as_tensor"] = numpy_helper.from_array(np.array(a.pop(name), np.float64))
    return a


def rows_for_trees(rng: Any, rows: int, features: int, dtype: Any) -> Any:
    """Return values on both sides of the thresholds, on them, and missing ones."""
    x = rng.integers(-4, 5, (rows, features)).astype(dtype)
    if dtype in (np.float16, np.float32, np.float64):
        x[rng.random(x.shape) < 0.2] = np.nan
        x[rng.random(x.shape) < 0.05] = np.inf
    return x


ALL_MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def gathered(trees: list[Node], x: np.ndarray, targets: int, aggregate: str) -> np.ndarray:
    """Return the aggregated votes; 0 for a target that has none."""
    out = np.zeros((len(x), targets))
    for i, row in enumerate(x):
        votes = [vote for tree in trees for vote in tree.find(row)]
        for t in range(targets):
            weights = [w for target, w in votes if target == t]
            if weights:
                out[i, t] = {"MIN": min, "MAX": max}.get(aggregate, sum)(weights)
                out[i, t] /= len(trees) if aggregate == "AVERAGE" else 1
    return out


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("modes", [["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_GT"], ALL_MODES], ids=str)
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("opset", [1, 3])
def test_tree_regressor(run_ml: Any, rng: Any, dtype: Any, modes: list[str], aggregate: str, opset: int) -> None:
    for targets, count in ((1, 1), (3, 11)):
        trees = [Node(rng, 5, 4, targets, modes) for _ in range(count)]
        x = rows_for_trees(rng, 75, 4, dtype)
        base = [0.5] * targets
        attributes = attributes_of(trees, "target", rng, wide=opset == 3)
        want = gathered(trees, x, targets, aggregate)
        (got,) = run_ml(
            "TreeEnsembleRegressor", [x], [FLOAT], opset, n_targets=targets, aggregate_function=aggregate, **attributes
        )
        near(got, want)
        (got,) = run_ml(
            "TreeEnsembleRegressor", [x], [FLOAT], opset, n_targets=targets, aggregate_function=aggregate,
            base_values=base, post_transform="SOFTMAX", **attributes,
        )  # fmt: skip
        near(got, transformed("SOFTMAX", want + 0.5) if targets > 1 else want + 0.5)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("opset", [1, 3])
def test_tree_classifier(run_ml: Any, rng: Any, dtype: Any, transform: str, opset: int) -> None:
    trees = [Node(rng, 4, 3, 3, ALL_MODES) for _ in range(5)]
    x = rows_for_trees(rng, 40, 3, dtype)
    attributes = attributes_of(trees, "class", rng, wide=opset == 3)
    scores = gathered(trees, x, 3, "SUM")
    base = [0.25, -0.5, 0.125]
    names = ["a", "b", "c"]
    y, z = run_ml(
        "TreeEnsembleClassifier", [x], [STRING, FLOAT], opset, classlabels_strings=names, base_values=base,
        post_transform=transform, **attributes,
    )  # fmt: skip
    assert y.tolist() == [names[i] for i in (scores + base).argmax(1)]
    near(z, transformed(transform, scores + base))
    y, z = run_ml(
        "TreeEnsembleClassifier", [x], [INT64, FLOAT], opset, classlabels_int64s=[4, 5, 6], post_transform=transform,
        **attributes,
    )  # fmt: skip
    voted = np.array([[any(t == c for tree in trees for t, _ in tree.find(row)) for c in range(3)] for row in x])
    same(y, np.where(voted, scores, -np.inf).argmax(1) + 4)


# One tree: the score is the first weight where the feature is at most 0.1, else the second.
STUMP: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.1, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0], "class_treeids": [0, 0], "class_nodeids": [1, 2],
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("weights", [[0.3, 0.9], [-0.3, 0.9], [-1.0, -2.0]], ids=str)
def test_tree_classifier_of_two_classes(run_ml: Any, transform: str, weights: list[float]) -> None:
    x = np.array([[-1], [0.5]], np.float32)
    scores, positive = f32(weights), min(weights) >= 0
    attributes = {"class_weights": weights, "post_transform": transform, **STUMP}
    wanted = (scores > (0.5 if positive else 0)).astype(int)
    y, z = run_ml(
        "TreeEnsembleClassifier", [x], [INT64, FLOAT], 3, classlabels_int64s=[5, 7], class_ids=[0, 0], **attributes
    )
    same(y, np.where(wanted, 7, 5))
    if transform != "PROBIT" or positive:
        near(z, two_scores(transform, scores, positive))
    # With one label the score is given as it is.
    y, z = run_ml(
        "TreeEnsembleClassifier", [x], [INT64, FLOAT], 3, classlabels_int64s=[5], class_ids=[0, 0], **attributes
    )
    same(y, wanted)
    if transform != "PROBIT":
        near(z, scores[:, None])
    # Votes for the second class alone.
    y, z = run_ml(
        "TreeEnsembleClassifier",
        [x],
        [STRING, FLOAT],
        3,
        classlabels_strings=["a", "b"],
        class_ids=[1, 1],
        **attributes,
    )
    assert y.tolist() == ["ab"[i] for i in wanted]
    if transform in ("NONE", "SOFTMAX", "LOGISTIC"):
        near(z, transformed(transform, np.stack([np.zeros(2), scores], 1)))


def ensemble(trees: list[Node], dtype: Any) -> dict[str, Any]:
    """Return the trees, whose leaves have one vote each, as TreeEnsemble wants them."""
    inner = [n for tree in trees for n in tree.all() if not n.leaf]
    leaves = [n for tree in trees for n in tree.all() if n.leaf]
    index = {id(n): i for nodes in (inner, leaves) for i, n in enumerate(nodes)}

    def values(numbers: Any, of: Any = dtype) -> Any:
        return numpy_helper.from_array(np.array(numbers, of))

    return {
        "tree_roots": [index[id(tree)] for tree in trees],
        "nodes_featureids": [n.feature for n in inner],
        "nodes_splits": values([n.value for n in inner]),
        "nodes_modes": values([ALL_MODES.index(n.mode) for n in inner], np.uint8),
        "nodes_missing_value_tracks_true": [int(n.missing) for n in inner],
        "nodes_truenodeids": [index[id(n.children[0])] for n in inner],
        "nodes_falsenodeids": [index[id(n.children[1])] for n in inner],
        "nodes_trueleafs": [int(n.children[0].leaf) for n in inner],
        "nodes_falseleafs": [int(n.children[1].leaf) for n in inner],
        "leaf_targetids": [n.votes[0][0] for n in leaves],
        "leaf_weights": values([n.votes[0][1] for n in leaves]),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("aggregate", [0, 1, 2, 3])
@pytest.mark.parametrize("transform", [0, 1, 2])
def test_tree_ensemble(run_node: Any, rng: Any, dtype: Any, aggregate: int, transform: int) -> None:
    trees: list[Node] = []
    while len(trees) < 6:
        tree = Node(rng, 5, 4, 3, ALL_MODES)
        for leaf in tree.all():
            if leaf.leaf:
                leaf.votes = [(leaf.votes[0][0], float(np.dtype(dtype).type(leaf.votes[0][1])))]
        if not tree.leaf:
            trees.append(tree)
    x = rows_for_trees(rng, 40, 4, dtype)
    scores = gathered(trees, x, 3, ["AVERAGE", "SUM", "MIN", "MAX"][aggregate])
    (got,) = run_node(
        "TreeEnsemble", [x], 5, domain="ai.onnx.ml", n_targets=3, aggregate_function=aggregate,
        post_transform=transform, **ensemble(trees, dtype),
    )  # fmt: skip
    assert got.dtype == dtype
    near(got, transformed(TRANSFORMS[transform], scores), 2e-3 if dtype is np.float16 else 1e-6)


def test_membership(run_node: Any) -> None:
    attributes = {
        "tree_roots": [0], "nodes_featureids": [0, 0], "n_targets": 1,
        "nodes_splits": numpy_helper.from_array(np.zeros(2, np.float32)),
        "nodes_modes": numpy_helper.from_array(np.array([6, 6], np.uint8)),
        "membership_values": numpy_helper.from_array(np.array([1.5, 4, np.nan, 0, np.nan], np.float32)),
        "nodes_truenodeids": [0, 1], "nodes_falsenodeids": [1, 2], "nodes_trueleafs": [1, 1],
        "nodes_falseleafs": [0, 1], "leaf_targetids": [0, 0, 0],
        "leaf_weights": numpy_helper.from_array(np.array([1, 10, 100], np.float32)),
    }  # fmt: skip
    x = np.array([[4], [1.5], [0], [2], [np.nan]], np.float32)
    (got,) = run_node("TreeEnsemble", [x], 5, domain="ai.onnx.ml", **attributes)
    assert got.ravel().tolist() == [1, 1, 10, 100, 100]
    attributes["membership_values"] = numpy_helper.from_array(np.array([1.5, np.nan], np.float32))
    with pytest.raises(Exception, match="membership_values: must have a set, ended by a NaN, for each node"):
        run_node("TreeEnsemble", [x], 5, domain="ai.onnx.ml", **attributes)


@pytest.mark.parametrize(("change", "message"), [
    ({"nodes_truenodeids": [0, 0, 0]}, r"node 0 \(counted from 0\) is among the nodes below it"),
    ({"nodes_truenodeids": [9, 0, 0]}, "nodes_truenodeids: there is no node 9 in tree 0"),
    ({"nodes_nodeids": [0, 1, 1]}, "nodes_nodeids: must be distinct in each tree, got node 1 of tree 0 twice"),
    ({"nodes_modes": ["BRANCH_UP", "LEAF", "LEAF"]}, "nodes_modes: must be BRANCH_LEQ.*got BRANCH_UP"),
    ({"nodes_values": [0.1, 0.0]}, "nodes_values: must have 3 elements, got 2"),
    ({"nodes_featureids": [-1, 0, 0]}, "nodes_featureids: must be in"),
    ({"nodes_featureids": [2, 0, 0]}, r"input 0 \(X\): must have at least 3 columns"),
    ({"class_ids": [0, 3]}, "a leaf votes for target 3 of 3"),
    ({"class_nodeids": [1, 5]}, "class_nodeids: there is no node 5 in tree 0"),
    ({"base_values": [1.0, 2.0]}, "base_values: must have 3 elements or none, got 2"),
    ({"post_transform": "EXP"}, "post_transform: must be NONE.*got EXP"),
])  # fmt: skip
def test_attributes_of_trees(run_ml: Any, change: dict[str, Any], message: str) -> None:
    attributes = {"classlabels_int64s": [5, 7, 9], "class_ids": [0, 1], "class_weights": [1.0, 2.0], **STUMP, **change}
    with pytest.raises(Exception, match=message):
        run_ml("TreeEnsembleClassifier", [np.ones((2, 1), np.float32)], [INT64, FLOAT], 3, **attributes)


def test_no_rows(run_ml: Any) -> None:
    x = np.zeros((0, 1), np.float32)
    y, z = run_ml(
        "TreeEnsembleClassifier", [x], [INT64, FLOAT], 3, classlabels_int64s=[5, 7], class_ids=[0, 1],
        class_weights=[1.0, 2.0], **STUMP,
    )  # fmt: skip
    same(y, int64([]))
    assert z.shape == (0, 2)
