# SPDX-License-Identifier: Apache-2.0
"""Sessions with large weights, which are packed on all threads."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as oh
import pytest
from onnx import TensorProto, helper, numpy_helper


def session_of(nodes: list, weights: dict[str, np.ndarray], threads: int) -> oh.InferenceSession:
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = oh.SessionOptions()
    options.intra_op_num_threads = threads
    options.reference_fallback = False
    return oh.InferenceSession(model.SerializeToString(), options)


def test_many_threads_prepare_what_one_does() -> None:
    random = np.random.default_rng(5)
    weights = {f"w{i}": (random.standard_normal((256, 256)) / 16).astype(np.float32) for i in range(12)}
    nodes = [helper.make_node("MatMul", [f"v{i}" if i else "x", f"w{i}"], [f"v{i + 1}"]) for i in range(11)]
    nodes.append(helper.make_node("Gemm", ["v11", "w11"], ["y"], transB=1))
    x = random.standard_normal((5, 256)).astype(np.float32)
    wanted = x.astype(np.float64)
    for i in range(11):
        wanted = wanted @ weights[f"w{i}"]
    wanted = wanted @ weights["w11"].T.astype(np.float64)
    for threads in (1, 2, 3):
        (found,) = session_of(nodes, weights, threads).run(None, {"x": x})
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("threads", [1, 3])
def test_of_several_nodes_that_cannot_be_prepared_the_first_is_told(threads: int) -> None:
    weights = {f"w{i}": np.zeros((64, 64, 4), np.float32) for i in range(4)}
    nodes = [
        helper.make_node(
            "ConvTranspose",
            [f"v{i}" if i else "x", f"w{i}"],
            [f"v{i + 1}" if i < 3 else "y"],
            name=f"layer{i}",
            **({"output_shape": [1 << 31]} if i in (1, 2) else {}),
        )
        for i in range(4)
    ]
    with pytest.raises(oh.OrtHostError, match=r"node 'layer1' \(ConvTranspose\).*attribute output_shape: must be"):
        session_of(nodes, weights, threads)
