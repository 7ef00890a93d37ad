# SPDX-License-Identifier: Apache-2.0
"""Chains of convolutions whose values lie with their channels last: against onnx.reference in float64."""

from typing import Any

import numpy as np
import onnx
import onnx_light_ort_host as oh
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

LAST = "its result has its channels last"


class Chain:
    """Builds a model node by node."""

    def __init__(self, extents: list[int | str], seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.extents = extents
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.value_info: list[onnx.ValueInfoProto] = []

    def weight(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op_type: str, inputs: list[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        return name

    def conv(self, value: str, channels: int, filters: int, kernel: int = 3, group: int = 1, **attributes: Any) -> str:
        shape = (filters, channels // group, kernel, kernel)
        scale = 1 / np.sqrt(np.prod(shape[1:]))
        weight = self.weight((self.random.standard_normal(shape) * scale).astype(np.float32))
        bias = self.weight(self.random.standard_normal(filters).astype(np.float32))
        attributes.setdefault("pads", [kernel // 2] * 4)
        return self.node("Conv", [value, weight, bias], kernel_shape=[kernel, kernel], group=group, **attributes)

    def model(self, *outputs: str) -> onnx.ModelProto:
        def values(names: tuple[str, ...]) -> list[onnx.ValueInfoProto]:
            return [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]

        graph = helper.make_graph(
            self.nodes,
            "chain",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.extents)],
            values(outputs),
            self.weights,
            value_info=self.value_info,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model in float64."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for i, weight in enumerate(model.graph.initializer):
        values = numpy_helper.to_array(weight)
        if values.dtype == np.float32:
            wide.graph.initializer[i].CopyFrom(numpy_helper.from_array(values.astype(np.float64), weight.name))
    for value in [*wide.graph.input, *wide.graph.output, *wide.graph.value_info]:
        value.type.tensor_type.elem_type = TensorProto.DOUBLE
    return wide


def session_of(model: onnx.ModelProto, threads: int = 1) -> oh.InferenceSession:
    options = oh.SessionOptions()
    options.intra_op_num_threads = threads
    return oh.InferenceSession(model.SerializeToString(), options)


def nodes_last(model: onnx.ModelProto) -> set[str]:
    """Return the names of the nodes whose results lie so."""
    return {node.name for node in session_of(model).node_assignments() if LAST in node.reason}


def check(model: onnx.ModelProto, extents: list[int], last: set[str] | None = None) -> None:
    """Compare a model with its float64 twin, and with itself on several threads."""
    x = np.random.default_rng(1).standard_normal(extents).astype(np.float32)
    wanted = ReferenceEvaluator(widened(model)).run(None, {"x": x.astype(np.float64)})
    found = session_of(model).run(None, {"x": x})
    for value, right in zip(found, wanted, strict=True):
        assert value.shape == right.shape
        # Winograd's transforms round to about 1e-6 of the largest output, a layer.
        np.testing.assert_allclose(value, right, rtol=0, atol=2e-5 * max(1.0, float(np.abs(right).max(initial=0))))
    for threads in (2, 3):
        for value, again in zip(found, session_of(model, threads).run(None, {"x": x}), strict=True):
            np.testing.assert_array_equal(value, again)
    if last is not None:
        assert nodes_last(model) == last


@pytest.mark.parametrize("extents", [[1, 3, 20, 23], [2, 5, 9, 8], [1, 16, 3, 3], [3, 40, 1, 1], [70, 24, 1, 1]])
def test_residual_blocks(extents: list[int]) -> None:
    chain = Chain(extents)
    first = value = chain.node("Relu", [chain.conv("x", extents[1], 32)])
    for _ in range(2):
        main = chain.node("Relu", [chain.conv(value, 32, 32)])
        value = chain.node("Relu", [chain.node("Add", [chain.conv(main, 32, 32), value])])
    short = chain.conv(value, 32, 48, 1, strides=[2, 2])
    main = chain.node("Relu", [chain.conv(value, 32, 48, strides=[2, 2])])
    value = chain.node("Relu", [chain.node("Add", [short, chain.conv(main, 48, 48)])])
    y = chain.node("Flatten", [chain.node("GlobalAveragePool", [value])])
    model = chain.model(y)
    check(model, extents, {f"n{i}" for i in range(len(chain.nodes) - 2)})
    assert first == "v1"


@pytest.mark.parametrize(("kernel", "attributes"), [
    (1, {}), (1, {"strides": [2, 3]}), (1, {"pads": [1, 0, 2, 1]}), (3, {"strides": [2, 1]}),
    (3, {"dilations": [2, 3]}),
    (5, {"pads": [0, 1, 2, 3]}), (3, {"pads": [2, 2, 2, 2]}), (7, {"strides": [3, 2]}), (3, {"auto_pad": "SAME_LOWER"}),
])  # fmt: skip
@pytest.mark.parametrize("filters", [16, 29, 64])
def test_every_window(kernel: int, attributes: dict[str, Any], filters: int) -> None:
    if "auto_pad" in attributes:
        attributes = attributes | {"pads": [0] * 4}
    extents = [2, 7, 15, 19]
    chain = Chain(extents)
    between = chain.conv("x", 7, filters, kernel, **attributes)
    again = chain.conv(between, filters, 24, kernel, **attributes)
    y = chain.conv(again, 24, 32, kernel, **attributes)
    if "auto_pad" in attributes:
        for node in chain.nodes:
            kept = [a for a in node.attribute if a.name != "pads"]
            del node.attribute[:]
            node.attribute.extend(kept)
    check(chain.model(y), extents, {"n0", "n1"})


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(("channels", "kernel"), [(32, 3), (29, 5), (48, 2)])
def test_depthwise(stride: int, channels: int, kernel: int) -> None:
    extents = [2, 6, 17, 14]
    chain = Chain(extents)
    value = chain.node("Relu", [chain.conv("x", 6, channels, 1)])
    value = chain.conv(value, channels, channels, kernel, group=channels, strides=[stride, stride], dilations=[1, 2])
    value = chain.node("Clip", [value, chain.weight(np.array(0, np.float32)), chain.weight(np.array(6, np.float32))])
    y = chain.conv(value, channels, 24, 1)
    check(chain.model(y), extents, {"n0", "n1", "n2", "n3"})


@pytest.mark.parametrize(("op_type", "attributes"), [
    ("MaxPool", {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("MaxPool", {"ceil_mode": 1, "strides": [2, 3]}),
    ("MaxPool", {"dilations": [2, 2]}),
    ("AveragePool", {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("AveragePool", {"strides": [1, 2], "pads": [1, 0, 2, 1], "count_include_pad": 1}),
])  # fmt: skip
def test_pooling_between(op_type: str, attributes: dict[str, Any]) -> None:
    extents = [2, 3, 13, 12]
    chain = Chain(extents)
    value = chain.node(op_type, [chain.conv("x", 3, 24)], kernel_shape=[3, 3], **attributes)
    y = chain.conv(value, 24, 29)
    check(chain.model(y), extents, {"n0", "n1"})


@pytest.mark.parametrize(("op_type", "right"), [("MaxPool", -np.inf), ("AveragePool", np.nan)])
def test_a_window_of_padding_alone(op_type: str, right: float) -> None:
    """A dilated window can miss the input: nothing has no largest element, and 0 / 0 for a mean."""
    chain = Chain([1, 3, 4, 4])
    value = chain.conv("x", 3, 16, 1)
    pooled = chain.node(op_type, [value], kernel_shape=[2, 2], dilations=[5, 5], pads=[1, 1, 1, 1], strides=[1, 1])
    y = chain.node("GlobalAveragePool", [chain.node("Relu", [pooled])])
    z = chain.node("GlobalAveragePool", [pooled])
    model = helper.make_model(
        helper.make_graph(
            chain.nodes,
            "chain",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (y, z)],
            chain.weights,
        ),
        opset_imports=[helper.make_opsetid("", 19)],
        ir_version=8,
    )
    assert nodes_last(model) == {"n0", "n1", "n2"}
    found = session_of(model).run(None, {"x": np.ones((1, 3, 4, 4), np.float32)})[1]
    np.testing.assert_array_equal(found, np.full((1, 16, 1, 1), right, np.float32))


def test_gated_activations() -> None:
    """A value times its sigmoid, and what runs between convolutions as one elementwise step."""
    extents = [1, 3, 11, 10]
    chain = Chain(extents)
    value = chain.conv("x", 3, 32)
    gated = chain.node("Mul", [value, chain.node("Sigmoid", [value])])
    half = chain.node("Mul", [gated, chain.weight(np.array(0.5, np.float32))])
    y = chain.conv(chain.node("Tanh", [half]), 32, 16)
    check(chain.model(y), extents, {f"n{i}" for i in range(5)})


def test_what_reads_channels_keeps_them_second() -> None:
    """One reader that goes by the axis, a graph output, or a value per channel: nothing is turned around."""
    for kind in ("output", "transpose", "scale", "slope"):
        chain = Chain([1, 3, 8, 8])
        value = chain.conv("x", 3, 16)
        outputs = []
        if kind == "output":
            outputs = [value]
        elif kind == "transpose":
            outputs = [chain.node("Transpose", [value], perm=[0, 2, 3, 1])]
        elif kind == "scale":
            value = chain.node("Mul", [value, chain.weight(np.arange(16, dtype=np.float32).reshape(16, 1, 1))])
        else:
            value = chain.node("PRelu", [value, chain.weight(np.arange(16, dtype=np.float32).reshape(16, 1, 1))])
        y = chain.conv(value, 16, 16)
        check(chain.model(y, *outputs), [1, 3, 8, 8], set())


def test_a_gate_per_channel() -> None:
    """Squeeze and excite: one value per channel times all of them, of extents that are known to differ."""
    chain = Chain([2, 3, 8, 8])
    value = chain.conv("x", 3, 16)
    squeezed = chain.node("GlobalAveragePool", [value])
    gate = chain.node("Sigmoid", [chain.conv(squeezed, 16, 16, 1)])
    y = chain.conv(chain.node("Mul", [value, gate]), 16, 16)
    check(chain.model(y), [2, 3, 8, 8])


def test_a_captured_value() -> None:
    """The body of an If reads what a convolution made."""
    chain = Chain([1, 3, 8, 8])
    value = chain.conv("x", 3, 16)
    body = helper.make_graph(
        [helper.make_node("ReduceSum", [value, "axes"], ["taken"], keepdims=0)],
        "body",
        [],
        [helper.make_tensor_value_info("taken", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array([1], np.int64), "axes")],
    )
    condition = chain.weight(np.array(True))
    taken = chain.node("If", [condition], then_branch=body, else_branch=body)
    y = chain.conv(value, 16, 16)
    check(chain.model(y, taken), [1, 3, 8, 8], set())


def test_free_extents() -> None:
    """The batch, height and width are free: what is added comes by the same way, hence has the same extents."""
    chain = Chain(["N", 3, "H", "W"])
    value = chain.node("Relu", [chain.conv("x", 3, 32)])
    value = chain.node("Add", [chain.conv(value, 32, 32), value])
    short = chain.conv(value, 32, 48, 1, strides=[2, 2])
    long = chain.conv(chain.conv(value, 32, 48, 7, strides=[2, 2]), 48, 48)
    y = chain.conv(chain.node("Add", [long, short]), 48, 32, 1)
    model = chain.model(y)
    for extents in ([1, 3, 9, 9], [2, 3, 4, 33], [4, 3, 1, 2]):
        check(model, extents, {f"n{i}" for i in range(8)})


def test_extents_that_only_happen_to_be_equal() -> None:
    """Windows of two geometries: equal for even extents, one place apart and broadcast, or refused, for others."""
    chain = Chain([1, 3, "H", "W"])
    value = chain.conv("x", 3, 16)
    a = chain.conv(value, 16, 16, strides=[2, 2])
    b = chain.conv(value, 16, 16, 2, strides=[2, 2], pads=[0] * 4)
    y = chain.conv(chain.node("Add", [a, b]), 16, 16)
    model = chain.model(y)
    check(model, [1, 3, 8, 6], {"n0"})
    check(model, [1, 3, 3, 2])  # [2, 1] and [1, 1]


def test_promises_that_do_not_hold() -> None:
    """Extents that the model declares and a run does not have: the convolutions go by those of the run."""
    chain = Chain([1, 3, "H", "W"])
    value = chain.conv("x", 3, 16)
    y = chain.conv(chain.node("Add", [chain.conv(value, 16, 16), value]), 16, 16)
    for name in (node.output[0] for node in chain.nodes[:-1]):
        chain.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16, 4, 4]))
    x = np.random.default_rng(3).standard_normal((1, 3, 6, 5)).astype(np.float32)
    model = chain.model(y)
    (found,) = session_of(model).run(None, {"x": x})
    del model.graph.value_info[:]
    (wanted,) = ReferenceEvaluator(widened(model)).run(None, {"x": x.astype(np.float64)})
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4)
    assert nodes_last(model) == {"n0", "n1", "n2"}


@pytest.mark.parametrize("extent", [1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1])
def test_promises_of_huge_extents(extent: int) -> None:
    """What nothing can have is declared: preparation counts with it, without overflow."""
    chain = Chain(["N", 16, "H", "W"])
    value = chain.conv("x", 16, 16)
    y = chain.conv(chain.node("Add", [chain.conv(value, 16, 16), value]), 16, 16)
    for i, node in enumerate(chain.nodes[:-1]):
        declared = [extent if i != 1 else 1, 16, extent, extent if i != 2 else 1]
        chain.value_info.append(helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, declared))
    x = np.random.default_rng(3).standard_normal((1, 16, 9, 8)).astype(np.float32)
    model = chain.model(y)
    (found,) = session_of(model).run(None, {"x": x})
    del model.graph.value_info[:]
    (wanted,) = ReferenceEvaluator(widened(model)).run(None, {"x": x.astype(np.float64)})
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("declared", [None, [], [1], [16]])
@pytest.mark.parametrize("extents", [[], [1], [16], [16, 1], [16, 1, 1], [1, 16, 16, 16], [1, 1, 1, 1, 1]])
def test_promises_of_single_numbers(declared: list[int] | None, extents: list[int]) -> None:
    """What is declared to be one number and is a row, a column or an image: extents come from the input of a run."""
    chain = Chain([1, 3, 16, 16])
    value = chain.node("Reshape", ["t", "extents"])
    if declared is not None:
        chain.value_info.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, declared))
    y = chain.node("GlobalAveragePool", [chain.node("Add", [chain.conv("x", 3, 16), value])])
    model = chain.model(y)
    model.graph.input.append(helper.make_tensor_value_info("t", TensorProto.FLOAT, ["T"]))
    model.graph.input.append(helper.make_tensor_value_info("extents", TensorProto.INT64, ["R"]))
    random = np.random.default_rng(5)
    feeds = {
        "x": random.standard_normal((1, 3, 16, 16)).astype(np.float32),
        "t": random.standard_normal(int(np.prod(extents))).astype(np.float32),
        "extents": np.array(extents, np.int64),
    }
    plain = widened(model)
    del plain.graph.value_info[:]
    wide = {name: feed if feed.dtype == np.int64 else feed.astype(np.float64) for name, feed in feeds.items()}
    (wanted,) = ReferenceEvaluator(plain).run(None, wide)
    (found,) = session_of(model).run(None, feeds)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4)


