# SPDX-License-Identifier: Apache-2.0
"""Products of one left side with several constants, which run as one step, against numpy in float64."""

from __future__ import annotations

import re

import numpy as np
import pytest
from onnx_light_ort_host import InferenceSession, OrtHostError
from product_models import Array, close, floats, fused, node, session_of

LETTERS = "qkvwxyz"


def joined(session: InferenceSession) -> list[set[str]]:
    """Return the names of the products of each step that has several."""
    steps: dict[str, set[str]] = {}
    for row in session.node_assignments():
        if row.op_type == "MatMul" and (lead := re.search(r"fused into '(matmul_\w+)'", row.reason)):
            steps.setdefault(lead[1], {lead[1]}).add(row.name)
    return list(steps.values())


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("rows", [1, 2, 3, 8, 9, 130])
@pytest.mark.parametrize("tail", ["", "bias", "relu", "bias relu"])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_step_has_the_bits_of_several(count: int, rows: int, tail: str, threads: int) -> None:
    rng = np.random.default_rng(rows)
    k, n = 130, 67
    a = floats(rng, 2, rows, k)
    constants: dict[str, Array] = {}
    nodes = []
    for letter in LETTERS[:count]:
        constants["b" + letter] = floats(rng, k, n)
        value, result = "p" + letter, letter
        steps = [("MatMul", ["a", "b" + letter])]
        if "bias" in tail:
            constants["row" + letter] = floats(rng, n)
            steps.append(("Add", [None, "row" + letter]))
        if "relu" in tail:
            steps.append(("Relu", [None]))
        last = "a"
        for i, (op, inputs) in enumerate(steps):
            made = result if i + 1 == len(steps) else f"{value}{i}"
            nodes.append(node(op, [last if x is None else x for x in inputs], made))
            last = made
    outputs = list(LETTERS[:count])
    session = session_of(nodes, {"a": [2, rows, k]}, constants, outputs, threads=threads)
    assert joined(session) == [{node.name for node in nodes if node.op_type == "MatMul"}]
    apart = session_of(nodes, {"a": [2, rows, k]}, constants, outputs, fuse=False, threads=threads)
    assert joined(apart) == []
    for letter, got, plain in zip(outputs, session.run(None, {"a": a}), apart.run(None, {"a": a}), strict=True):
        want = a.astype(np.float64) @ constants["b" + letter]
        want = want + constants["row" + letter] if "bias" in tail else want
        close(got, np.maximum(want, 0) if "relu" in tail else want, k)
        assert np.array_equal(got, plain)


