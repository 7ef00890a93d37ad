# SPDX-License-Identifier: Apache-2.0
"""What no session of this host does, and providers that a session cannot have."""

from __future__ import annotations

import onnx_light_ort_host as ort
import pytest
from onnx import TensorProto, helper

INFO = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]


def model_of(*nodes, functions=()):
    graph = helper.make_graph(list(nodes), "g", INFO[:1], INFO[1:])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("f", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions)).SerializeToString()


RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")
CONTEXT = helper.make_node("EPContext", ["x"], ["y"], name="compiled", domain="com.microsoft")


@pytest.mark.parametrize("key", ["ep.context_enable", "ep.enable_weightless"])
def test_modes_that_are_not_here_are_refused_by_name(key):
    options = ort.SessionOptions()
    options.add_session_config_entry(key, "0")
    ort.InferenceSession(model_of(RELU), options)
    options.add_session_config_entry(key, "1")
    with pytest.raises(ort.NotImplemented, match=f"'{key}': not in this host, got '1'"):
        ort.InferenceSession(model_of(RELU), options)


def in_branch():
    branch = helper.make_graph([CONTEXT], "branch", [], INFO[1:])
    condition = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    return model_of(condition, helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch))


def in_function():
    opsets = [helper.make_opsetid("com.microsoft", 1)]
    function = helper.make_function("f", "Call", ["x"], ["y"], [CONTEXT], opsets)
    return model_of(helper.make_node("Call", ["x"], ["y"], domain="f"), functions=[function])


@pytest.mark.parametrize("model", [model_of(CONTEXT), in_branch(), in_function()], ids=["main", "branch", "function"])
def test_what_a_provider_compiled_before_is_refused(model):
    with pytest.raises(ort.NotImplemented, match=r"node 'compiled' \(com.microsoft.EPContext\)"):
        ort.InferenceSession(model)


def test_provider_after_our_own_is_refused():
    with pytest.raises(ort.InvalidArgument, match="expected CPUExecutionProvider last, got 'X' behind it"):
        ort.InferenceSession(model_of(RELU), providers=["CPUExecutionProvider", "X"])


def test_only_nodes_that_a_provider_could_take_are_asked_of_it():
    """Without a provider, all nodes are left to our kernels."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    with pytest.raises(ort.Fail, match=r"node 'relu' \(Relu\) is left to CPUExecutionProvider"):
        ort.InferenceSession(model_of(RELU), options)