def test_a_window_over_one_place() -> None:
    """As many outputs as inputs, but not the same: a convolution of single elements that pads and strides."""
    chain = Chain([1, 3, 2, 2])
    y = chain.conv("x", 3, 16, 1, pads=[2, 0, 0, 0], strides=[1, 2])
    z = chain.conv(chain.conv("x", 3, 16, 1), 16, 16, 1, pads=[2, 0, 0, 0], strides=[1, 2])
    check(chain.model(y, z), [1, 3, 2, 2])


def test_no_image() -> None:
    chain = Chain([0, 3, 6, 6])
    y = chain.conv(chain.conv(chain.conv("x", 3, 16), 16, 16, group=16), 16, 32)
    found = session_of(chain.model(y)).run(None, {"x": np.zeros((0, 3, 6, 6), np.float32)})[0]
    assert found.shape == (0, 32, 6, 6)


def test_without_fusing_channels_stay_second() -> None:
    chain = Chain([1, 3, 8, 8])
    model = chain.model(chain.conv(chain.conv("x", 3, 16), 16, 16))
    options = oh.SessionOptions()
    options.graph_optimization_level = oh.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = oh.InferenceSession(model.SerializeToString(), options)
    assert not any(LAST in node.reason for node in session.node_assignments())


@pytest.mark.parametrize("attributes", [{"dilations": [1 << 62] * 2}, {"pads": [1 << 62] * 4}, {"strides": [0, 1]}])
def test_windows_that_cannot_be(attributes: dict[str, Any]) -> None:
    chain = Chain([1, 3, 8, 8])
    y = chain.conv(chain.conv("x", 3, 16, **attributes), 16, 16)
    with pytest.raises(oh.OrtHostError, match=rf"'n0' \(Conv\).*attribute {next(iter(attributes))}: must be at least"):
        session_of(chain.model(y))
