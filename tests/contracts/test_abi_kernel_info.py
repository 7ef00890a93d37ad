# SPDX-License-Identifier: Apache-2.0
"""What a kernel under construction can ask about its node."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import Arg, E, copy_first_input, read_tensor, text

OPTIONAL = E.INPUT_OUTPUT_OPTIONAL
FLOAT, INT64 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
COUNTS = "OrtApi.KernelInfo_GetInputCount", "OrtApi.KernelInfo_GetOutputCount"
NAMES = "OrtApi.KernelInfo_GetInputName", "OrtApi.KernelInfo_GetOutputName"
TYPES = "OrtApi.KernelInfo_GetInputTypeInfo", "OrtApi.KernelInfo_GetOutputTypeInfo"
CONSTANT = "OrtApi.KernelInfoGetConstantInput_tensor"


def string(api, slot, *args):
    """Return a string by the two calls a library makes."""
    size = C.c_size_t()
    getattr(api.ok, slot)(*args, None, C.byref(size))
    buffer = C.create_string_buffer(b"\xff" * size.value, size.value)
    getattr(api.ok, slot)(*args, buffer, C.byref(size))
    assert buffer.raw[-1] == 0
    assert size.value == len(buffer)
    return buffer.raw[:-1].decode()


def strings(slot, *args):
    return lambda api, info: string(api, slot, info, *args)


@pytest.mark.slot("OrtApi.KernelInfo_GetNodeName")
@pytest.mark.parametrize("name", ["scale_3", ""])
def test_node_name(probe, name):
    assert probe.during_create(strings("KernelInfo_GetNodeName"), node_name=name) == name


@pytest.mark.slot("OrtApi.KernelInfo_GetOperatorType", "OrtApi.KernelInfo_GetOperatorDomain")
def test_operator_type_and_domain(probe):
    op = probe.op("Swish", domain="com.example")
    assert probe.during_create(strings("KernelInfo_GetOperatorType"), op) == "Swish"
    op = probe.op("Swish", domain="com.example")
    assert probe.during_create(strings("KernelInfo_GetOperatorDomain"), op) == "com.example"


@pytest.mark.slot("OrtApi.KernelInfo_GetOperatorDomain")
def test_onnx_domain_is_the_empty_string(probe):
    assert probe.during_create(strings("KernelInfo_GetOperatorDomain"), probe.op("ProbeOfOnnxDomain", domain="")) == ""


@pytest.mark.slot("OrtApi.KernelInfo_GetOperatorSinceVersion")
@pytest.mark.parametrize(("start", "imported", "since"), [(None, 7, 1), (3, 5, 3)])
def test_since_version_is_the_operators_not_the_models(probe, start, imported, since):
    op = probe.op(start=start)
    body = lambda api, info: api.get.KernelInfo_GetOperatorSinceVersion(info)  # noqa: E731
    assert probe.during_create(body, op, opset=imported) == since


@pytest.mark.slot("OrtApi.KernelInfo_GetOperatorSinceVersion")
def test_since_version_needs_an_out_pointer(probe):
    code = probe.during_create(lambda api, info: api.code.KernelInfo_GetOperatorSinceVersion(info, None))
    assert code == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(*COUNTS)
@pytest.mark.parametrize(
    ("inputs", "count"), [(["a"], 1), (["a", ""], 2), (["a", "b"], 2)], ids=["omitted", "empty_name", "given"]
)
def test_counts_are_the_arguments_written_on_the_node(probe, inputs, count):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)], outputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    body = lambda api, info: (  # noqa: E731
        api.get.KernelInfo_GetInputCount(info),
        api.get.KernelInfo_GetOutputCount(info),
    )
    assert probe.during_create(body, op, inputs=inputs, outputs=["y"]) == (count, 1)


@pytest.mark.slot(*NAMES)
def test_argument_names(probe):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)])

    def body(api, info):
        return (
            string(api, "KernelInfo_GetInputName", info, 0),
            string(api, "KernelInfo_GetInputName", info, 1),
            string(api, "KernelInfo_GetOutputName", info, 0),
        )

    assert probe.during_create(body, op, inputs=["left", ""], outputs=["sum"]) == ("left", "", "sum")


@pytest.mark.slot(*NAMES)
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_name_past_the_count_is_refused_and_size_kept(probe, io):
    def body(api, info):
        size = C.c_size_t(42)
        return getattr(api.code, f"KernelInfo_Get{io}Name")(info, 1, None, C.byref(size)), size.value

    assert probe.during_create(body) == (E.ORT_INVALID_ARGUMENT, 42)


TWO_CALL = {
    "KernelInfo_GetNodeName": (),
    "KernelInfo_GetInputName": (0,),
    "KernelInfo_GetOutputName": (0,),
    "KernelInfo_GetOperatorDomain": (),
    "KernelInfo_GetOperatorType": (),
}
TWO_CALL_SLOTS = pytest.mark.slot(*(f"OrtApi.{slot}" for slot in TWO_CALL))


@TWO_CALL_SLOTS
@pytest.mark.parametrize("slot", TWO_CALL)
def test_size_query_ignores_the_size_it_is_given(probe, slot):
    def body(api, info):
        small, large = C.c_size_t(0), C.c_size_t(1000)
        getattr(api.ok, slot)(info, *TWO_CALL[slot], None, C.byref(small))
        getattr(api.ok, slot)(info, *TWO_CALL[slot], None, C.byref(large))
        return small.value, large.value

    small, large = probe.during_create(body)
    assert small == large > 1


@TWO_CALL_SLOTS
@pytest.mark.parametrize("slot", TWO_CALL)
def test_small_buffer_is_told_the_size_and_left_alone(probe, slot):
    def body(api, info):
        needed, size = C.c_size_t(), C.c_size_t(1)
        getattr(api.ok, slot)(info, *TWO_CALL[slot], None, C.byref(needed))
        buffer = C.create_string_buffer(b"?", 1)
        code = getattr(api.code, slot)(info, *TWO_CALL[slot], buffer, C.byref(size))
        return code, buffer.raw, size.value == needed.value

    assert probe.during_create(body) == (E.ORT_INVALID_ARGUMENT, b"?", True)


@TWO_CALL_SLOTS
@pytest.mark.parametrize("slot", TWO_CALL)
def test_large_buffer_is_told_the_size(probe, slot):
    def body(api, info):
        needed, size = C.c_size_t(), C.c_size_t(50)
        getattr(api.ok, slot)(info, *TWO_CALL[slot], None, C.byref(needed))
        buffer = C.create_string_buffer(b"?" * 50, 50)
        getattr(api.ok, slot)(info, *TWO_CALL[slot], buffer, C.byref(size))
        return size.value == needed.value, buffer.raw[needed.value - 1 :]

    same, rest = probe.during_create(body)
    assert same
    assert rest == b"\0" + b"?" * (len(rest) - 1)


@TWO_CALL_SLOTS
@pytest.mark.parametrize("slot", TWO_CALL)
def test_string_needs_a_size_pointer(probe, slot):
    body = lambda api, info: getattr(api.code, slot)(info, *TWO_CALL[slot], None, None)  # noqa: E731
    assert probe.during_create(body) == E.ORT_INVALID_ARGUMENT


def described(api, owned):
    """Return element type, has-shape, extents and names of an owned type info, and release it."""
    info = api.get.CastTypeInfoToTensorInfo(owned)
    rank = api.get.GetDimensionsCount(info)
    extents, names = (C.c_int64 * rank)(), (C.c_void_p * rank)()
    api.ok.GetDimensions(info, extents, rank)
    api.ok.GetSymbolicDimensions(info, names, rank)
    result = (
        api.get.GetTensorElementType(info),
        api.TensorTypeAndShape_HasShape(info),
        list(extents),
        [text(n) for n in names],
    )
    api.ReleaseTypeInfo(owned)
    return result


@pytest.mark.slot(*TYPES)
@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (None, (False, [], [])),
        ([], (True, [], [])),
        ([2, 0], (True, [2, 0], ["", ""])),
        (["batch", 3], (True, [-1, 3], ["batch", ""])),
        ([None, 3], (True, [-1, 3], ["", ""])),
    ],
    ids=["unknown_rank", "scalar", "zero_extent", "named", "unnamed"],
)
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_type_info_is_what_the_graph_knows(probe, io, shape, expected):
    body = lambda api, info: described(api, getattr(api.get, f"KernelInfo_Get{io}TypeInfo")(info, 0))  # noqa: E731
    types = {"x0": (onnx.TensorProto.FLOAT, shape), "y0": (onnx.TensorProto.FLOAT, shape)}
    assert probe.during_create(body, input_types=types, output_types=types) == (FLOAT, *expected)


@pytest.mark.slot(*TYPES)
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_type_info_of_an_omitted_argument_is_refused(probe, io):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)], outputs=[Arg(FLOAT, OPTIONAL), Arg()])
    index = {"Input": 1, "Output": 0}[io]

    def body(api, info):
        out = C.c_void_p(0x1234)
        return getattr(api.code, f"KernelInfo_Get{io}TypeInfo")(info, index, C.byref(out)), out.value

    assert probe.during_create(body, op, inputs=["x0", ""], outputs=["", "y1"]) == (E.ORT_INVALID_GRAPH, 0x1234)


@pytest.mark.slot(*TYPES)
@pytest.mark.parametrize("io", ["Input", "Output"])
def test_type_info_past_the_count_is_refused(probe, io):
    def body(api, info):
        out = C.c_void_p(0x1234)
        return getattr(api.code, f"KernelInfo_Get{io}TypeInfo")(info, 1, C.byref(out)), out.value

    assert probe.during_create(body) == (E.ORT_INVALID_ARGUMENT, 0x1234)


def constant(api, info, index):
    is_constant, value = C.c_int(-1), C.c_void_p(0x1234)
    api.ok.KernelInfoGetConstantInput_tensor(info, index, C.byref(is_constant), C.byref(value))
    return is_constant.value, value.value


@pytest.mark.slot(CONSTANT)
def test_initializer_is_a_constant_input(probe):
    weights = np.arange(4, dtype=np.float32)
    op = probe.op(inputs=[Arg(), Arg()])

    def body(api, info):
        is_constant, value = constant(api, info, 1)
        return is_constant, read_tensor(api, value).copy()

    is_constant, found = probe.during_create(body, op, inputs=["x0", "w"], initializers={"w": weights})
    assert is_constant == 1
    np.testing.assert_array_equal(found, weights)


@pytest.mark.slot(CONSTANT)
def test_constant_input_and_run_time_input_share_their_data(probe):
    seen = {}
    op = probe.op(
        inputs=[Arg(), Arg()],
        create=lambda api, info: seen.update(create=api.get.GetTensorData(constant(api, info, 1)[1])),
        compute=lambda api, context: (
            seen.update(run=api.get.GetTensorData(api.get.KernelContext_GetInput(context, 1))),
            copy_first_input(api, context),
        )[-1],
    )
    model = probe.one_node_model(op, ["x0", "w"], initializers={"w": np.ones(4, np.float32)})
    probe.run(probe.session(model, op), {"x0": np.ones(2, np.float32)})
    assert seen["create"] == seen["run"]


@pytest.mark.slot(CONSTANT)
@pytest.mark.parametrize("index", [0, 1, 7], ids=["runtime_input", "omitted", "past_the_count"])
def test_anything_else_is_not_constant_and_out_is_left_alone(probe, index):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    body = lambda api, info: constant(api, info, index)  # noqa: E731
    assert probe.during_create(body, op, inputs=["x0", ""]) == (0, 0x1234)


@pytest.mark.slot(CONSTANT)
def test_overridable_initializer_is_not_constant(probe):
    op = probe.op(inputs=[Arg(), Arg()])
    op.set("CreateKernelV2", lambda o, table, info, kernel: seen.append(constant(probe.api, info, 1)))
    seen = []
    model = probe.one_node_model(op, ["x0", "w"], initializers={"w": np.ones(4, np.float32)})
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [4]))
    probe.session(model, op)
    assert seen == [(0, 0x1234)]


@pytest.mark.slot("OrtApi.CopyKernelInfo", "OrtApi.ReleaseKernelInfo")
def test_copy_is_usable_at_run_time(probe):
    kept, names = [], []

    def compute(api, context):
        names.append(string(api, "KernelInfo_GetNodeName", kept[0]))
        copy_first_input(api, context)

    op = probe.op(create=lambda api, info: kept.append(api.get.CopyKernelInfo(info)), compute=compute)
    session = probe.session(probe.one_node_model(op, node_name="kept"), op)
    for _ in range(2):
        probe.run(session, {"x0": np.ones(2, np.float32)})
    probe.api.ReleaseKernelInfo(kept[0])
    assert names == ["kept", "kept"]


@pytest.mark.slot("OrtApi.KernelInfo_GetLogger")
def test_logger_is_borrowed(probe):
    body = lambda api, info: (api.get.KernelInfo_GetLogger(info), api.get.KernelInfo_GetLogger(info))  # noqa: E731
    first, second = probe.during_create(body)
    assert first
    assert first == second


@pytest.mark.slot("OrtApi.KernelInfo_GetConfigEntries", "OrtApi.GetKeyValue", "OrtApi.ReleaseKeyValuePairs")
def test_config_entries_are_the_sessions(probe):
    options = probe.ort.SessionOptions()
    options.add_session_config_entry("probe.first", "one")
    options.add_session_config_entry("probe.second", "")
    seen = {}

    def create(api, info):
        pairs = api.get.KernelInfo_GetConfigEntries(info)
        for key in (b"probe.first", b"probe.second", b"probe.third"):
            seen[key] = text(api.GetKeyValue(pairs, key))
        api.ReleaseKeyValuePairs(pairs)

    op = probe.op(create=create)
    probe.session(probe.one_node_model(op), op, options=options)
    assert seen == {b"probe.first": "one", b"probe.second": "", b"probe.third": None}


@pytest.mark.slot("OrtApi.KernelInfo_GetInputTypeInfo")
def test_type_info_tells_the_element_type(probe):
    op = probe.op(inputs=[Arg(INT64)], outputs=[Arg(INT64)])
    types = {"x0": (onnx.TensorProto.INT64, [2]), "y0": (onnx.TensorProto.INT64, [2])}
    body = lambda api, info: described(api, api.get.KernelInfo_GetInputTypeInfo(info, 0))[0]  # noqa: E731
    assert probe.during_create(body, op, input_types=types, output_types=types) == INT64
