# SPDX-License-Identifier: Apache-2.0
"""Outputs that must share an input's memory (GetAliasMap)."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import Arg, E, Pairs, SlotError, dims, read_tensor, run_in_child
from onnx import helper

ALIAS = "GetAliasMap", "ReleaseAliasMap"
pytestmark = [pytest.mark.slot("OrtCustomOp.GetAliasMap"), pytest.mark.host_stricter]
ONE = np.array([1, 2], np.float32)
FLOAT, INT32 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32
DOUBLE, STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING


class Doubler:
    """An op that doubles its input in place and counts on the output being the same memory."""

    def __init__(self, probe, extents=None, output_first=False, **op):
        self.shared, self.extents, self.output_first = [], extents, output_first
        self.op = probe.op(compute=self.compute, **op)
        self.pairs = Pairs(self.op, *ALIAS, [0], [0])

    def compute(self, api, context):
        if self.output_first:
            api.get.KernelContext_GetOutput(context, 0, dims(*self.extents), len(self.extents))
        value = api.get.KernelContext_GetInput(context, 0)
        read_tensor(api, value)[...] *= 2
        shape = self.extents or read_tensor(api, value).shape
        output = api.get.KernelContext_GetOutput(context, 0, dims(*shape), len(shape))
        addresses = [api.get.GetTensorMutableData(v) for v in (value, output)]
        self.shared.append(addresses[0] == addresses[1])


@pytest.mark.parametrize("output_first", [False, True])
@pytest.mark.parametrize("extents", [(2,), (1, 2), (2, 1, 1)])
def test_feed_is_doubled_in_a_copy(probe, extents, output_first):
    doubler = Doubler(probe, extents, output_first)
    x = ONE.copy()
    (y,) = probe.run_op(doubler.op, [x])
    assert y.shape == extents
    assert y.ravel().tolist() == [2, 4]
    assert x.tolist() == [1, 2]
    assert doubler.shared == [True]


def test_initializer_is_doubled_in_a_copy_each_time(probe):
    doubler = Doubler(probe)
    model = probe.one_node_model(doubler.op, inputs=["w"], initializers={"w": ONE})
    session = probe.session(model, doubler.op)
    assert [probe.run(session, {})[0].tolist() for _ in range(3)] == [[2, 4]] * 3
    assert doubler.shared == [True] * 3


def chain(probe, doubler, nodes, outputs, shape=(2,)):
    """Return a session of a graph of doubling and ONNX's nodes."""
    typed = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)  # noqa: E731
    graph = helper.make_graph(
        [helper.make_node(*node, domain=doubler.op.domain if node[0] == doubler.op.name else "") for node in nodes],
        "chain",
        [typed("x")],
        [typed(name) for name in outputs],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(doubler.op.domain, 1)]
    return probe.session(helper.make_model(graph, opset_imports=imports, ir_version=8), doubler.op)


def test_other_readers_of_the_value_see_it_unchanged(probe):
    doubler = Doubler(probe)
    nodes = [("Neg", ["x"], ["a"]), ("Probe", ["a"], ["b"]), ("Add", ["a", "b"], ["y"])]
    session = chain(probe, doubler, nodes, ["y"])
    assert probe.run(session, {"x": ONE})[0].tolist() == [-3, -6]
    assert doubler.shared == [True]


def test_chain_of_doublings_ends_in_the_right_value(probe):
    doubler = Doubler(probe)
    nodes = [("Neg", ["x"], ["a"]), ("Probe", ["a"], ["b"]), ("Probe", ["b"], ["c"]), ("Neg", ["c"], ["y"])]
    session = chain(probe, doubler, nodes, ["y"])
    assert [probe.run(session, {"x": ONE})[0].tolist() for _ in range(3)] == [[4, 8]] * 3
    assert doubler.shared == [True] * 6


@pytest.mark.parametrize("shape", [(), (0, 3)])
def test_scalar_and_empty_tensor_are_shared_too(probe, shape):
    doubler = Doubler(probe)
    x = np.full(shape, 3, np.float32)
    np.testing.assert_array_equal(probe.run_op(doubler.op, [x])[0], x * 2)
    assert doubler.shared == [True]


@pytest.mark.finds("output_missing")
def test_output_of_another_size_is_an_error_of_the_call(probe):
    doubler = Doubler(probe, (3,))
    with pytest.raises(SlotError, match=r"node0.*input 0 \(GetAliasMap\).*8 bytes, got 12") as raised:
        probe.run_op(doubler.op, [ONE])
    assert raised.value.code == E.ORT_FAIL


def test_elements_of_one_size_may_be_of_two_types(probe):
    doubler = Doubler(probe, outputs=[Arg(INT32)])
    types = {"y0": (onnx.TensorProto.INT32, None)}
    (y,) = probe.run_op(doubler.op, [ONE], output_types=types)
    np.testing.assert_array_equal(y, (ONE * 2).view(np.int32))


@pytest.mark.parametrize(
    ("element", "rule"), [(DOUBLE, "differ in size, float and double"), (STRING, "only tensors of numbers")]
)
def test_elements_that_cannot_share_memory_are_refused_before_the_first_run(probe, element, rule):
    doubler = Doubler(probe, outputs=[Arg(element)])
    types = {"y0": ({DOUBLE: onnx.TensorProto.DOUBLE, STRING: onnx.TensorProto.STRING}[element], None)}
    with pytest.raises(probe.exception("InvalidGraph"), match=f"GetAliasMap: output 0.*input 0.*{rule}"):
        probe.session(probe.one_node_model(doubler.op, output_types=types), doubler.op)


