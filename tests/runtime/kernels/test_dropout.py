# SPDX-License-Identifier: Apache-2.0
"""Dropout, which keeps everything unless it trains."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from float_checks import uniform
from onnx import TensorProto, helper, numpy_helper, parser
from onnx_light_ort_host import InferenceSession, InvalidArgument, SessionOptions


def session_of(model: onnx.ModelProto) -> InferenceSession:
    """Open a model, without the reference fallback."""
    options = SessionOptions()
    options.reference_fallback = False
    return InferenceSession(model.SerializeToString(), options)


@pytest.mark.parametrize("opset", [1, 6, 7, 10, 12, 13, 22])
def test_dropout_keeps_everything(run_node: Any, rng: Any, opset: int) -> None:
    x = uniform(rng, (3, 5), np.float32)
    inputs: list[np.ndarray | None] = [x]
    attributes: dict[str, Any] = {"is_test": 1} if opset < 7 else {}
    if opset >= 12:
        inputs += [np.array(0.5, np.float32), np.array(False)]
    else:
        attributes["ratio"] = 0.5
    kind = TensorProto.BOOL if opset >= 10 else TensorProto.FLOAT
    y, mask = run_node("Dropout", inputs, opset, [TensorProto.FLOAT, kind], constants=[1, 2], **attributes)
    assert y.tobytes() == x.tobytes()
    np.testing.assert_array_equal(mask, np.ones((3, 5), mask.dtype))


def test_dropout_of_nothing_in_training(run_node: Any, rng: Any) -> None:
    x = uniform(rng, (3, 5), np.float16)
    inputs = [x, np.array(0, np.float64), np.array(True)]
    y, mask = run_node("Dropout", inputs, 13, [TensorProto.FLOAT16, TensorProto.BOOL], constants=[1, 2])
    assert y.tobytes() == x.tobytes()
    assert mask.all()


def dropped(x: np.ndarray, ratio: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what the package onnx calls the result of a seed: its generator is numpy's first one."""
    mask = np.random.RandomState(seed).uniform(0, 1, x.shape) >= ratio
    return mask * x * np.asarray(1 / (1 - ratio), x.dtype), mask


@pytest.mark.parametrize("opset", [12, 13, 22])
@pytest.mark.parametrize("constants", [(), (1,), (2,), (1, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_dropout_with_a_seed(run_node: Any, rng: Any, opset: int, constants: Any, dtype: Any, seed: int) -> None:
    x = uniform(rng, (4, 50), dtype)
    inputs = [x, np.array(0.25, np.float32), np.array(True)]
    kinds = [helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), TensorProto.BOOL]
    y, mask = run_node("Dropout", inputs, opset, kinds, constants=constants, seed=seed)
    want, want_mask = dropped(x, 0.25, seed)
    np.testing.assert_array_equal(mask, want_mask)
    np.testing.assert_allclose(y, want, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("constants", [(), (1,)], ids=str)
def test_dropout_is_told_at_each_run_whether_it_trains(rng: Any, constants: Any) -> None:
    x = uniform(rng, (300,), np.float32)
    ratio = helper.make_tensor_value_info("ratio", TensorProto.FLOAT, [])
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
        *([] if constants else [ratio]),
        helper.make_tensor_value_info("train", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info(*o, None) for o in (("z", TensorProto.FLOAT), ("mask", TensorProto.BOOL))]
    nodes = [helper.make_node("Dropout", ["x", "ratio", "train"], ["y", "mask"]), helper.make_node("Neg", ["y"], ["z"])]
    weights = [numpy_helper.from_array(np.array(0.5, np.float32), "ratio")] if constants else []
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
    session = session_of(model)
    feeds = {"x": x, "ratio": np.array(0.5, np.float32)}
    if constants:
        del feeds["ratio"]
    before = x.copy()
    masks = []
    for train in (False, True, False, True, True, False):
        z, mask = session.run(None, feeds | {"train": np.array(train)})
        np.testing.assert_array_equal(z, -x * mask * 2 if train else -x)
        assert mask.all() != train
        np.testing.assert_array_equal(x, before)
        masks += [mask.tolist()] if train else []
    assert masks[0] != masks[1] != masks[2]  # without a seed every run draws anew
    assert 0.3 < np.mean(masks) < 0.7
    if not constants:
        z, mask = session.run(None, feeds | {"train": np.array(True), "ratio": np.array(0, np.float32)})
        np.testing.assert_array_equal(z, -x)
        assert mask.all()
        for ratio in (1.0, -0.1, np.nan):
            with pytest.raises(InvalidArgument, match=r"Dropout.*input 1 \(ratio\): must lie in \[0, 1\), got"):
                session.run(None, feeds | {"train": np.array(True), "ratio": np.array(ratio, np.float32)})


@pytest.mark.parametrize("opset", [1, 6])
def test_the_first_versions_of_dropout_drop_unless_told_otherwise(run_node: Any, opset: int) -> None:
    x = np.arange(1, 401, dtype=np.float32)
    text = "g (float[N] x) => (float[N] y, float[N] mask) { y, mask = Dropout <ratio = 0.25> (x) }"
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')
    y, mask = session_of(model).run(None, {"x": x})
    assert set(mask.tolist()) == {0, 1}
    assert 0.6 < mask.mean() < 0.9
    np.testing.assert_allclose(y, x * mask / 0.75, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "constants", "message"),
    [
        (np.ones(3, np.float32), (0, 1, 2), "random dropout of a constant is not supported"),  # drawn once, not anew
        (np.ones(3, ml_dtypes.float8_e5m2), (1, 2), "supported: tensor"),
    ],
)
def test_dropout_declines(run_node: Any, x: np.ndarray, constants: Any, message: str) -> None:
    inputs = [x, np.array(0.5, np.float32), np.array(True)]
    with pytest.raises(Exception, match=message):
        run_node("Dropout", inputs, 22, constants=constants)
