# SPDX-License-Identifier: Apache-2.0
"""Models of products and of what follows them, as the tests of fusing need them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_host import GraphOptimizationLevel, InferenceSession, SessionOptions

Array = np.ndarray


def session_of(
    nodes: Sequence[object],
    inputs: dict[str, Sequence[int | str | None] | None],
    constants: dict[str, Array],
    outputs: Sequence[str] = ("y",),
    fuse: bool = True,
    threads: int = 1,
) -> InferenceSession:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "product",
        [info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.reference_fallback = False
    if not fuse:
        options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    return InferenceSession(model.SerializeToString(), options)


def node(op_type: str, inputs: Sequence[str], output: str, **attributes: object) -> object:
    return helper.make_node(op_type, inputs, [output], op_type.lower() + "_" + output, **attributes)


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def fused(session: InferenceSession) -> list[str]:
    return [row.op_type for row in session.node_assignments() if "fused into" in row.reason]


def close(got: Array, want: Array, depth: int) -> None:
    assert got.shape == want.shape
    # Of a sum of `depth` products of numbers of the order of one, rounded at every step.
    assert np.abs(got - want).max(initial=0) <= 2e-6 * (2 + np.sqrt(depth)) * 2
