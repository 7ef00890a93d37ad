# SPDX-License-Identifier: Apache-2.0
"""InferOutputShapeFn, its context, and the attributes it reads."""

import ctypes as C

import numpy as np
import onnx
import pytest
from contracts.harness import Arg, E, dims, text, write_output
from onnx import helper

T = onnx.TensorProto
FLOAT, OPTIONAL = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, E.INPUT_OUTPUT_OPTIONAL
INT64 = E.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
INFER = "OrtCustomOp.InferOutputShapeFn"
INPUT, COUNT = "OrtApi.ShapeInferContext_GetInputTypeShape", "OrtApi.ShapeInferContext_GetInputCount"
ATTRIBUTE, OUTPUT = "OrtApi.ShapeInferContext_GetAttribute", "OrtApi.ShapeInferContext_SetOutputTypeShape"
READ = "OrtApi.ReadOpAttr"
INTERFACE = "OrtApi.KernelInfo_GetInputTypeInfo"


def described(api, info):
    rank = api.get.GetDimensionsCount(info)
    extents, names = (C.c_int64 * rank)(), (C.c_void_p * rank)()
    api.ok.GetDimensions(info, extents, rank)
    api.ok.GetSymbolicDimensions(info, names, rank)
    element, has_shape = api.get.GetTensorElementType(info), api.TensorTypeAndShape_HasShape(info)
    return element, has_shape, list(extents), [text(n) for n in names]


@pytest.mark.slot(INFER)
def test_inference_runs_at_session_creation(probe):
    op = probe.op(infer=lambda api, context: None)
    probe.session(probe.one_node_model(op), op)
    assert op.calls["InferOutputShapeFn"] >= 1


@pytest.mark.slot(COUNT)
@pytest.mark.parametrize(("inputs", "count"), [(["a"], 1), (["a", ""], 2), (["a", "b"], 2)])
def test_input_count_is_what_the_node_writes(probe, inputs, count):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    body = lambda api, context: api.get.ShapeInferContext_GetInputCount(context)  # noqa: E731
    assert probe.during_infer(body, op, inputs=inputs) == count


@pytest.mark.slot(INPUT)
@pytest.mark.parametrize(
    ("shape", "extents", "names"),
    [
        ([], [], []),
        ([2, 0], [2, 0], ["", ""]),
        (["batch", 3], [-1, 3], ["batch", ""]),
        ([None, 3], [-1, 3], ["", ""]),
    ],
    ids=["scalar", "zero_extent", "named", "unnamed"],
)
def test_input_type_and_shape(probe, shape, extents, names):
    body = lambda api, context: described(api, api.get.ShapeInferContext_GetInputTypeShape(context, 0))  # noqa: E731
    found = probe.during_infer(body, input_types={"x0": (T.FLOAT, shape)})
    assert found == (FLOAT, True, extents, names)


@pytest.mark.slot(INPUT)
@pytest.mark.host_stricter
def test_unknown_rank_has_no_shape(probe):
    body = lambda api, context: described(api, api.get.ShapeInferContext_GetInputTypeShape(context, 0))  # noqa: E731
    assert probe.during_infer(body) == (FLOAT, False, [], [])


@pytest.mark.slot(INPUT)
def test_omitted_input_is_undefined_without_shape(probe):
    op = probe.op(inputs=[Arg(), Arg(FLOAT, OPTIONAL)])
    body = lambda api, context: described(api, api.get.ShapeInferContext_GetInputTypeShape(context, 1))  # noqa: E731
    assert probe.during_infer(body, op, inputs=["x0", ""]) == (0, False, [], [])


@pytest.mark.slot(INPUT, OUTPUT)
def test_index_past_the_count_is_an_error(probe):
    def body(api, context):
        info = api.get.ShapeInferContext_GetInputTypeShape(context, 0)
        return (
            api.code.ShapeInferContext_GetInputTypeShape(context, 1, C.byref(C.c_void_p())),
            api.code.ShapeInferContext_SetOutputTypeShape(context, 1, info),
        )

    assert probe.during_infer(body) == (E.ORT_RUNTIME_EXCEPTION, E.ORT_RUNTIME_EXCEPTION)


