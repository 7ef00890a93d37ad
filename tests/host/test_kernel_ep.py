# SPDX-License-Identifier: Apache-2.0
"""Sessions on a library of registered kernels: what it takes and computes, beside native nodes and other providers."""

from __future__ import annotations

import gc
import threading

import numpy as np
import onnx_light_ort_host as ort
import pytest
from fixture_eps import EpFixture, model_of, providers_of, taken, tensors
from onnx import helper

NATIVE = "CPUExecutionProvider"
RNG = np.random.default_rng(5)
RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")


@pytest.fixture(scope="module")
def library():
    return EpFixture(ort)


@pytest.fixture
def ep(library):
    """Return the devices of a registration as "Ep"; the end of the test checks that all is released."""
    with library.registered("Ep") as devices:
        yield devices["Ep"]
        gc.collect()


def numbers(dtype, *shape):
    """Return small numbers of both signs, which no type rounds."""
    return RNG.integers(-8, 8, shape).astype(dtype)


def squeezed(x, axes=None):
    return np.squeeze(x, None if axes is None else tuple(axes))


OPERATORS = {
    "Add": (np.add, [(2, 3), (3,)]),
    "Mul": (np.multiply, [(2, 1, 3), (4, 1)]),
    "Relu": (lambda x: np.maximum(x, 0), [(2, 3)]),
    "MatMul": (np.matmul, [(2, 3, 4), (4, 5)]),
    "Squeeze": (np.squeeze, [(1, 3, 1)]),
}
FLOATS, ALL = [np.float32, np.float64], [np.float32, np.float64, np.int32, np.int64]
VERSIONS = [
    *[("Add", 7, FLOATS), ("Add", 13, FLOATS), ("Add", 14, ALL), ("Mul", 7, FLOATS), ("Mul", 14, ALL)],
    *[("Relu", 6, FLOATS), ("Relu", 13, FLOATS), ("Relu", 14, ALL), ("MatMul", 1, FLOATS), ("MatMul", 9, ALL)],
    *[("MatMul", 13, ALL), ("Squeeze", 1, ALL), ("Squeeze", 11, ALL), ("Squeeze", 13, ALL), ("Squeeze", 21, ALL)],
]
CASES = [pytest.param(op, opset, t, id=f"{op}-{opset}-{t.__name__}") for op, opset, types in VERSIONS for t in types]


def one_node(op, opset, dtype, **attributes):
    """Return a model of one node named ``n`` with feeds and what numpy makes of them."""
    function, shapes = OPERATORS[op]
    arrays = {f"x{i}": numbers(dtype, *shape) for i, shape in enumerate(shapes)}
    node = helper.make_node(op, list(arrays), ["y"], name="n", **attributes)
    inputs = [tensors([name], dtype, array.shape)[0] for name, array in arrays.items()]
    return model_of([node], inputs, tensors("y", dtype), opset=opset), arrays, function(*arrays.values())


@pytest.mark.parametrize(("op", "opset", "dtype"), CASES)
def test_kernels_of_every_version_and_type_compute(library, ep, op, opset, dtype):
    model, feeds, expected = one_node(op, opset, dtype)
    session = library.session(model, (ep, {}))
    assert taken(session, "Ep") == {"n"}
    (y,) = session.run(None, feeds)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("op", "opset", "dtype", "why"),
    [
        ("Relu", 13, np.float16, "T"),
        ("Add", 13, np.int32, "tensor(int32)"),
        ("Mul", 14, np.uint8, "tensor(uint8)"),
    ],
)
def test_node_without_a_kernel_stays_native_and_says_why(library, ep, op, opset, dtype, why):
    model, feeds, expected = one_node(op, opset, dtype)
    session = library.session(model, (ep, {}))
    (row,) = session.node_assignments()
    assert row.provider == NATIVE
    assert "Ep: did not propose the node, and has no kernel for it" in row.reason
    assert why in row.reason
    np.testing.assert_array_equal(session.run(None, feeds)[0], expected)


@pytest.mark.parametrize(("opset", "axes"), [(12, [0]), (12, [-1]), (12, None), (13, [0]), (17, [-1, 0]), (21, None)])
def test_squeeze_reads_axes_as_attribute_and_as_input(library, ep, opset, axes):
    x = numbers(np.float32, 1, 3, 1)
    is_input = opset >= 13 and axes is not None
    attributes = {} if is_input or axes is None else {"axes": axes}
    node = helper.make_node("Squeeze", ["x", "axes"] if is_input else ["x"], ["y"], name="n", **attributes)
    weights = {"axes": np.array(axes, np.int64)} if is_input else None
    model = model_of([node], tensors("x", shape=x.shape), tensors("y"), weights, opset)
    session = library.session(model, (ep, {}))
    assert taken(session, "Ep") == {"n"}
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], squeezed(x, axes))


