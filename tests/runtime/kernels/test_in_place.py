# SPDX-License-Identifier: Apache-2.0
"""Kernels that may overwrite an input do so without reading what they have written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from onnx_light_ort_host import InferenceSession

A = np.arange(-12, 12).reshape(2, 3, 4)
B = np.arange(24, 48).reshape(2, 3, 4)
ROW = np.array([7, -3, 5, 1])
NUMBER, ONE, FIVE = (np.array(n) for n in (2, 1, 5))

# Operator, opset, inputs, what comes out, attributes.
CASES: list[tuple[str, int, list[np.ndarray], Callable[..., np.ndarray], dict[str, Any]]] = [
    ("Abs", 13, [A], np.abs, {}),
    ("LeakyRelu", 16, [A], lambda a: np.where(a < 0, a * 0.5, a), {"alpha": 0.5}),
    ("ThresholdedRelu", 22, [A], lambda a: np.where(a > 3, a, 0), {"alpha": 3.0}),
    ("Clip", 13, [A, NUMBER, FIVE], lambda a, low, high: np.clip(a, low, high), {}),
    ("Sub", 14, [A, B], np.subtract, {}),
    ("Sub", 14, [A, ROW], np.subtract, {}),
    ("Sub", 14, [ROW, A], np.subtract, {}),
    ("Sub", 14, [A, NUMBER], np.subtract, {}),
    ("PRelu", 16, [A, ROW], lambda a, slope: np.where(a < 0, a * slope, a), {}),
    ("PRelu", 16, [ROW, A], lambda a, slope: np.where(a < 0, a * slope, a), {}),
    ("Mod", 28, [A, B], np.mod, {}),
    ("Mod", 28, [ROW, B], np.mod, {}),
    ("Max", 13, [A], lambda a: a, {}),
    ("Max", 13, [A, ROW, NUMBER], lambda *all: np.maximum(np.maximum(*all[:2]), all[2]), {}),
    ("Sum", 13, [ROW, A, B], lambda *all: all[0] + all[1] + all[2], {}),
    ("Sum", 13, [NUMBER, ROW, B], lambda *all: all[0] + all[1] + all[2], {}),
    ("Mean", 13, [A, B, NUMBER, ROW], lambda *all: (all[0] + all[1] + all[2] + all[3]) / 4, {}),
    ("CumSum", 14, [A, NUMBER], lambda a, axis: np.cumsum(a, axis), {}),
    ("CumSum", 14, [A, ONE], lambda a, axis: np.cumsum(a, axis) - a, {"exclusive": 1}),
]


@pytest.mark.parametrize(("op_type", "opset", "inputs", "function", "attributes"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_inputs_that_die_at_the_node(
    op_type: str, opset: int, inputs: list[np.ndarray], function: Callable[..., np.ndarray], attributes: Any, dtype: Any
) -> None:
    is_axis = [op_type == "CumSum" and i == 1 for i in range(len(inputs))]
    arrays = [a.astype(np.int64 if axis else dtype) for a, axis in zip(inputs, is_axis, strict=True)]
    kind = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    # Each input is negated twice first, so that it is a buffer of the session that nobody reads afterwards.
    nodes = [
        helper.make_node("Neg", [f"{source}{i}"], [f"{target}{i}"])
        for i in range(len(arrays))
        for source, target in (("x", "n"), ("n", "p"))
    ]
    nodes.append(helper.make_node(op_type, [f"p{i}" for i in range(len(arrays))], ["y"], **attributes))
    nodes.append(helper.make_node("Neg", ["y"], ["z"]))  # so that the result is no buffer of the caller
    graph = helper.make_graph(
        nodes,
        "in_place",
        [helper.make_tensor_value_info(f"x{i}", kind[i], a.shape) for i, a in enumerate(arrays)],
        [helper.make_tensor_value_info("z", kind[0], None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    session = InferenceSession(model.SerializeToString(), providers=None)
    want = function(*(a.astype(np.int64 if axis else np.float64) for a, axis in zip(inputs, is_axis, strict=True)))
    for _ in range(2):
        (got,) = session.run(None, {f"x{i}": a for i, a in enumerate(arrays)})
        tolerance = 1e-2 if dtype is ml_dtypes.bfloat16 else 1e-3
        np.testing.assert_allclose(-got.astype(np.float64), want, rtol=tolerance)