@pytest.mark.slot(OUTPUT)
def test_output_without_a_type_info_is_an_error(probe):
    body = lambda api, context: api.code.ShapeInferContext_SetOutputTypeShape(context, 0, None)  # noqa: E731
    assert probe.during_infer(body) == E.ORT_FAIL


def inferred(probe, fill, element=FLOAT):
    """Return what a second node sees as the type of a first node's output that ``fill(api, info)`` describes."""

    def infer(api, context):
        info = api.get.CreateTensorTypeAndShapeInfo()
        api.ok.SetTensorElementType(info, element)
        fill(api, info)
        api.ok.ShapeInferContext_SetOutputTypeShape(context, 0, info)
        api.ReleaseTensorTypeAndShapeInfo(info)

    seen = []

    def create(api, info):
        owned = api.get.KernelInfo_GetInputTypeInfo(info, 0)
        seen.append(described(api, api.get.CastTypeInfoToTensorInfo(owned)))
        api.ReleaseTypeInfo(owned)

    first = probe.op("First", outputs=[Arg(element)], infer=infer)
    second = probe.op("Second", inputs=[Arg(element)], create=create)
    model = probe.one_node_model(first, outputs=["t"])
    model.graph.node.append(helper.make_node("Second", ["t"], ["y0"], domain="probe"))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y0", T.FLOAT, None))
    probe.session(model, first, second)
    return seen[0]


@pytest.mark.slot(OUTPUT, INFER, INTERFACE)
@pytest.mark.parametrize("shape", [(2, 3), (0,), ()])
def test_inferred_shape_reaches_the_next_node(probe, shape):
    found = inferred(probe, lambda api, info: api.ok.SetDimensions(info, dims(*shape), len(shape)))
    assert found == (FLOAT, True, list(shape), [""] * len(shape))


@pytest.mark.slot(OUTPUT, "OrtApi.SetSymbolicDimensions")
def test_inferred_name_wins_over_the_extent(probe):
    def fill(api, info):
        api.ok.SetDimensions(info, dims(7, 3), 2)
        api.ok.SetSymbolicDimensions(info, (C.c_char_p * 2)(b"rows", None), 2)

    assert inferred(probe, fill) == (FLOAT, True, [-1, 3], ["rows", ""])


@pytest.mark.slot(OUTPUT)
def test_output_of_one_permitted_type_ends_with_that_type(probe):
    def fill(api, info):
        api.ok.SetTensorElementType(info, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE)
        api.ok.SetDimensions(info, dims(2), 1)

    assert inferred(probe, fill, INT64)[0] == INT64


@pytest.mark.slot(OUTPUT)
@pytest.mark.host_stricter
def test_output_without_shape_stays_unknown(probe):
    assert inferred(probe, lambda api, info: None) == (FLOAT, False, [], [])


@pytest.mark.slot(OUTPUT)
def test_unnamed_unknown_extent_stays_unknown(probe):
    found = inferred(probe, lambda api, info: api.ok.SetDimensions(info, dims(-1, 3), 2))
    assert found == (FLOAT, True, [-1, 3], ["", ""])


@pytest.mark.slot(INFER)
@pytest.mark.finds("inference_failed")
def test_failed_inference_is_no_error(probe):
    op = probe.op(infer=lambda api, context: probe.status(E.ORT_FAIL, b"rank unknown"))
    assert probe.run_op(op)[0].tolist() == [1, 1]


@pytest.mark.slot(INFER)
def test_inference_gives_an_undefined_output_its_type(probe):
    def infer(api, context):
        info = api.get.CreateTensorTypeAndShapeInfo()
        api.ok.SetTensorElementType(info, INT64)
        api.ok.SetDimensions(info, dims(2), 1)
        api.ok.ShapeInferContext_SetOutputTypeShape(context, 0, info)
        api.ReleaseTensorTypeAndShapeInfo(info)

    op = probe.op(
        outputs=[Arg(0)],
        infer=infer,
        compute=lambda api, context: write_output(api, context, 0, np.array([5, 6], np.int64)),
    )
    (found,) = probe.run_op(op, output_types={"y0": (T.INT64, None)})
    assert found.tolist() == [5, 6]