def test_alias_leaves_feeds_and_other_readers_alone(library, ep):
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Squeeze", ["r"], ["s"], name="squeeze"),
        helper.make_node("Relu", ["s"], ["t"], name="relu_again"),
        helper.make_node("Add", ["s", "t"], ["y"], name="add"),
        helper.make_node("Squeeze", ["x"], ["z"], name="squeeze_of_feed"),
    ]
    model = model_of(nodes, tensors("x", shape=[1, "n"]), tensors(["y", "z", "r"]))
    session = library.session(model, (ep, {}))
    assert taken(session, "Ep") == {node.name for node in nodes}
    x = numbers(np.float32, 1, 6)
    kept = x.copy()
    y, z, r = session.run(None, {"x": x})
    np.testing.assert_array_equal(x, kept)
    np.testing.assert_array_equal(z, x[0])
    np.testing.assert_array_equal(r, np.maximum(x, 0))
    np.testing.assert_array_equal(y, 2 * np.maximum(x[0], 0))
    assert not np.shares_memory(z, x)


def mixed_model():
    """Sub is native in it; Axpy is the provider's own."""
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"], name="add"),
        helper.make_node("Sub", ["a", "w"], ["s"], name="sub"),
        helper.make_node("Mul", ["s", "a"], ["m"], name="mul"),
        helper.make_node("Axpy", ["m", "a"], ["p"], name="axpy", domain="kernel_ep", alpha=2.0),
        helper.make_node("Relu", ["p"], ["y"], name="relu"),
    ]
    w = np.array([1, -2, 3], np.float32)
    return model_of(nodes, tensors("x", shape=["n", 3]), tensors("y"), {"w": w}), w


def mixed(x, w):
    a = x + w
    return np.maximum(2 * (x * a) + a, 0)


@pytest.mark.parametrize(
    ("options", "nodes"),
    [
        ({}, {"add", "mul", "axpy", "relu"}),
        ({"ops": "Axpy,Relu"}, {"axpy", "relu"}),
        ({"nodes": "axpy,mul,sub"}, {"axpy", "mul"}),
        ({"every": "3", "ops": "Axpy,Relu"}, {"axpy"}),
        ({"early": "1"}, {"add", "mul", "axpy", "relu"}),
        ({"layout": "NHWC"}, {"add", "mul", "axpy", "relu"}),
    ],
)
def test_native_and_plugin_nodes_run_together(library, ep, options, nodes):
    model, w = mixed_model()
    session = library.session(model, (ep, options))
    assert taken(session, "Ep") == nodes
    assert taken(session, NATIVE) == {"add", "sub", "mul", "axpy", "relu"} - nodes
    for rows in (1, 4, 0, 2):  # shapes change, extents of zero among them
        x = numbers(np.float32, rows, 3)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], mixed(x, w))


def test_placeholder_that_nobody_takes_fails_the_session(library, ep):
    model, _ = mixed_model()
    with library.counting("OrtCustomOp.CreateKernelV2") as made, pytest.raises(ort.NotImplemented) as caught:
        library.session(model, (ep, {"ops": "Add"}))
    assert made == {"OrtCustomOp.CreateKernelV2": 0}
    assert [word for word in ("axpy", "Ep") if word not in str(caught.value)] == []


def test_unselected_provider_takes_nothing(library, ep):
    model = model_of([RELU], tensors("x", shape=[2]), tensors("y"))
    with library.counting("OrtEpFactory.CreateEp", "OrtEp.GetCapability") as made:
        session = library.session(model)
        assert providers_of(session) == {"relu": NATIVE}
        session.run(None, {"x": numbers(np.float32, 2)})
    assert set(made.values()) == {0}
    assert len(ep) == 1


def branch(name, nodes):
    return helper.make_graph(nodes, name, [], tensors([nodes[-1].output[0]]))


