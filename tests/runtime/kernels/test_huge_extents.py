# SPDX-License-Identifier: Apache-2.0
"""A tensor without elements may have any other extents: they are not walked, and no size made of them wraps."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

Shape = tuple[int, ...]


def extents(op_type: str, inputs: list[Shape | np.ndarray], opset: int, outputs: int = 1, **attributes: Any) -> Any:
    """Run a node on zeros of these shapes, and on arrays; return the extents of its outputs.

    numpy has no arrays of such extents, so the model makes them and gives back what is left of them.
    """
    nodes, feeds, graph_inputs = [], {}, []
    dtype = np.int8 if "Integer" in op_type else np.float32
    for i, given in enumerate(inputs):
        name, value = f"x{i}", given
        if isinstance(given, tuple):
            name, value = f"shape{i}", np.array(given, np.int64)
            zero = numpy_helper.from_array(np.zeros(1, dtype))
            nodes.append(helper.make_node("ConstantOfShape", [name], [f"x{i}"], value=zero))
        feeds[name] = value
        element = helper.np_dtype_to_tensor_dtype(value.dtype)
        graph_inputs.append(helper.make_tensor_value_info(name, element, value.shape))
    made = [f"y{i}" for i in range(outputs)]
    nodes.append(helper.make_node(op_type, [f"x{i}" for i in range(len(inputs))], made, **attributes))
    measure = "SequenceLength" if op_type == "SplitToSequence" else "Shape"
    nodes += [helper.make_node(measure, [name], [f"extents_{name}"]) for name in made]
    results = [helper.make_tensor_value_info(f"extents_{name}", TensorProto.INT64, None) for name in made]
    graph = helper.make_graph(nodes, "huge", graph_inputs, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    options = ort.SessionOptions()
    options.reference_fallback = False
    session = ort.InferenceSession(model.SerializeToString(), options)
    got = [tuple(result.tolist()) for result in session.run(None, feeds)]
    return got[0] if outputs == 1 else got


ONES = {n: np.ones(n, np.float32) for n in (1, 2, 3)}


@pytest.mark.parametrize(
    ("op_type", "inputs", "opset", "attributes", "want"),
    [
        ("Add", [(0, 2**40, 2**40), (1,)], 14, {}, (0, 2**40, 2**40)),
        ("Attention", [(0, 2**40, 2**22, 4), *[(0, 2**40, 3, 4)] * 2], 23, {}, (0, 2**40, 2**22, 4)),
        ("Attention", [(1, 1, 2**62, 0), *[(1, 1, 3, 0)] * 2], 23, {}, (1, 1, 2**62, 0)),
        ("BatchNormalization", [(2**62, 1, 0), *[ONES[1]] * 4], 15, {}, (2**62, 1, 0)),
        ("BatchNormalization", [(2**40, 3, 0), *[ONES[3]] * 4], 15, {}, (2**40, 3, 0)),
        ("BatchNormalization", [(2**40, 3, 0), *[ONES[3]] * 4], 15, {"training_mode": 1}, (2**40, 3, 0)),
        ("Concat", [(2**61, 0, 2**40)] * 3, 13, {"axis": 0}, (3 * 2**61, 0, 2**40)),
        ("Einsum", [(0, 2**62), (2**62, 0)], 12, {"equation": "ij,jk->ik"}, (0, 0)),
        ("Gather", [(2**62, 0, 2**62), np.array([2**61])], 13, {"axis": 0}, (1, 0, 2**62)),
        ("LRN", [(2**62, 0, 2**62)], 13, {"size": 3}, (2**62, 0, 2**62)),
        ("LayerNormalization", [(2**40, 0), ONES[1]], 17, {}, (2**40, 0)),
        ("LayerNormalization", [(2**62, 0), ONES[1]], 17, {}, (2**62, 0)),
        ("LayerNormalization", [(2**62, 2**62, 0), (0,)], 17, {}, (2**62, 2**62, 0)),
        ("LpNormalization", [(2**62, 0, 2**62)], 22, {"axis": 0}, (2**62, 0, 2**62)),
        ("MatMul", [(2**62, 0, 3), (2**62, 3, 0)], 13, {}, (2**62, 0, 0)),
        ("MatMulInteger", [(2**31, 2**30 + 1, 0), (0, 0)], 10, {}, (2**31, 2**30 + 1, 0)),
        ("MatMulInteger", [(2**31, 2**31, 0), (0, 0)], 10, {}, (2**31, 2**31, 0)),
        ("MeanVarianceNormalization", [(2**62, 0, 2**62, 1)], 13, {}, (2**62, 0, 2**62, 1)),
        ("RMSNormalization", [(2**62, 0), ONES[1]], 23, {}, (2**62, 0)),
        ("RNN", [(2**40, 0, 3), (1, 2, 3), (1, 2, 2)], 14, {"hidden_size": 2}, (2**40, 1, 0, 2)),
        ("RotaryEmbedding", [(0, 2**40, 2**40, 4), *[(0, 2**40, 2)] * 2], 23, {}, (0, 2**40, 2**40, 4)),
        ("Slice", [(0, 2**62), np.array([1]), np.array([2**62]), np.array([1])], 13, {}, (0, 2**62 - 1)),
        ("Softmax", [(2**62, 0, 2**62)], 13, {}, (2**62, 0, 2**62)),
        ("TensorScatter", [(2**40, 2**40, 0), (2**40, 3, 0)], 24, {}, (2**40, 2**40, 0)),
        ("Transpose", [(2**62, 0, 2**61)], 13, {}, (2**61, 0, 2**62)),
        ("Where", [np.array(True), (0, 2**40, 2**40), (1, 1)], 14, {}, (0, 2**40, 2**40)),
    ],
    ids=str,
)
def test_extents_beside_a_zero(op_type: str, inputs: Any, opset: int, attributes: Any, want: Any) -> None:
    assert extents(op_type, inputs, opset, **attributes) == want


def test_running_statistics_of_a_batch_without_elements() -> None:
    got = extents("BatchNormalization", [(2**40, 2, 0), *[ONES[2]] * 4], 15, 3, training_mode=1)
    assert got == [(2**40, 2, 0), (2,), (2,)]


@pytest.mark.parametrize(
    ("op_type", "inputs", "opset", "outputs", "message"),
    [
        ("Concat", [(2**62, 0)] * 2, 13, 1, r"input 1 \(inputs\): axis 0 of the output must fit in 64 bits, got \[46"),
        ("LayerNormalization", [(2**62, 0), ONES[1]], 17, 2, r"fit in memory, got float\[4611686018427387904, 1\]"),
        ("RNN", [(2**40, 2**40, 0), (1, 2, 0), (1, 2, 2)], 14, 1, "fit"),
        ("SplitToSequence", [(2**62, 0)], 11, 1, r"input 0 \(input\): must be split into at most 1048576 parts"),
    ],
)
def test_results_that_do_not_fit(op_type: str, inputs: Any, opset: int, outputs: int, message: str) -> None:
    attributes = {"Concat": {"axis": 0}, "RNN": {"hidden_size": 2}}.get(op_type, {})
    with pytest.raises(ort.InvalidArgument, match=message):
        extents(op_type, inputs, opset, outputs, **attributes)