def test_queries_keys_and_values_of_an_attention() -> None:
    """What is made of the queries may come before the products of keys and values in the list of nodes."""
    rng = np.random.default_rng(1)
    length, width, heads = 9, 24, 4
    constants = {"b" + letter: floats(rng, width, width) for letter in "qkv"}
    constants["heads"] = np.array([length, heads, width // heads], np.int64)
    nodes = []
    for letter in "qkv":
        nodes += [
            node("MatMul", ["a", "b" + letter], "p" + letter),
            node("Reshape", ["p" + letter, "heads"], "r" + letter),
            node("Transpose", ["r" + letter], "t" + letter, perm=[1, 2, 0] if letter == "k" else [1, 0, 2]),
        ]
    nodes += [node("MatMul", ["tq", "tk"], "s"), node("Softmax", ["s"], "e"), node("MatMul", ["e", "tv"], "y")]
    session = session_of(nodes, {"a": [length, width]}, constants)
    assert joined(session) == [{"matmul_pq", "matmul_pk", "matmul_pv"}]
    a = floats(rng, length, width)
    q, k, v = (
        (a.astype(np.float64) @ constants["b" + letter]).reshape(length, heads, -1).transpose(1, 0, 2)
        for letter in "qkv"
    )
    scores = q @ k.transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    want = weights / weights.sum(-1, keepdims=True) @ v
    assert np.abs(session.run(None, {"a": a})[0] - want).max() <= 2e-4 * np.abs(want).max()


def test_more_than_eight_are_several_steps() -> None:
    rng = np.random.default_rng(2)
    constants = {f"b{i}": floats(rng, 5, 6) for i in range(11)}
    nodes = [node("MatMul", ["a", f"b{i}"], f"y{i}") for i in range(11)]
    session = session_of(nodes, {"a": [4, 5]}, constants, [f"y{i}" for i in range(11)])
    assert sorted(map(len, joined(session))) == [3, 8]
    a = floats(rng, 4, 5)
    for i, got in enumerate(session.run(None, {"a": a})):
        close(got, a.astype(np.float64) @ constants[f"b{i}"], 5)


def test_only_equal_extents_and_one_left_side_are_joined() -> None:
    rng = np.random.default_rng(3)
    shapes = {"q": (6, 8), "k": (6, 4), "v": (6, 4), "w": (6, 8), "x": (6, 4)}
    constants = {"b" + letter: floats(rng, *shape) for letter, shape in shapes.items()}
    nodes = [node("MatMul", ["c" if letter in "wx" else "a", "b" + letter], letter) for letter in shapes]
    session = session_of(nodes, {"a": [3, 6], "c": [3, 6]}, constants, list(shapes))
    assert joined(session) == [{"matmul_k", "matmul_v"}]
    feeds = {"a": floats(rng, 3, 6), "c": floats(rng, 3, 6)}
    for letter, got in zip(shapes, session.run(None, feeds), strict=True):
        close(got, feeds["c" if letter in "wx" else "a"].astype(np.float64) @ constants["b" + letter], 6)


def test_right_sides_that_are_no_constant_matrices_stay_alone() -> None:
    rng = np.random.default_rng(4)
    constants = {"b": floats(rng, 6, 8), "batch": floats(rng, 2, 6, 8), "vector": floats(rng, 6)}
    nodes = [node("MatMul", ["a", b], "y_" + b) for b in ("b", "batch", "vector", "fed")]
    session = session_of(nodes, {"a": [3, 6], "fed": [6, 8]}, constants, ["y_b", "y_batch", "y_vector", "y_fed"])
    assert joined(session) == []
    a, fed = floats(rng, 3, 6), floats(rng, 6, 8)
    for b, got in zip([*constants.values(), fed], session.run(None, {"a": a, "fed": fed}), strict=True):
        close(got, a.astype(np.float64) @ b, 6)


def test_a_sum_of_two_of_them_waits_for_its_residual() -> None:
    rng = np.random.default_rng(5)
    constants = {"b" + letter: floats(rng, 6, 7) for letter in "qkvw"}
    nodes = [node("MatMul", ["a", "b" + letter], "p" + letter) for letter in "qkvw"]
    nodes += [node("Add", ["pq", "pk"], "s"), node("Add", ["s", "pv"], "t"), node("Add", ["t", "pw"], "y")]
    session = session_of(nodes, {"a": [5, 6]}, constants)
    a = floats(rng, 5, 6)
    close(session.run(None, {"a": a})[0], sum(a.astype(np.float64) @ b for b in constants.values()), 24)


def test_left_sides_that_turn_out_otherwise() -> None:
    rng = np.random.default_rng(6)
    constants = {"bq": floats(rng, 6, 8), "bk": floats(rng, 6, 8), "row": floats(rng, 1, 8)}
    nodes = [
        node("MatMul", ["a", "bq"], "p"),
        node("Add", ["p", "row"], "q"),
        node("MatMul", ["a", "bk"], "k"),
    ]
    session = session_of(nodes, {"a": None}, constants, ["q", "k"])
    for shape in ((3, 6), (6,), (2, 0, 6), (1, 6), (2, 3, 4, 6), (0, 6), (6,), (3, 6)):
        a = floats(rng, *shape)
        q, k = session.run(None, {"a": a})
        close(q, a.astype(np.float64) @ constants["bq"] + constants["row"], 6)
        close(k, a.astype(np.float64) @ constants["bk"], 6)
    with pytest.raises(OrtHostError, match=r"'matmul_p' \(MatMul\).*input 1.*B"):
        session.run(None, {"a": floats(rng, 3, 5)})
    with pytest.raises(OrtHostError, match=r"'matmul_p' \(MatMul\)"):
        session.run(None, {"a": np.float32(1)})


def test_a_product_and_its_followers_beside_a_plain_one() -> None:
    rng = np.random.default_rng(7)
    constants = {"bq": floats(rng, 6, 8), "bk": floats(rng, 6, 8), "row": floats(rng, 8)}
    nodes = [
        node("MatMul", ["a", "bk"], "k"),
        node("MatMul", ["a", "bq"], "p"),
        node("Add", ["p", "row"], "r"),
        node("Relu", ["r"], "q"),
        node("Tanh", ["k"], "t"),
        node("Mul", ["t", "q"], "y"),
    ]
    session = session_of(nodes, {"a": [3, 6]}, constants)
    assert joined(session) == [{"matmul_k", "matmul_p"}]
    assert {"Add", "Relu", "MatMul"} <= set(fused(session))
    a = floats(rng, 3, 6)
    q = np.maximum(a.astype(np.float64) @ constants["bq"] + constants["row"], 0)
    close(session.run(None, {"a": a})[0], np.tanh(a.astype(np.float64) @ constants["bk"]) * q, 20)