def test_nodes_in_branches_run_on_the_provider(library, ep):
    then_branch = branch(
        "then",
        [helper.make_node("Add", ["x", "w"], ["t0"], name="add"), helper.make_node("Relu", ["t0"], ["t"], name="r")],
    )
    else_branch = branch("else", [helper.make_node("Neg", ["x"], ["e"], name="neg")])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then_branch, else_branch=else_branch)
    w = np.array([3, -3, 0], np.float32)
    inputs = tensors("x", shape=[3]) + tensors("c", bool, [])
    session = library.session(model_of([node], inputs, tensors("y"), {"w": w}), (ep, {}))
    assert providers_of(session) == {"if": NATIVE, "add": "Ep", "r": "Ep", "neg": NATIVE}
    x = numbers(np.float32, 3)
    np.testing.assert_array_equal(session.run(None, {"x": x, "c": np.array(True)})[0], np.maximum(x + w, 0))
    np.testing.assert_array_equal(session.run(None, {"x": x, "c": np.array(False)})[0], -x)


def test_body_of_a_loop_runs_on_the_provider(library, ep):
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["carried", "x"], ["next"], name="mul"),
            helper.make_node("Identity", ["going"], ["goes_on"], name="identity"),
        ],
        "body",
        [*tensors("i", np.int64, []), *tensors(["going"], bool, []), *tensors(["carried"])],
        [*tensors(["goes_on"], bool), *tensors(["next"])],
    )
    node = helper.make_node("Loop", ["trips", "", "x"], ["y"], name="loop", body=body)
    model = model_of([node], tensors("x", shape=[3]) + tensors(["trips"], np.int64, []), tensors("y"))
    session = library.session(model, (ep, {}))
    assert providers_of(session) == {"loop": NATIVE, "mul": "Ep", "identity": NATIVE}
    x = np.array([2, -3, 1], np.float32)
    with library.counting("kernels made", "OrtKernelImpl.Compute") as made:
        for trips in (0, 1, 4):
            np.testing.assert_array_equal(session.run(None, {"x": x, "trips": np.array(trips)})[0], x ** (trips + 1))
    assert made == {"kernels made": 0, "OrtKernelImpl.Compute": 5}


@pytest.mark.parametrize(("first", "second"), [("A", "B"), ("B", "A")])
def test_the_provider_that_is_named_first_takes_first(library, first, second):
    model, w = mixed_model()
    with library.registered("A", "B") as devices:
        session = library.session(model, (devices[first], {"ops": "Add,Axpy"}), (devices[second], {}))
        assert providers_of(session) == {"add": first, "sub": NATIVE, "mul": second, "axpy": first, "relu": second}
        x = numbers(np.float32, 2, 3)
        with library.counting("OrtEp.OnRunStart", "OrtEp.OnRunEnd") as made:
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], mixed(x, w))
        assert made == {"OrtEp.OnRunStart": 2, "OrtEp.OnRunEnd": 2}
        del session


def test_kernels_are_made_once_per_node_and_session(library, ep):
    model, w = mixed_model()
    x = numbers(np.float32, 2, 3)
    never = [
        "OrtKernelImpl.PrePackWeight",
        "OrtEp.Sync",
        "OrtEp.SetDynamicOptions",
        "OrtEp.ShouldConvertDataLayoutForOp",
    ]
    once = ["EPs made", "OrtEp.GetKernelRegistry", "OrtEp.OnSessionInitializationEnd", "OrtEp.IsConcurrentRunSupported"]
    per_node = ["kernels made", "OrtKernelCreateFunc"]
    per_run = ["OrtEp.OnRunStart", "OrtEp.OnRunEnd"]
    with library.counting(*never, *once, *per_node, *per_run, "OrtKernelImpl.Compute") as made:
        sessions = [library.session(model, (ep, {})) for _ in range(3)]
        for session in sessions:
            for _ in range(50):
                np.testing.assert_array_equal(session.run(None, {"x": x})[0], mixed(x, w))
    expected = {0: never, 3: once, 12: per_node, 150: per_run, 600: ["OrtKernelImpl.Compute"]}
    assert made == {name: count for count, names in expected.items() for name in names}
    del session, sessions


@pytest.mark.parametrize("overlaps", [True, False])
def test_runs_overlap_if_the_provider_allows_it(overlaps):
    library = EpFixture(ort)
    model = model_of([RELU], tensors("x", shape=["n"]), tensors("y"))
    with library.registered("Naps") as devices:
        session = library.session(model, (devices["Naps"], {"nap_ms": "20", "concurrent": str(int(overlaps))}))
        library.exports.FixtureReset(b"most computes at the same time")
        errors = []
        threads = [threading.Thread(target=run_often, args=(session, seed, errors)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert (library.count("most computes at the same time") > 1) == overlaps
        del session, threads


def run_often(session, seed, errors):
    x = np.random.default_rng(seed).standard_normal(seed + 1).astype(np.float32)
    try:
        for _ in range(5):
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.maximum(x, 0))
    except BaseException as error:
        errors.append(error.with_traceback(None))
