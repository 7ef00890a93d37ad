# SPDX-License-Identifier: Apache-2.0
"""Strings in kernels and attributes, and what their text costs."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import Arg, E, dims
from contracts.harness.strings import calls, fill, read_strings, texts, write_strings

STRING = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING
SENTINEL = 0x1234
FILL, FILL_ONE = "OrtApi.FillStringTensor", "OrtApi.FillStringTensorElement"
RESIZE = "OrtApi.GetResizedStringTensorElementBuffer"
CONTENT = "OrtApi.GetStringTensorContent"


def string_op(probe, compute):
    return probe.op("Texts", [Arg(STRING)], [Arg(STRING)], compute=compute)


def run(probe, op, feed, options=None):
    """Run one node on strings of any shape, and return its output."""
    any_shape = (E.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, None)
    model = probe.one_node_model(op, input_types={"x0": any_shape}, output_types={"y0": any_shape})
    (result,) = probe.run(probe.session(model, op, options=options), {"x0": feed})
    return result


@pytest.mark.slot(CONTENT, FILL, "OrtApi.KernelContext_GetInput", "OrtApi.KernelContext_GetOutput")
def test_strings_go_through_a_kernel(probe):
    def compute(api, context):
        given = read_strings(api, api.get.KernelContext_GetInput(context, 0))
        write_strings(api, context, 0, (len(given), 1), [text[::-1] for text in given])

    feed = np.array(["abc", "", "w" * 50], object)
    got = run(probe, string_op(probe, compute), feed)
    assert got.dtype == object
    assert got.tolist() == [["cba"], [""], ["w" * 50]]


@pytest.mark.slot("OrtApi.KernelContext_GetOutput", RESIZE)
def test_an_output_starts_empty_in_each_run(probe):
    seen = []

    def compute(api, context):
        output = api.get.KernelContext_GetOutput(context, 0, dims(2), 1)
        seen.append(read_strings(api, output))
        fill(api, output, [b"text of this run, longer than a short string", b"s"])

    op = string_op(probe, compute)
    any_shape = (STRING, None)
    model = probe.one_node_model(op, input_types={"x0": any_shape}, output_types={"y0": any_shape})
    inner = model.graph.node.add()  # the first output is read by a second node: it stays in the session
    inner.CopyFrom(model.graph.node[0])
    inner.name, inner.input[0], inner.output[0] = "node1", "y0", "z0"
    model.graph.output[0].name = "z0"
    session = probe.session(model, op)
    for _ in range(3):
        probe.run(session, {"x0": np.array(["x"], object)})
    assert seen == [[b"", b""]] * 6


@pytest.mark.slot(FILL, FILL_ONE, RESIZE)
@pytest.mark.host_stricter
@pytest.mark.parametrize("constant", [False, True])
def test_inputs_and_constants_are_read_only(probe, constant):
    codes = {}

    def create(api, info):
        if constant:
            is_constant, value = C.c_int(), C.c_void_p()
            api.ok.KernelInfoGetConstantInput_tensor(info, 0, C.byref(is_constant), C.byref(value))
            codes.update(calls(api, value.value, C.c_size_t(), C.c_void_p()))

    def compute(api, context):
        if not constant:
            codes.update(calls(api, api.get.KernelContext_GetInput(context, 0), C.c_size_t(), C.c_void_p()))
        write_strings(api, context, 0, (1,), [b"done"])

    op = probe.op("Texts", [Arg(STRING)], [Arg(STRING)], create=create, compute=compute)
    feed, types = np.array(["fed"], object), {"x0": (STRING, None)}
    fixed = {"x0": feed} if constant else {}
    model = probe.one_node_model(op, input_types=types, output_types={"y0": (STRING, None)}, initializers=fixed)
    assert probe.run(probe.session(model, op), {} if constant else {"x0": feed})[0].tolist() == ["done"]
    refused = dict.fromkeys((FILL, FILL_ONE, RESIZE), E.ORT_INVALID_ARGUMENT)
    assert {slot: codes[slot] for slot in refused} == refused
    assert {codes[slot] for slot in codes.keys() - refused} == {E.ORT_OK}
    assert feed.tolist() == ["fed"]


def read_attribute(api, info, allocator):
    """Return the strings of a tensor attribute, and overwrite the copy."""
    value = api.get.KernelInfoGetAttribute_tensor(info, b"words", allocator)
    got = read_strings(api, value)
    api.ok.FillStringTensorElement(value, b"overwritten", 0)
    api.ReleaseValue(value)
    return got


@pytest.mark.slot("OrtApi.KernelInfoGetAttribute_tensor", CONTENT, FILL_ONE)
def test_strings_of_a_tensor_attribute_are_a_copy(probe):
    def body(api, info):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        return [read_attribute(api, info, allocator) for _ in range(2)]

    words = onnx.helper.make_tensor("", onnx.TensorProto.STRING, [3], [b"", b"short", b"l" * 100])
    first, second = probe.during_create(body, attributes={"words": words})
    assert first == second == [b"", b"short", b"l" * 100]


TEXT = 1000
ELEMENT = 32  # bytes of an element, which holds short texts itself


@pytest.mark.slot(FILL, FILL_ONE, RESIZE)
@pytest.mark.host_stricter
@pytest.mark.parametrize("slot", ["FillStringTensor", "FillStringTensorElement", "GetResizedStringTensorElementBuffer"])
@pytest.mark.parametrize("spare", [0, -1])
def test_text_is_charged_to_the_limit_of_the_session(probe, slot, spare):
    def compute(api, context):
        output = api.get.KernelContext_GetOutput(context, 0, dims(1), 1)
        arguments = {
            "FillStringTensor": (texts([b"t" * TEXT]), 1),
            "FillStringTensorElement": (b"t" * TEXT, 0),
            "GetResizedStringTensorElementBuffer": (0, TEXT, C.byref(C.c_void_p())),
        }
        return getattr(api, slot)(output, *arguments[slot])

    options = probe.ort.SessionOptions()
    options.memory_limit_bytes = ELEMENT + TEXT + spare
    op, feed = string_op(probe, compute), np.array(["x"], object)
    if spare == 0:
        assert len(run(probe, op, feed, options)[0]) == TEXT
    else:
        with pytest.raises(probe.exception("Fail"), match=rf"Texts.*needs {TEXT} bytes.*limit of {ELEMENT + TEXT - 1}"):
            run(probe, op, feed, options)


@pytest.mark.slot("OrtApi.KernelInfoGetAttribute_tensor")
@pytest.mark.host_stricter
@pytest.mark.parametrize(("spare", "code"), [(0, E.ORT_OK), (-1, E.ORT_INVALID_ARGUMENT)])
def test_text_of_a_tensor_attribute_is_charged(probe, spare, code):
    def body(api, info):
        out = C.c_void_p(SENTINEL)
        allocator = api.get.GetAllocatorWithDefaultOptions()
        got = api.code.KernelInfoGetAttribute_tensor(info, b"words", allocator, C.byref(out))
        if got == E.ORT_OK:
            api.ReleaseValue(out)
        else:
            assert out.value == SENTINEL
        return got

    options = probe.ort.SessionOptions()
    options.memory_limit_bytes = ELEMENT + TEXT + spare
    codes = []
    op = probe.op("Texts", create=lambda api, info: codes.append(body(api, info)))
    words = onnx.helper.make_tensor("", onnx.TensorProto.STRING, [1], [b"t" * TEXT])
    probe.session(probe.one_node_model(op, attributes={"words": words}), op, options=options)
    assert codes == [code]


@pytest.mark.slot(FILL_ONE)
@pytest.mark.host_stricter
def test_text_that_is_gone_is_charged_no_more(probe):
    def compute(api, context):
        allocator = api.get.GetAllocatorWithDefaultOptions()
        for _ in range(5):  # each fits, two together do not
            value = api.get.CreateTensorAsOrtValue(allocator, dims(1), 1, STRING)
            api.ok.FillStringTensorElement(value, b"t" * TEXT, 0)
            api.ok.FillStringTensorElement(value, b"u" * TEXT, 0)
            api.ReleaseValue(value)
        write_strings(api, context, 0, (1,), [b"t" * TEXT])

    options = probe.ort.SessionOptions()
    options.memory_limit_bytes = 2 * ELEMENT + TEXT
    op = string_op(probe, compute)
    model = probe.one_node_model(op, input_types={"x0": (STRING, None)}, output_types={"y0": (STRING, None)})
    session = probe.session(model, op, options=options)
    for _ in range(5):
        (got,) = probe.run(session, {"x0": np.array(["x"], object)})
        assert got.tolist() == ["t" * TEXT]
