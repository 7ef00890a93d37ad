# SPDX-License-Identifier: Apache-2.0
"""Operators that draw numbers: with a seed those of numpy's RandomState, without one others in each run."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from float_checks import FLOATS, close
from kernel_arrays import kind
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_host import InferenceSession, SessionOptions

ALL = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, *FLOATS]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 0), ()], ids=str)
@pytest.mark.parametrize("seed", [0.0, 7.9, 4294967040.0])
def test_random_numbers(run_node: Any, dtype: Any, shape: Any, seed: float) -> None:
    normal = np.random.RandomState(int(seed)).standard_normal(shape) * 3 - 2
    uniform = np.random.RandomState(int(seed)).random_sample(shape) * 3 - 1
    asked = {"dtype": kind(dtype), "seed": seed}
    like = [np.zeros(shape, np.int8)]
    for name, want, attributes in (
        ("RandomNormal", normal, {"mean": -2.0, "scale": 3.0}),
        ("RandomUniform", uniform, {"low": -1.0, "high": 2.0}),
    ):
        results = [run_node(name + "Like", like, 22, [kind(dtype)], **asked, **attributes)[0]]
        if shape:
            results += run_node(name, [], 22, [kind(dtype)], shape=list(shape), **asked, **attributes)
        for got in results:
            assert got.dtype == dtype
            close(got, np.asarray(want), dtype)


def test_like_takes_the_type_of_its_input(run_node: Any) -> None:
    x = np.zeros(4, ml_dtypes.bfloat16)
    assert run_node("RandomNormalLike", [x], 22, seed=1.0)[0].dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("chances", FLOATS)
def test_bernoulli(run_node: Any, rng: Any, dtype: Any, chances: Any) -> None:
    x = rng.uniform(0, 1, (30, 7)).astype(chances)
    x[0, :2] = [0, 1]
    want = np.random.RandomState(5).random_sample(x.shape) < x.astype(np.float64)
    (got,) = run_node("Bernoulli", [x], 22, [kind(dtype)], dtype=kind(dtype), seed=5.0)
    assert got.dtype == dtype
    assert got.astype(float).tolist() == want.astype(float).tolist()
    assert run_node("Bernoulli", [x], 22, seed=5.0)[0].dtype == chances


@pytest.mark.parametrize("value", [-0.1, 1.5, np.nan])
def test_bernoulli_refuses_what_is_no_chance(run_node: Any, value: float) -> None:
    with pytest.raises(Exception, match=r"chances must lie in \[0, 1\]"):
        run_node("Bernoulli", [np.array([value], np.float32)], 15, seed=1.0)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("logs", FLOATS)
def test_multinomial(run_node: Any, rng: Any, dtype: Any, logs: Any) -> None:
    x = rng.uniform(-3, 2, (4, 6)).astype(logs)
    x[1, 2] = -np.inf
    wide = np.exp(x.astype(np.float64))
    sums = np.cumsum(wide / wide.sum(1, keepdims=True), 1)
    draws = np.random.RandomState(3).random_sample((4, 50))
    want = [[int((sums[row] <= u).sum()) for u in draws[row]] for row in range(4)]
    (got,) = run_node("Multinomial", [x], 22, [kind(dtype)], dtype=kind(dtype), sample_size=50, seed=3.0)
    assert got.dtype == dtype
    assert got.tolist() == want
    assert 2 not in got[1]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.full((1, 3), -np.inf), "finite log probability"),
        (np.array([[0, np.nan]]), "no NaN"),
        (np.zeros(3), "batch, classes"),
        (np.zeros((2, 0)), "must have classes"),
    ],
)
def test_multinomial_refuses(run_node: Any, x: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        run_node("Multinomial", [x], 22, [TensorProto.INT32], unranked=True)


def test_a_seed_must_be_one(run_node: Any) -> None:
    for seed in (-1.0, 2.0**32):
        with pytest.raises(Exception, match="seed"):
            run_node("RandomUniform", [], 1, [TensorProto.FLOAT], shape=[2], seed=seed)


CONSTANT = np.full(64, 0.5, np.float32)


@pytest.mark.parametrize(
    ("name", "inputs", "kind_of_result", "attributes"),
    [
        ("RandomNormal", [], TensorProto.FLOAT, {"shape": [64]}),
        ("RandomUniform", [], TensorProto.FLOAT, {"shape": [64], "seed": float("nan")}),
        ("RandomNormalLike", [CONSTANT], TensorProto.FLOAT, {}),
        ("RandomUniformLike", [CONSTANT], TensorProto.FLOAT, {}),
        ("Bernoulli", [CONSTANT], TensorProto.FLOAT, {}),
        ("Multinomial", [CONSTANT.reshape(1, 64)], TensorProto.INT32, {"sample_size": 64}),
    ],
)
def test_without_a_seed_each_run_draws_others(name: str, inputs: Any, kind_of_result: int, attributes: Any) -> None:
    names = [f"x{i}" for i in range(len(inputs))]
    graph = helper.make_graph(
        [helper.make_node(name, names, ["y"], **attributes)],
        "node",
        [],
        [helper.make_tensor_value_info("y", kind_of_result, None)],
        [numpy_helper.from_array(x, n) for n, x in zip(names, inputs, strict=True)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8)
    options = SessionOptions()
    options.reference_fallback = False
    session = InferenceSession(model.SerializeToString(), options, providers=None)
    (first,), (second,) = session.run(None, {}), session.run(None, {})
    assert first.tobytes() != second.tobytes()
