# SPDX-License-Identifier: Apache-2.0
"""The plugin's custom operators in the real ONNX Runtime: attributes, arguments, shapes, errors, copies."""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_light_ort_plugin
import onnxruntime
import pytest
from onnx import helper
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException as OrtRuntimeException
from plugin_ep import STRING, model_of

F32 = np.float32
X = np.array([[-1.5, 0, 2], [3, -4, -0.25]], F32)


def node(op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, outputs, domain="onnx_light", **attributes)


def session_of(model: bytes, op_types: Sequence[str] | None = None) -> onnxruntime.InferenceSession:
    """Return a session for a model of custom operators; only those named are registered, for speed."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if op_types is None:
        op_types = sorted({n.op_type for n in onnx.load_model_from_string(model).graph.node if n.domain})
    onnx_light_ort_plugin.register(options, op_types)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run_one(one: onnx.NodeProto, feeds: Mapping[str, np.ndarray], kind: Any = F32, known: bool = True) -> np.ndarray:
    """Return the output "y" of a node; ``known`` says whether the model gives the extents of its inputs."""
    infos = {
        name: (STRING if array.dtype.kind == "O" else array.dtype, list(array.shape) if known else None)
        for name, array in feeds.items()
    }
    return session_of(model_of([one], infos, {"y": (kind, None)})).run(["y"], dict(feeds))[0]


def copy_counts() -> np.ndarray:
    """Return what the library has copied since it was loaded: inputs, outputs, outputs that are views of inputs."""
    return session_of(model_of([node("CopyCounts", [], ["y"])], {}, {"y": (np.int64, [3])}), ["Relu"]).run(None, {})[0]


def test_an_attribute_that_is_left_out_has_its_default_of_onnx() -> None:
    np.testing.assert_allclose(run_one(node("LeakyRelu", ["x"], ["y"]), {"x": X}), np.where(X < 0, X * F32(0.01), X))
    np.testing.assert_allclose(
        run_one(node("LeakyRelu", ["x"], ["y"], alpha=0.5), {"x": X}), np.where(X < 0, X * F32(0.5), X)
    )


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (node("LeakyRelu", ["x"], ["y"], alpha=1), "attribute 'alpha' must be of kind float, got int"),
        (node("Softmax", ["x"], ["y"], axis=[1]), "attribute 'axis' must be of kind int, got ints"),
        (node("Transpose", ["x"], ["y"], perm=1), "attribute 'perm' must be of kind ints, got int"),
        (node("Relu", ["x"], ["y"], opset="17"), "attribute 'opset' must be of kind int, got string"),
        (node("Relu", ["x"], ["y"], opset=0), "attribute 'opset' must select one of the versions 1, 6, 13, 14"),
        (node("Cast", ["x"], ["y"]), "attribute 'to'"),
        (node("Gelu", ["x"], ["y"], approximate="much"), "attribute 'approximate' must be none or tanh, got 'much'"),
    ],
)
def test_an_attribute_that_is_wrong_names_operator_and_rule(one: onnx.NodeProto, words: str) -> None:
    one.name = "wrong"
    with pytest.raises(OrtRuntimeException) as caught:
        run_one(one, {"x": X})
    assert words in str(caught.value)
    assert f"onnx_light.{one.op_type}" in str(caught.value)


def test_an_element_type_without_kernel_is_refused_by_name() -> None:
    with pytest.raises(OrtRuntimeException, match=r"node 'n' \(Relu\).*tensor\(string\)"):
        run_one(node("Relu", ["x"], ["y"], name="n"), {"x": np.array(["a"], object)}, STRING)


def test_too_few_arguments_are_refused() -> None:
    with pytest.raises(InvalidGraph):
        run_one(node("Add", ["x"], ["y"]), {"x": X})


@pytest.mark.parametrize(
    ("opset", "expected"), [(11, np.exp(X) / np.exp(X).sum()), (13, np.exp(X) / np.exp(X).sum(0)), (None, None)]
)
def test_the_opset_decides_on_the_meaning(opset: int | None, expected: np.ndarray | None) -> None:
    attributes = {} if opset is None else {"opset": opset}
    found = run_one(node("Softmax", ["x"], ["y"], axis=0, **attributes), {"x": X})
    np.testing.assert_allclose(found, np.exp(X) / np.exp(X).sum(0) if expected is None else expected, rtol=1e-6)


def test_optional_inputs_and_variadics() -> None:
    hi = np.array(1, F32)
    np.testing.assert_array_equal(run_one(node("Clip", ["x", "", "hi"], ["y"]), {"x": X, "hi": hi}), X.clip(None, 1))
    found = run_one(node("Concat", ["a", "b", "c"], ["y"], axis=0), {"a": X, "b": X + 1, "c": X + 2})
    np.testing.assert_array_equal(found, np.concatenate([X, X + 1, X + 2]))
    outputs = dict.fromkeys(("a", "b", "c"), (F32, None))
    split = node("Split", ["x"], list(outputs), axis=1, num_outputs=3)
    parts = session_of(model_of([split], {"x": (F32, [2, 3])}, outputs))
    for part, expected in zip(parts.run(None, {"x": X}), np.split(X, 3, 1), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_parts_of_a_split_need_no_type_in_the_model() -> None:
    nodes = [node("Split", ["x", "s"], ["a", "b"], axis=1), helper.make_node("Concat", ["b", "a"], ["y"], axis=1)]
    model = model_of(nodes, {"x": (F32, [2, "n"])}, {"y": (F32, None)}, {"s": np.array([1, 2])})
    np.testing.assert_array_equal(session_of(model).run(None, {"x": X})[0], X[:, [1, 2, 0]])


def test_an_opset_that_is_wrong_names_the_node() -> None:
    one = node("Softmax", ["x"], ["y"], opset=-1, name="here")
    with pytest.raises(Exception, match=r"onnx_light\.Softmax: node 'here': attribute 'opset' must"):
        run_one(one, {"x": X})


@pytest.mark.parametrize("known", [True, False])
def test_the_type_of_an_output_may_differ_from_those_of_the_inputs(known: bool) -> None:
    to = onnx.TensorProto.INT64
    np.testing.assert_array_equal(run_one(node("Cast", ["x"], ["y"], to=to), {"x": X}, np.int64, known), X.astype(int))
    np.testing.assert_array_equal(
        run_one(node("Gather", ["x", "i"], ["y"]), {"x": X, "i": np.array([1, 0])}, F32, known), X[[1, 0]]
    )
    value = helper.make_tensor("v", onnx.TensorProto.DOUBLE, [1], [2.5])
    found = run_one(node("ConstantOfShape", ["s"], ["y"], value=value), {"s": np.array([2, 0, 3])}, np.float64, known)
    np.testing.assert_array_equal(found, np.full([2, 0, 3], 2.5))


def test_inferred_shapes_reach_the_rest_of_the_graph() -> None:
    nodes = [node("Transpose", ["x"], ["t"]), helper.make_node("Identity", ["t"], ["y"])]
    session = session_of(model_of(nodes, {"x": (F32, ["rows", 3])}, {"y": (F32, None)}))
    (y,) = session.get_outputs()
    assert (y.type, y.shape) == ("tensor(float)", [3, "rows"])


def test_extents_that_are_not_known_are_not_taken_for_equal() -> None:
    """Between the two compressions, ONNX Runtime must not reuse a buffer of what it believes to be the same size."""
    nodes = [
        node("Compress", ["x", "few"], ["a"]),
        node("Neg", ["a"], ["b"]),
        node("Compress", ["x", "many"], ["c"]),
        node("Neg", ["c"], ["d"]),
        helper.make_node("Shape", ["d"], ["shape"]),
        node("Neg", ["d"], ["y"]),
        node("Neg", ["b"], ["z"]),
    ]
    inputs = {"x": (F32, [4]), "few": (np.bool_, [4]), "many": (np.bool_, [4])}
    outputs = {"y": (F32, None), "z": (F32, None), "shape": (np.int64, None)}
    few, many = np.array([0, 1, 0, 0], bool), np.array([1, 1, 0, 1], bool)
    x = np.array([1, 2, 3, 4], F32)
    y, z, shape = session_of(model_of(nodes, inputs, outputs)).run(None, {"x": x, "few": few, "many": many})
    np.testing.assert_array_equal(y, [1, 2, 4])
    np.testing.assert_array_equal(z, [2])
    assert shape.tolist() == [3]


def test_shapes_may_change_and_may_be_empty() -> None:
    session = session_of(model_of([node("Add", ["x", "x"], ["y"])], {"x": (F32, None)}, {"y": (F32, None)}))
    for shape in ([2, 3], [], [0], [5, 0, 2], [4], [1, 2, 3, 4, 5, 1, 1, 1, 1]):
        x = np.full(shape, 1.5, F32)
        (y,) = session.run(None, {"x": x})
        assert y.shape == x.shape
        np.testing.assert_array_equal(y, x + x)


def test_a_failing_run_names_the_node_and_leaves_the_session_usable() -> None:
    model = model_of([node("MatMul", ["a", "b"], ["y"], name="product")],
                     {"a": (F32, None), "b": (F32, None)}, {"y": (F32, None)})  # fmt: skip
    session = session_of(model)
    with pytest.raises(InvalidArgument, match=r"node 'product' \(MatMul\): "):
        session.run(None, {"a": np.ones([2, 3], F32), "b": np.ones([2, 3], F32)})
    np.testing.assert_array_equal(
        session.run(None, {"a": np.ones([2, 3], F32), "b": np.ones([3, 2], F32)})[0], np.full([2, 2], 3, F32)
    )


def test_outputs_go_straight_to_the_buffers_of_onnx_runtime() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Add", ["m", "b"], ["a"]),
        node("Relu", ["a"], ["r"]),
        node("Reshape", ["r", "s"], ["v"]),
        node("Softmax", ["v"], ["y"]),
    ]
    weights = {"w": np.ones([3, 4], F32), "b": np.ones(4, F32), "s": np.array([-1, 2])}
    session = session_of(model_of(nodes, {"x": (F32, ["n", 3])}, {"y": (F32, None)}, weights))
    before = copy_counts()
    for rows in (1, 3, 200):
        x = np.ones([rows, 3], F32)  # numpy aligns it for its type
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.full([2 * rows, 2], 0.5))
    assert (copy_counts() - before).tolist() == [0, 0, 0]


def test_copies_are_counted() -> None:
    before = copy_counts()
    # Both inputs and the output are strings.
    text = {"x": np.array(["a", "b"], object), "z": np.array(["c", "d"], object)}
    assert run_one(node("StringConcat", ["x", "z"], ["y"]), text, STRING).tolist() == ["ac", "bd"]
    assert (copy_counts() - before).tolist() == [2, 1, 0]
    # A graph output cannot be a view of a graph input.
    np.testing.assert_array_equal(run_one(node("Flatten", ["x"], ["y"], axis=0), {"x": X}), X.reshape(1, 6))
    assert (copy_counts() - before).tolist() == [2, 1, 1]


def test_inputs_are_not_written() -> None:
    nodes = [node("Relu", ["x"], ["r"]), node("Reshape", ["x", "s"], ["v"]), node("Neg", ["v"], ["y"]),
             helper.make_node("Relu", ["v"], ["z"])]  # fmt: skip
    outputs = dict.fromkeys(("r", "y", "z"), (F32, None))
    session = session_of(model_of(nodes, {"x": (F32, [2, 3])}, outputs, {"s": np.array([-1])}))
    x = X.copy()
    r, y, z = session.run(None, {"x": x})
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(r, np.maximum(X, 0))
    np.testing.assert_array_equal(y, -X.reshape(-1))
    np.testing.assert_array_equal(z, np.maximum(X, 0).reshape(-1))


def test_the_domain_cannot_be_registered_twice_for_one_session() -> None:
    options = onnxruntime.SessionOptions()
    onnx_light_ort_plugin.register(options, ["Relu"])
    onnx_light_ort_plugin.register(options, ["Neg"])
    with pytest.raises(Fail, match="onnx_light"):
        onnxruntime.InferenceSession(
            model_of([node("Relu", ["x"], ["y"])], {"x": (F32, [1])}, {"y": (F32, [1])}), options,
            providers=["CPUExecutionProvider"],
        )  # fmt: skip


@pytest.mark.parametrize("name", ["Rleu", "If"])
def test_an_operator_that_there_is_none_of_is_refused(name: str) -> None:
    options = onnxruntime.SessionOptions()
    with pytest.raises(InvalidArgument, match=r"onnx_light\.operators: must be operators that there are kernels for"):
        onnx_light_ort_plugin.register(options, ["Relu", name])


def test_many_instances_sessions_and_threads() -> None:
    """Kernels of one operator at many nodes, in sessions that share options and end in another order."""
    names = [f"v{i}" for i in range(30)]
    nodes = [node("Add", [a, "one"], [b]) for a, b in zip(["x", *names], [*names, "y"], strict=True)]
    model = model_of(nodes, {"x": (F32, ["n"])}, {"y": (F32, ["n"])}, {"one": np.array(1, F32)})
    options = onnxruntime.SessionOptions()
    onnx_light_ort_plugin.register(options, ["Add"])
    sessions = [onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]) for _ in range(3)]
    del options
    wrong: list[int] = []

    def work(number: int) -> None:
        for size in (1, 7, 0, 300) * 10:
            x = np.full(size, number, F32)
            if not np.array_equal(sessions[number % 3].run(None, {"x": x})[0], x + 31):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    for i in (1, 0):
        del sessions[i]
        gc.collect()
    np.testing.assert_array_equal(sessions[0].run(None, {"x": X[0]})[0], X[0] + 31)


def test_all_operators_are_registered_by_default() -> None:
    options = onnxruntime.SessionOptions()
    onnx_light_ort_plugin.register(options)
    nodes = [node(op, ["x"], [f"y{i}"]) for i, op in enumerate(("Abs", "Erf", "Swish"))]
    model = model_of(nodes, {"x": (F32, [2, 3])}, {f"y{i}": (F32, [2, 3]) for i in range(3)})
    found = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"x": X})
    np.testing.assert_array_equal(found[0], np.abs(X))
    np.testing.assert_allclose(found[2], X / (1 + np.exp(-X)), rtol=1e-6)


def test_the_custom_operators_and_the_provider_work_side_by_side() -> None:
    onnxruntime.register_execution_provider_library("plugin", onnx_light_ort_plugin.get_library_path())
    options = onnxruntime.SessionOptions()
    onnx_light_ort_plugin.register(options, ["Neg"])
    devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == onnx_light_ort_plugin.get_ep_name()]
    options.add_provider_for_devices(devices, {})
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    nodes = [node("Neg", ["x"], ["n"]), helper.make_node("Relu", ["n"], ["y"])]
    session = onnxruntime.InferenceSession(model_of(nodes, {"x": (F32, [2, 3])}, {"y": (F32, [2, 3])}), options)
    owners = {n.op_type: s.ep_name for s in session.get_provider_graph_assignment_info() for n in s.get_nodes()}
    assert owners == {"Neg": "CPUExecutionProvider", "Relu": onnx_light_ort_plugin.get_ep_name()}
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.maximum(-X, 0))
    onnxruntime.unregister_execution_provider_library("plugin")
