# SPDX-License-Identifier: Apache-2.0
"""Products whose kernels add a row and a residual and apply Relu, against numpy in float64."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_host import InferenceSession, OrtHostError
from product_models import close, floats, fused, node, session_of


def tail_nodes(value: str, bias: str | None, residual: str | None, relu: bool, swapped: bool) -> list[object]:
    """Return the nodes behind the product that makes `value`, the last of which makes y."""
    made = []
    for operand, result in ((bias, "with_bias"), (residual, "with_residual")):
        if operand is not None:
            made.append(("Add", [operand, value] if swapped else [value, operand], result))
            value = result
    if relu:
        made.append(("Relu", [value], "rectified"))
    return [node(op, inputs, "y" if i + 1 == len(made) else result) for i, (op, inputs, result) in enumerate(made)]


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("bias", "residual", "relu"), [p for p in itertools.product([0, 1], repeat=3) if any(p)])
@pytest.mark.parametrize("m", [1, 2, 5, 70])
@pytest.mark.parametrize("threads", [1, 3])
def test_matmul(constant: bool, bias: int, residual: int, relu: int, m: int, threads: int) -> None:
    rng = np.random.default_rng(m)
    k, n = 450, 67
    a, b, row, rest = floats(rng, 2, m, k), floats(rng, k, n), floats(rng, 1, n), floats(rng, 2, m, n)
    nodes = [node("MatMul", ["a", "b"], "p")]
    nodes += tail_nodes("p", "row" if bias else None, "rest" if residual else None, bool(relu), m % 2 == 1)
    constants = {"row": row} if bias else {}
    inputs: dict[str, Sequence[int | str | None] | None] = {"a": [2, m, k]}
    feeds = {"a": a}
    if residual:
        inputs["rest"], feeds["rest"] = [2, m, n], rest
    if constant:
        constants["b"] = b
    else:
        inputs["b"], feeds["b"] = [k, n], b
    session = session_of(nodes, inputs, constants, threads=threads)
    assert len(fused(session)) == bias + residual + relu
    want = a.astype(np.float64) @ b + (row if bias else 0) + (rest if residual else 0)
    got = session.run(None, feeds)[0]
    close(got, np.maximum(want, 0) if relu else want, k)
    plain = session_of(nodes, inputs, constants, fuse=False)
    assert fused(plain) == []
    assert np.array_equal(got, plain.run(None, feeds)[0])


@pytest.mark.parametrize("with_c", ["none", "row", "matrix"])
@pytest.mark.parametrize(("residual", "relu"), [(0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_gemm(with_c: str, residual: int, relu: int, alpha: float) -> None:
    rng = np.random.default_rng(5)
    m, k, n = 9, 30, 45
    a, b, rest = floats(rng, m, k), floats(rng, n, k), floats(rng, m, n)
    c = floats(rng, n) if with_c == "row" else floats(rng, m, n)
    product = node("Gemm", ["a", "b", *(["c"] if with_c != "none" else [])], "p", alpha=alpha, transB=1)
    nodes = [product, *tail_nodes("p", None, "rest" if residual else None, bool(relu), False)]
    session = session_of(
        nodes,
        {"a": [m, k], **({"rest": [m, n]} if residual else {})},
        {"b": b, **({"c": c} if with_c != "none" else {})},
    )
    assert len(fused(session)) == residual + relu
    want = alpha * (a.astype(np.float64) @ b.T) + (c if with_c != "none" else 0) + (rest if residual else 0)
    got = session.run(None, {"a": a, **({"rest": rest} if residual else {})})[0]
    close(got, np.maximum(want, 0) if relu else want, k)


def test_operands_that_turn_out_not_to_fit() -> None:
    rng = np.random.default_rng(6)
    b, row = floats(rng, 6, 8), floats(rng, 8)
    nodes = [
        node("MatMul", ["a", "b"], "p"),
        node("Add", ["p", "row"], "q"),
        node("Add", ["rest", "q"], "r"),
        node("Relu", ["r"], "y"),
    ]
    session = session_of(nodes, {"a": [None, 6], "rest": [None, None]}, {"b": b, "row": row})
    assert fused(session) == ["Add", "Add", "Relu"]
    for m, shape in ((3, (3, 8)), (3, (1, 8)), (1, (4, 8)), (3, (3, 1)), (3, (1, 1)), (0, (0, 8)), (3, (3, 8))):
        a, rest = floats(rng, m, 6), floats(rng, *shape)
        close(session.run(None, {"a": a, "rest": rest})[0], np.maximum(a.astype(float) @ b + row + rest, 0), 6)
    with pytest.raises(OrtHostError, match=r"'add_r' \(Add\).*must be equal or 1 to broadcast"):
        session.run(None, {"a": floats(rng, 3, 6), "rest": floats(rng, 2, 8)})
    with pytest.raises(OrtHostError, match=r"'matmul_p' \(MatMul\)"):
        session_of(nodes, {"a": None, "rest": [None, None]}, {"b": b, "row": row}).run(
            None, {"a": floats(rng, 3, 5), "rest": floats(rng, 3, 8)}
        )


def test_two_products_that_are_added() -> None:
    rng = np.random.default_rng(7)
    nodes = [
        node("MatMul", ["a", "b"], "p"),
        node("MatMul", ["a", "c"], "q"),
        node("Add", ["p", "q"], "s"),
        node("Relu", ["s"], "y"),
    ]
    a, b, c = floats(rng, 5, 6), floats(rng, 6, 7), floats(rng, 6, 7)
    session = session_of(nodes, {"a": [5, 6]}, {"b": b, "c": c})
    assert fused(session) == ["Add", "Relu"]
    close(session.run(None, {"a": a})[0], np.maximum(a.astype(float) @ b + a.astype(float) @ c, 0), 6)


@pytest.mark.parametrize("residual", [0, 1])
@pytest.mark.parametrize("kernel", [1, 3])
def test_convolution(residual: int, kernel: int) -> None:
    rng = np.random.default_rng(8)
    channels, size = 24, 13
    x, w = floats(rng, 2, channels, size, size), floats(rng, channels, channels, kernel, kernel)
    b, rest = floats(rng, channels), floats(rng, 2, channels, size, size)
    conv = node("Conv", ["x", "w", "b"], "p", pads=[kernel // 2] * 4)
    nodes = [conv, *tail_nodes("p", None, "rest" if residual else None, True, False)]
    shape = [2, channels, size, size]
    inputs, feeds = {"x": shape}, {"x": x}
    if residual:
        inputs["rest"], feeds["rest"] = shape, rest
    session = session_of(nodes, inputs, {"w": w, "b": b})
    assert len(fused(session)) == residual + 1
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (kernel // 2,) * 2, (kernel // 2,) * 2))
    patches = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))
    want = np.einsum("bchwij,ocij->bohw", patches, w) + b[:, None, None] + (rest if residual else 0)
    got = session.run(None, feeds)[0]
    assert got.shape == want.shape
    assert np.abs(got - np.maximum(want, 0)).max() <= 1e-5 * np.abs(want).max()


def test_an_infinity_and_a_nan_pass() -> None:
    nodes = [node("MatMul", ["a", "b"], "p"), node("Add", ["p", "row"], "q"), node("Relu", ["q"], "y")]
    row = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    session = session_of(nodes, {"a": [3, 2]}, {"b": np.ones((2, 4), np.float32), "row": row})
    got = session.run(None, {"a": np.ones((3, 2), np.float32)})[0]
    assert np.array_equal(got, np.array([[np.nan, np.inf, 0, 3]] * 3, np.float32), equal_nan=True)


@pytest.mark.parametrize("why", ["output", "used twice", "not a constant row", "float64"])
def test_what_is_not_fused(why: str) -> None:
    kind = np.float64 if why == "float64" else np.float32
    b, row = np.ones((3, 4), kind), np.arange(4, dtype=kind)
    nodes = [node("MatMul", ["a", "b"], "p"), node("Relu", ["p"], "y")]
    outputs, constants, inputs = ["y"], {"b": b}, {"a": [2, 3]}
    feeds = {"a": np.ones((2, 3), kind)}
    want = np.full((2, 4), 3.0)
    if why == "output":
        outputs = ["y", "p"]
    elif why == "used twice":
        nodes = [*nodes[:1], node("Softmax", ["p"], "s"), node("Relu", ["p"], "y")]
        outputs = ["y", "s"]
    elif why == "not a constant row":
        nodes[1] = node("Add", ["p", "row"], "y")
        inputs["row"] = [4]
        feeds["row"] = row
        want = want + row
    if why == "float64":
        graph = helper.make_graph(
            nodes,
            "double",
            [helper.make_tensor_value_info("a", TensorProto.DOUBLE, [2, 3])],
            [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
            [numpy_helper.from_array(b, "b")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        session = InferenceSession(model.SerializeToString())
    else:
        session = session_of(nodes, inputs, constants, outputs)
    assert fused(session) == []
    assert np.array_equal(session.run(None, feeds)[0], want)