@pytest.mark.slot(ATTRIBUTE)
def test_missing_attribute_is_refused_and_null(probe):
    def body(api, context):
        out = C.c_void_p(0x1234)
        return api.code.ShapeInferContext_GetAttribute(context, b"none", C.byref(out)), out.value

    assert probe.during_infer(body) == (E.ORT_INVALID_ARGUMENT, None)


VALUES = {"i": 7, "f": 1.5, "s": "text", "is": [1, 2, 3], "fs": [0.5, 2.0], "ss": ["ab", "", "c"]}


def read(probe, name, kind, size):
    """Return code, needed size and content of one call with a buffer of ``size`` bytes, all 0xff before."""

    def body(api, context):
        attribute = api.get.ShapeInferContext_GetAttribute(context, name.encode())
        buffer, needed = C.create_string_buffer(b"\xff" * size, size), C.c_size_t(99)
        code = api.code.ReadOpAttr(attribute, kind, buffer if size else None, size, C.byref(needed))
        return code, needed.value, buffer.raw

    return probe.during_infer(body, attributes=VALUES)


CONTENT = {
    "i": (E.ORT_OP_ATTR_INT, np.int64(7).tobytes()),
    "f": (E.ORT_OP_ATTR_FLOAT, np.float32(1.5).tobytes()),
    "s": (E.ORT_OP_ATTR_STRING, b"text"),
    "is": (E.ORT_OP_ATTR_INTS, np.array([1, 2, 3], np.int64).tobytes()),
    "fs": (E.ORT_OP_ATTR_FLOATS, np.array([0.5, 2.0], np.float32).tobytes()),
    "ss": (E.ORT_OP_ATTR_STRINGS, b"ab\0\0c\0"),
}


@pytest.mark.slot(READ, ATTRIBUTE)
@pytest.mark.parametrize("name", CONTENT)
def test_attribute_fills_exactly_its_bytes(probe, name):
    kind, content = CONTENT[name]
    found = read(probe, name, kind, len(content) + 3)
    assert found == (E.ORT_OK, len(content), content + b"\xff" * 3)


@pytest.mark.slot(READ)
@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("size", [0, 3])
def test_small_buffer_is_told_the_bytes_needed(probe, name, size):
    kind, content = CONTENT[name]
    code, needed, buffer = read(probe, name, kind, size)
    assert code == E.ORT_INVALID_ARGUMENT
    assert needed == len(content)
    assert buffer == b"\xff" * size


@pytest.mark.slot(READ)
@pytest.mark.host_stricter
def test_integer_needs_its_8_bytes(probe):
    assert read(probe, "i", E.ORT_OP_ATTR_INT, 7) == (E.ORT_INVALID_ARGUMENT, 8, b"\xff" * 7)


@pytest.mark.slot(READ)
@pytest.mark.parametrize(("name", "kind", "size"), [("f", E.ORT_OP_ATTR_INT, 8), ("i", E.ORT_OP_ATTR_FLOAT, 4)])
def test_scalar_of_another_kind_is_refused(probe, name, kind, size):
    assert read(probe, name, kind, 16)[:2] == (E.ORT_INVALID_ARGUMENT, size)


@pytest.mark.slot(READ)
@pytest.mark.parametrize(
    "kind", [E.ORT_OP_ATTR_INTS, E.ORT_OP_ATTR_FLOATS, E.ORT_OP_ATTR_STRINGS, E.ORT_OP_ATTR_STRING]
)
def test_array_or_string_of_another_kind_reads_as_nothing(probe, kind):
    assert read(probe, "i", kind, 16) == (E.ORT_OK, 0, b"\xff" * 16)


@pytest.mark.slot(READ)
@pytest.mark.parametrize("kind", [E.ORT_OP_ATTR_UNDEFINED, E.ORT_OP_ATTR_TENSOR, E.ORT_OP_ATTR_GRAPH])
def test_kind_that_cannot_be_read_is_refused(probe, kind):
    assert read(probe, "i", kind, 16)[:2] == (E.ORT_INVALID_ARGUMENT, 0)


@pytest.mark.slot(READ)
def test_null_attribute_is_refused(api):
    buffer = C.create_string_buffer(16)
    assert api.code.ReadOpAttr(None, E.ORT_OP_ATTR_INT, buffer, 16, C.byref(C.c_size_t())) == E.ORT_INVALID_ARGUMENT