@pytest.mark.parametrize(("inputs", "outputs"), [([0, 0], [0, 1]), ([0, 1], [0, 0])])
def test_memory_is_shared_by_one_input_and_one_output(probe, inputs, outputs):
    op = probe.op(inputs=[Arg(), Arg()], outputs=[Arg(), Arg()])
    pairs = Pairs(op, *ALIAS, inputs, outputs)
    with pytest.raises(probe.exception("InvalidGraph"), match="GetAliasMap: output"):
        probe.session(probe.one_node_model(op, inputs=["a", "b"]), op)
    assert pairs.balanced()


def test_output_that_the_node_leaves_out_shares_nothing(probe):
    op = probe.op(
        inputs=[Arg()],
        outputs=[Arg(FLOAT, E.INPUT_OUTPUT_OPTIONAL), Arg()],
        compute=lambda api, context: write(api, context, read_tensor(api, api.get.KernelContext_GetInput(context, 0))),
    )
    Pairs(op, *ALIAS, [0], [0])
    assert probe.run_op(op, [ONE], outputs=["", "y1"])[0].tolist() == [1, 2]


def write(api, context, array):
    value = api.get.KernelContext_GetOutput(context, 1, dims(*array.shape), array.ndim)
    C.memmove(api.get.GetTensorMutableData(value), array.ctypes.data, array.nbytes)


def test_kernel_that_works_in_place_for_an_output_that_is_left_out_writes_a_copy(probe):
    def compute(api, context):
        array = read_tensor(api, api.get.KernelContext_GetInput(context, 0))
        array[...] *= 2
        write(api, context, array)

    op = probe.op(inputs=[Arg()], outputs=[Arg(FLOAT, E.INPUT_OUTPUT_OPTIONAL), Arg()], compute=compute)
    Pairs(op, *ALIAS, [0], [0])
    x = ONE.copy()
    assert probe.run_op(op, [x], outputs=["", "y1"])[0].tolist() == [2, 4]
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("inputs_outputs", [([0, 0], [0, 1]), ([0, 0], [1, 0])], ids=["there_first", "omitted_first"])
def test_output_that_is_left_out_leaves_the_memory_to_the_other_one(probe, inputs_outputs):
    doubler = Doubler(probe, outputs=[Arg(), Arg(FLOAT, E.INPUT_OUTPUT_OPTIONAL)])
    pairs = Pairs(doubler.op, *ALIAS, *inputs_outputs)
    x = ONE.copy()
    assert probe.run_op(doubler.op, [x], outputs=["y0"])[0].tolist() == [2, 4]
    assert x.tolist() == [1, 2]
    assert doubler.shared == [True]
    assert pairs.balanced()


def test_pair_that_is_listed_twice_is_one_pair(probe):
    doubler = Doubler(probe)
    Pairs(doubler.op, *ALIAS, [0, 0], [0, 0])
    assert probe.run_op(doubler.op, [ONE])[0].tolist() == [2, 4]
    assert doubler.shared == [True]


def test_text_is_shared_with_no_output_that_is_left_out(probe):
    seen = []

    def compute(api, context):
        value = api.get.KernelContext_GetInput(context, 0)
        length = api.get.GetStringTensorDataLength(value)
        text, offsets = C.create_string_buffer(length), (C.c_size_t * 1)()
        api.ok.GetStringTensorContent(value, text, length, offsets, 1)
        seen.append(text.raw)
        write(api, context, ONE)

    op = probe.op(inputs=[Arg(STRING)], outputs=[Arg(FLOAT, E.INPUT_OUTPUT_OPTIONAL), Arg()], compute=compute)
    Pairs(op, *ALIAS, [0], [0])
    types = {"x0": (onnx.TensorProto.STRING, None)}
    probe.run_op(op, [np.array(["text"], object)], outputs=["", "y1"], input_types=types)
    assert seen == [b"text"]


def copy_over_the_limit(probe):
    doubler = Doubler(probe)
    options = probe.ort.SessionOptions()
    options.memory_limit_bytes = 1 << 20
    probe.register(doubler.op, options=options)
    session = probe.session(probe.one_node_model(doubler.op), options=options)
    with pytest.raises(probe.exception("Fail"), match=r"node0.*probe\.so: input 0: .*limit of 1048576") as raised:
        session.run(None, {"x0": np.zeros(1 << 19, np.float32)})
    assert str(raised.value).count("node0") == 1
    assert doubler.shared == []


def test_copy_over_the_memory_limit_names_node_input_and_library(module_name):
    """In a normal run: checked mode copies into memory of its own."""
    ended = run_in_child(module_name, copy_over_the_limit, ONNX_LIGHT_ORT_CHECKED="0")
    assert ended.returncode == 0, ended.stderr


def test_failing_kernel_leaves_the_feed_alone(probe):
    def compute(api, context):
        read_tensor(api, api.get.KernelContext_GetInput(context, 0))[...] = 99
        return probe.status()

    op = probe.op(compute=compute)
    Pairs(op, *ALIAS, [0], [0])
    x = ONE.copy()
    with pytest.raises(probe.exception("Fail"), match="refused by the probe"):
        probe.run_op(op, [x])
    assert x.tolist() == [1, 2]
