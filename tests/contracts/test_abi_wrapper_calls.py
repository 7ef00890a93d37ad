# SPDX-License-Identifier: Apache-2.0
"""Slots that C++ wrappers of the interface call on their way, although little comes of them on a CPU."""

import ctypes as C

import pytest
from contracts.harness import E, dims, text

PREALLOCATED = "OrtApi.KernelContext_GetPreallocatedOutput"
RESOURCE, STREAM = "OrtApi.KernelContext_GetResource", "OrtApi.KernelContext_GetSyncStream"
SENTINEL = 0x1234


@pytest.mark.slot(STREAM)
@pytest.mark.limit(STREAM)
def test_there_is_no_sync_stream_on_a_cpu(probe):
    assert probe.during_compute(lambda api, context: api.get.KernelContext_GetSyncStream(context)) is None


@pytest.mark.slot(RESOURCE)
def test_a_cpu_has_no_resources(probe):
    def body(api, context):
        return api.code.KernelContext_GetResource(context, 1, 0, C.byref(C.c_void_p()))

    assert probe.during_compute(body) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(PREALLOCATED)
def test_output_that_nobody_bound_is_null(probe):
    assert probe.during_compute(lambda api, context: api.get.KernelContext_GetPreallocatedOutput(context, 0)) is None


@pytest.mark.slot(PREALLOCATED)
def test_bound_output_past_the_count_is_refused(probe):
    def body(api, context):
        out = C.c_void_p(SENTINEL)
        return api.code.KernelContext_GetPreallocatedOutput(context, 1, C.byref(out)), out.value

    assert probe.during_compute(body) == (E.ORT_INVALID_ARGUMENT, SENTINEL)


@pytest.mark.slot(PREALLOCATED)
def test_bound_output_without_a_context_is_refused(api):
    out = C.c_void_p()
    assert api.code.KernelContext_GetPreallocatedOutput(None, 0, C.byref(out)) == E.ORT_INVALID_ARGUMENT


@pytest.mark.slot(
    "OrtApi.CastTypeInfoToMapTypeInfo",
    "OrtApi.CastTypeInfoToSequenceTypeInfo",
    "OrtApi.CastTypeInfoToOptionalTypeInfo",
)
@pytest.mark.parametrize("kind", ["Map", "Sequence", "Optional"])
def test_tensor_type_is_no_other_kind_of_type(api, kind):
    allocator = api.get.GetAllocatorWithDefaultOptions()
    value = api.get.CreateTensorAsOrtValue(allocator, dims(2), 1, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    info = api.get.GetTypeInfo(value)
    found = getattr(api.get, f"CastTypeInfoTo{kind}TypeInfo")(info)
    api.ReleaseTypeInfo(info)
    api.ReleaseValue(value)
    assert found is None


@pytest.mark.slot("OrtApi.OpAttr_GetType", "OrtApi.OpAttr_GetName")
@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("i", 7, E.ORT_OP_ATTR_INT),
        ("f", 1.5, E.ORT_OP_ATTR_FLOAT),
        ("s", "text", E.ORT_OP_ATTR_STRING),
        ("is", [1, 2], E.ORT_OP_ATTR_INTS),
        ("fs", [0.5, 2.0], E.ORT_OP_ATTR_FLOATS),
        ("ss", ["a", "b"], E.ORT_OP_ATTR_STRINGS),
    ],
)
def test_attribute_tells_its_name_and_kind(probe, name, value, kind):
    def body(api, context):
        attribute = api.get.ShapeInferContext_GetAttribute(context, name.encode())
        return text(api.get.OpAttr_GetName(attribute)), api.get.OpAttr_GetType(attribute)

    assert probe.during_infer(body, attributes={name: value}) == (name, kind)


@pytest.mark.slot("OrtApi.GetDimensions", "OrtApi.GetSymbolicDimensions")
@pytest.mark.parametrize("slot", ["GetDimensions", "GetSymbolicDimensions"])
def test_no_room_needs_no_buffer(api, slot):
    info = api.get.CreateTensorTypeAndShapeInfo()
    api.ok.SetDimensions(info, None, 0)
    code = getattr(api.code, slot)(info, None, 0)
    api.ReleaseTensorTypeAndShapeInfo(info)
    assert code == E.ORT_OK
