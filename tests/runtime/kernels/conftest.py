# SPDX-License-Identifier: Apache-2.0
"""Fixtures that run one node through a session."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_light_ort_host import InferenceSession, SessionOptions

Run = Callable[..., list[np.ndarray]]


def element_type(array: np.ndarray) -> int:
    """Return the ONNX element type of an array."""
    return TensorProto.STRING if array.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(array.dtype)


def node_model(
    op_type: str,
    inputs: Sequence[np.ndarray | None],
    opset: int,
    outputs: Sequence[int],
    constants: Collection[int] = (),
    unranked: bool = False,
    **attributes: Any,
) -> onnx.ModelProto:
    """Make a model of one node. An output type of 0 omits the output; inputs in `constants` become initializers.

    The attribute ``domain`` is the node's domain, whose version `opset` is then.
    """
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    results = [f"y{i}" if kind else "" for i, kind in enumerate(outputs)]
    given = [(i, array) for i, array in enumerate(inputs) if array is not None]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, results, **attributes)],
        "node",
        [
            helper.make_tensor_value_info(names[i], element_type(a), None if unranked else a.shape)
            for i, a in given
            if i not in constants
        ],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(results, outputs, strict=True) if kind],
        [numpy_helper.from_array(a, names[i]) for i, a in given if i in constants],
    )
    domain = attributes.get("domain", "")
    imports = [helper.make_opsetid(domain, opset), *([helper.make_opsetid("", 21)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.fixture
def run_node() -> Run:
    """Run one node twice: ``run_node(op_type, inputs, opset, outputs=..., constants=..., **attributes)``."""

    def run(
        op_type: str,
        inputs: Sequence[np.ndarray | None],
        opset: int,
        outputs: Sequence[int] | None = None,
        constants: Collection[int] = (),
        threads: int = 1,
        unranked: bool = False,
        **attributes: Any,
    ) -> list[np.ndarray]:
        if outputs is None:
            assert inputs[0] is not None
            outputs = [element_type(inputs[0])]
        model = node_model(op_type, inputs, opset, outputs, constants, unranked, **attributes)
        options = SessionOptions()
        options.intra_op_num_threads = threads
        options.reference_fallback = False  # what is tested are the native kernels
        session = InferenceSession(model.SerializeToString(), options, providers=None)
        feeds = {f"x{i}": a for i, a in enumerate(inputs) if a is not None and i not in constants}
        first: list[np.ndarray] = session.run(None, feeds)
        second: list[np.ndarray] = session.run(None, feeds)  # with the buffers of the first run
        for one, two in zip(first, second, strict=True):
            assert one.tolist() == two.tolist() if one.dtype == object else one.tobytes() == two.tobytes()
        return first

    return run


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same at every run."""
    return np.random.default_rng(11)
