# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with a custom operator is told with node, operator, library and rule, each once."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper


def session_of(library, op_type, inputs, element=TensorProto.FLOAT):
    """Return a session on one node of domain ``fixtures``, named node_7."""
    info = [helper.make_tensor_value_info(name, element, ["n"]) for name in (*dict.fromkeys(inputs), "y") if name]
    node = helper.make_node(op_type, inputs, ["y"], name="node_7", domain="fixtures")
    graph = helper.make_graph([node], "g", info[:-1], info[-1:])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("fixtures", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    options = ort.SessionOptions()
    options.register_custom_ops_library(library)
    return ort.InferenceSession(model.SerializeToString(), options)


@pytest.mark.parametrize(
    ("inputs", "element", "rule"),
    [
        (["a", "b"], TensorProto.DOUBLE, "must be one of tensor(float), got tensor(double)"),
        (["a"], TensorProto.FLOAT, "input"),
        (["a", "b", "c"], TensorProto.FLOAT, "input"),
    ],
)
def test_a_node_that_does_not_fit_names_the_library(fixtures, inputs, element, rule):
    library = str(fixtures / "add_two.so")
    with pytest.raises(ort.InvalidGraph) as failure:
        session_of(library, "AddTwo", inputs, element)
    message = str(failure.value)
    assert "'node_7' (fixtures.AddTwo)" in message
    assert library in message
    assert rule in message


@pytest.mark.parametrize("inputs", [["a", ""], ["", "a"], ["a", "", "b"]])
def test_a_hole_among_variadic_inputs_names_the_library_once(fixtures, inputs):
    library = str(fixtures / "variadic_inputs.so")
    with pytest.raises((ort.InvalidGraph, ort.Fail), match="omitted") as failure:
        session_of(library, "Total", inputs)
    message = str(failure.value)
    assert message.startswith(f"node 'node_7' (fixtures.Total) of {library}: ")
    assert message.count(library) == 1


def test_a_missing_attribute_is_told_once(fixtures):
    library = str(fixtures / "attributes.so")
    with pytest.raises(ort.RuntimeException, match=r"attribute '.*' is missing") as failure:
        session_of(library, "Attributes", ["a"])
    message = str(failure.value)
    assert message.count(library) == 1
    assert message.count("node_7") == 1


def test_a_missing_symbol_is_told_once(fixtures):
    library = str(fixtures / "needs_missing_symbol.so")
    with pytest.raises(ort.Fail, match="undefined symbol: FixtureSymbolThatNobodyDefines") as failure:
        ort.SessionOptions().register_custom_ops_library(library)
    assert str(failure.value).startswith(f"library '{library}': cannot be loaded: ")
    assert str(failure.value).count(library) == 1


def test_a_good_node_runs(fixtures):
    x = np.arange(3, dtype=np.float32)
    session = session_of(str(fixtures / "add_two.so"), "AddTwo", ["a", "a"])
    np.testing.assert_array_equal(session.run(None, {"a": x})[0], x + x)
