# SPDX-License-Identifier: Apache-2.0
"""Graphs in which a kernel of a provider could do harm to others: shared buffers, bodies, constants of outer graphs."""

from __future__ import annotations

import numpy as np
import onnx_light_ort_host as ort
import pytest
from fixture_eps import EpFixture, model_of, providers_of, taken, tensors
from onnx import helper

X = np.array([[-1, 2, -3]], np.float32)
W = np.array([[3, -4, 5]], np.float32)


@pytest.fixture(scope="module")
def library():
    return EpFixture(ort)


@pytest.fixture
def ep(library):
    """Return the devices of a registration as "Ep"; the end of the test checks that all is released."""
    with library.registered("Ep") as devices:
        yield devices["Ep"]


def body_of(name, *nodes):
    """Return a branch; its output is the last node's."""
    return helper.make_graph(nodes, name, [], tensors([nodes[-1].output[0]]))


def run_twice(session, feeds, *expected):
    """The second run finds what the first one would have destroyed."""
    kept = {name: array.copy() for name, array in feeds.items()}
    for _ in range(2):
        for y, right in zip(session.run(None, feeds), expected, strict=True):
            np.testing.assert_array_equal(y, right)
        for name, array in feeds.items():
            np.testing.assert_array_equal(array, kept[name])


def test_alias_of_an_initializer_is_not_overwritten_in_place(library, ep):
    nodes = [
        helper.make_node("Squeeze", ["w"], ["s"], name="squeeze"),
        helper.make_node("Relu", ["s"], ["r"], name="relu"),
        helper.make_node("Add", ["r", "x"], ["y"], name="add"),
    ]
    session = library.session(model_of(nodes, tensors("x", shape=[1, 3]), tensors("y"), {"w": W}), (ep, {}))
    assert taken(session, "Ep") == {"squeeze", "relu", "add"}
    run_twice(session, {"x": X}, np.maximum(W, 0) + X)


def test_alias_of_a_feed_is_not_overwritten_in_place(library, ep):
    nodes = [
        helper.make_node("Squeeze", ["x"], ["s"], name="squeeze"),
        helper.make_node("Relu", ["s"], ["r"], name="relu"),
        helper.make_node("Relu", ["r"], ["y"], name="relu_again"),
    ]
    session = library.session(model_of(nodes, tensors("x", shape=[1, 3]), tensors(["y", "s"])), (ep, {}))
    run_twice(session, {"x": X}, np.maximum(X[0], 0), X[0])


def test_alias_of_an_outer_value_is_not_overwritten_by_a_body(library, ep):
    then_branch = body_of(
        "then",
        helper.make_node("Squeeze", ["a"], ["s"], name="squeeze"),
        helper.make_node("Relu", ["s"], ["t"], name="relu"),
    )
    else_branch = body_of("else", helper.make_node("Squeeze", ["a"], ["e"], name="squeeze_alone"))
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"], name="add"),
        helper.make_node("If", ["c"], ["y"], name="if", then_branch=then_branch, else_branch=else_branch),
        helper.make_node("Mul", ["a", "w"], ["z"], name="mul"),
    ]
    inputs = tensors("x", shape=[1, 3]) + tensors("c", bool, [])
    session = library.session(model_of(nodes, inputs, tensors(["y", "z"]), {"w": W}), (ep, {}))
    assert taken(session, "Ep") == {"add", "squeeze", "relu", "squeeze_alone", "mul"}
    a = X + W
    run_twice(session, {"x": X, "c": np.array(True)}, np.maximum(a[0], 0), a * W)
    run_twice(session, {"x": X, "c": np.array(False)}, a[0], a * W)


def test_value_with_two_readers_is_not_overwritten_in_place(library, ep):
    nodes = [
        helper.make_node("Add", ["x", "x"], ["a"], name="add"),
        helper.make_node("Relu", ["a"], ["r"], name="relu"),
        helper.make_node("Neg", ["a"], ["n"], name="neg"),
        helper.make_node("Mul", ["r", "n"], ["y"], name="mul"),
    ]
    session = library.session(model_of(nodes, tensors("x", shape=[1, 3]), tensors("y")), (ep, {}))
    run_twice(session, {"x": X}, np.maximum(2 * X, 0) * (-2 * X))


@pytest.mark.parametrize("shadowed", [False, True])
def test_constant_axes_of_an_outer_graph_are_found(library, ep, shadowed):
    """A body's own value of the same name comes first."""
    inner = [helper.make_node("Constant", [], ["axes"], name="constant", value_ints=[1])] if shadowed else []
    then_branch = body_of("then", *inner, helper.make_node("Squeeze", ["x", "axes"], ["t"], name="squeeze"))
    else_branch = body_of("else", helper.make_node("Neg", ["x"], ["e"], name="neg"))
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then_branch, else_branch=else_branch)
    inputs = tensors("x", shape=[1, 1, 3]) + tensors("c", bool, [])
    model = model_of([node], inputs, tensors("y"), {} if shadowed else {"axes": np.array([0])})
    session = library.session(model, (ep, {}))
    assert taken(session, "Ep") == {"squeeze"}
    run_twice(session, {"x": X[None], "c": np.array(True)}, X)


def test_body_without_nodes_and_output_that_is_an_initializer(library, ep):
    then_branch = helper.make_graph([], "then", [], tensors(["a"]))
    else_branch = body_of("else", helper.make_node("Relu", ["a"], ["e"], name="relu"))
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"], name="add"),
        helper.make_node("If", ["c"], ["y"], name="if", then_branch=then_branch, else_branch=else_branch),
    ]
    inputs = tensors("x", shape=[1, 3]) + tensors("c", bool, [])
    session = library.session(model_of(nodes, inputs, tensors(["y", "w"]), {"w": W}), (ep, {}))
    assert taken(session, "Ep") == {"add", "relu"}
    run_twice(session, {"x": X, "c": np.array(True)}, X + W, W)
    run_twice(session, {"x": X, "c": np.array(False)}, np.maximum(X + W, 0), W)


def test_what_a_loop_carries_passes_through_the_provider(library, ep):
    """Carried and scanned values are both outputs of the provider's node, which may work in place."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["carried", "x"], ["a"], name="add"),
            helper.make_node("Relu", ["a"], ["next"], name="relu"),
            helper.make_node("Squeeze", ["next"], ["scanned"], name="squeeze"),
            helper.make_node("Identity", ["going"], ["goes_on"], name="identity"),
        ],
        "body",
        [*tensors("i", np.int64, []), *tensors(["going"], bool, []), *tensors(["carried"])],
        [*tensors(["goes_on"], bool), *tensors(["next", "scanned"])],
    )
    node = helper.make_node("Loop", ["trips", "", "x"], ["y", "z"], name="loop", body=body)
    model = model_of([node], tensors("x", shape=[1, 3]) + tensors(["trips"], np.int64, []), tensors(["y", "z"]))
    session = library.session(model, (ep, {}))
    assert taken(session, "Ep") == {"add", "relu", "squeeze"}
    value, scanned = X, []
    for _ in range(3):
        value = np.maximum(value + X, 0)
        scanned.append(value[0])
    run_twice(session, {"x": X, "trips": np.array(3)}, value, np.array(scanned))


def test_nodes_of_inlined_functions_are_offered(library, ep):
    body = [
        helper.make_node("Mul", ["p", "p"], ["q"], name="mul"),
        helper.make_node("Relu", ["q"], ["r"], name="relu"),
    ]
    function = helper.make_function("local", "F", ["p"], ["r"], body, [helper.make_opsetid("", 17)])
    model = model_of(
        [helper.make_node("F", ["x"], ["y"], name="f", domain="local")], tensors("x", shape=[1, 3]), tensors("y")
    )
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    session = library.session(model, (ep, {}))
    assert sorted(providers_of(session).values()) == ["Ep", "Ep"]
    run_twice(session, {"x": X}, X * X)


def test_overridable_initializer_reaches_the_kernel(library, ep):
    nodes = [helper.make_node("Add", ["x", "w"], ["y"], name="add")]
    model = model_of(nodes, tensors(["x", "w"], shape=[1, 3]), tensors("y"), {"w": W})
    session = library.session(model, (ep, {}))
    assert taken(session, "Ep") == {"add"}
    run_twice(session, {"x": X}, X + W)
    run_twice(session, {"x": X, "w": 2 * W}, X + 2 * W)


def test_error_of_a_kernel_names_node_and_library(library, ep):
    nodes = [helper.make_node("Axpy", ["x", "z"], ["y"], name="axpy", domain="kernel_ep")]
    session = library.session(
        model_of(nodes, tensors("x", shape=["n"]) + tensors("z", shape=["m"]), tensors("y")), (ep, {})
    )
    error = library.error_of(session.run, None, {"x": np.ones(2, np.float32), "z": np.ones(3, np.float32)})
    assert type(error) is ort.InvalidArgument
    assert [word for word in ("axpy", library.path, "same shape") if word not in str(error)] == [], error
