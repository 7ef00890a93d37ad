# SPDX-License-Identifier: Apache-2.0
"""A null where a slot needs a pointer is an INVALID_ARGUMENT, one test for each such parameter."""

import ctypes as C

import pytest
from contracts.graph_models import branches
from contracts.harness import E, dims, look_at
from contracts.harness.abi import ctype_of, members, words

pytestmark = pytest.mark.host_stricter

# Parameters that may be null, or whose null has an answer of its own (tested beside the slot).
NULLABLE = {
    "CreateTensorWithDataAsOrtValue": {"shape", "p_data"},
    "CreateTensorAsOrtValue": {"shape"},
    "HasValue": {"value"},
    "SetDimensions": {"dim_values"},
    "SetSymbolicDimensions": {"dim_params"},
    "GetDimensions": {"dim_values"},
    "GetSymbolicDimensions": {"dim_params"},
    "AllocatorFree": {"p"},
    "KernelContext_GetOutput": {"dim_values"},
    "KernelContext_ParallelFor": {"context", "fn", "usr_data"},
    "KernelInfoGetAttribute_string": {"out"},
    "KernelInfoGetAttributeArray_float": {"out"},
    "KernelInfoGetAttributeArray_int64": {"out"},
    "KernelInfoGetAttributeArray_string": {"out", "allocator"},
    "KernelInfo_GetNodeName": {"out"},
    "KernelInfo_GetInputName": {"out"},
    "KernelInfo_GetOutputName": {"out"},
    "KernelInfo_GetOperatorDomain": {"out"},
    "KernelInfo_GetOperatorType": {"out"},
    "GetSessionConfigEntry": {"config_value"},
    "Logger_LogMessage": {"message", "file_path", "func_name"},
    "ShapeInferContext_SetOutputTypeShape": {"info"},
    "ReadOpAttr": {"data"},
    "Node_GetSubgraphs": {"attribute_names"},
    "ValueInfo_GetValueProducer": {"producer_output_index"},
}
ANYWHERE = words("""
    CreateTensorAsOrtValue CreateTensorWithDataAsOrtValue IsTensor HasValue GetTensorMutableData GetTensorData
    GetTensorTypeAndShape GetTensorMemoryInfo GetTensorSizeInBytes GetTensorElementTypeAndShapeDataReference
    GetTypeInfo GetValueType GetOnnxTypeFromTypeInfo CastTypeInfoToTensorInfo CreateTensorTypeAndShapeInfo
    SetTensorElementType SetDimensions SetSymbolicDimensions GetTensorElementType GetDimensionsCount GetDimensions
    GetSymbolicDimensions GetTensorShapeElementCount CreateMemoryInfo CreateCpuMemoryInfo CreateMemoryInfo_V2
    CompareMemoryInfo MemoryInfoGetName MemoryInfoGetId MemoryInfoGetMemType MemoryInfoGetType
    GetAllocatorWithDefaultOptions AllocatorAlloc AllocatorFree AllocatorGetInfo CreateCustomOpDomain
    CustomOpDomain_Add
""")
REGISTERING = words("""
    AddSessionConfigEntry HasSessionConfigEntry GetSessionConfigEntry GetSessionOptionsConfigEntries AddCustomOpDomain
""")
CREATING = words("""
    CopyKernelInfo KernelInfo_GetInputCount KernelInfo_GetOutputCount KernelInfo_GetInputName KernelInfo_GetOutputName
    KernelInfo_GetInputTypeInfo KernelInfo_GetOutputTypeInfo KernelInfo_GetNodeName KernelInfo_GetLogger
    KernelInfo_GetConfigEntries KernelInfo_GetOperatorDomain KernelInfo_GetOperatorType
    KernelInfo_GetOperatorSinceVersion KernelInfoGetConstantInput_tensor KernelInfoGetAllocator
    KernelInfoGetAttribute_float KernelInfoGetAttribute_int64 KernelInfoGetAttribute_string
    KernelInfoGetAttribute_tensor KernelInfoGetAttributeArray_float KernelInfoGetAttributeArray_int64
    KernelInfoGetAttributeArray_string Logger_LogMessage Logger_GetLoggingSeverityLevel
""")
COMPUTING = words("""
    KernelContext_GetInputCount KernelContext_GetOutputCount KernelContext_GetInput KernelContext_GetOutput
    KernelContext_GetAllocator KernelContext_GetScratchBuffer KernelContext_ParallelFor KernelContext_GetLogger
    KernelContext_GetGPUComputeStream
""")
INFERRING = words("""
    ShapeInferContext_GetInputCount ShapeInferContext_GetInputTypeShape ShapeInferContext_GetAttribute
    ShapeInferContext_SetOutputTypeShape ReadOpAttr
""")
LOOKING = words("""
    Graph_GetName Graph_GetModelPath Graph_GetOnnxIRVersion Graph_GetNumOperatorSets Graph_GetOperatorSets
    Graph_GetNumInputs Graph_GetInputs Graph_GetNumOutputs Graph_GetOutputs Graph_GetNumInitializers
    Graph_GetInitializers Graph_GetNumNodes Graph_GetNodes Graph_GetParentNode Graph_GetGraphView
    Graph_GetModelMetadata
    Node_GetId Node_GetName Node_GetOperatorType Node_GetDomain Node_GetSinceVersion Node_GetEpName Node_GetGraph
    Node_GetNumInputs Node_GetInputs Node_GetNumOutputs Node_GetOutputs Node_GetNumImplicitInputs
    Node_GetImplicitInputs Node_GetNumAttributes Node_GetAttributes Node_GetAttributeByName Node_GetNumSubgraphs
    Node_GetSubgraphs OpAttr_GetType OpAttr_GetName OpAttr_GetTensorAttributeAsOrtValue
    GetValueInfoName GetValueInfoTypeInfo ValueInfo_GetValueProducer ValueInfo_GetValueNumConsumers
    ValueInfo_GetValueConsumers ValueInfo_GetInitializerValue ValueInfo_GetExternalInitializerInfo
    ValueInfo_IsRequiredGraphInput ValueInfo_IsOptionalGraphInput ValueInfo_IsGraphOutput
    ValueInfo_IsConstantInitializer ValueInfo_IsFromOuterScope
    ModelMetadataGetProducerName ModelMetadataGetGraphName ModelMetadataGetDomain ModelMetadataGetDescription
    ModelMetadataGetGraphDescription ModelMetadataGetVersion ModelMetadataLookupCustomMetadataMap
    ModelMetadataGetCustomMetadataMapKeys
""")


def cases(slots):
    """Return one case for each pointer parameter that a slot requires."""
    return [
        pytest.param(slot, p["name"], marks=pytest.mark.slot(f"OrtApi.{slot}"), id=f"{slot}-{p['name']}")
        for slot in slots
        for p in members("OrtApi")[slot]["params"]
        if ctype_of(p["type"]) is C.c_void_p and p["name"] not in NULLABLE.get(slot, ())
    ]


@pytest.fixture
def samples(api):
    """Return one usable argument per parameter type; out-parameters share a writable block."""
    info = api.get.CreateCpuMemoryInfo(E.OrtDeviceAllocator, E.OrtMemTypeDefault)
    allocator = api.get.GetAllocatorWithDefaultOptions()
    value = api.get.CreateTensorAsOrtValue(allocator, dims(2), 1, E.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
    type_info, shape = api.get.GetTypeInfo(value), api.get.GetTensorTypeAndShape(value)
    domain = api.get.CreateCustomOpDomain(b"probe.unused")
    yield {
        "OrtMemoryInfo": info,
        "OrtAllocator": allocator,
        "OrtValue": value,
        "OrtTypeInfo": type_info,
        "OrtTensorTypeAndShapeInfo": shape,
        "OrtCustomOpDomain": domain,
        "char": C.create_string_buffer(b"f", 4096),
        "": C.create_string_buffer(4096),
    }
    api.ReleaseCustomOpDomain(domain)
    api.ReleaseTensorTypeAndShapeInfo(shape)
    api.ReleaseTypeInfo(type_info)
    api.ReleaseValue(value)
    api.ReleaseMemoryInfo(info)


def answer(api, samples, slot, missing, number=0):
    """Return the code of a call whose arguments are usable but for one null pointer; every number is the same."""
    args = []
    for p in members("OrtApi")[slot]["params"]:
        if ctype_of(p["type"]) is not C.c_void_p:
            args.append(number)
        elif p["name"] == missing:
            args.append(None)
        else:
            words = p["type"].replace("const", "").split("*")
            handle = words[0].strip() if len(words) == 2 else ""
            args.append(samples.get(handle, samples[""]))
    return getattr(api.code, slot)(*args)


@pytest.mark.parametrize(("slot", "param"), cases(ANYWHERE))
def test_null_anywhere(api, samples, slot, param):
    assert answer(api, samples, slot, param) == E.ORT_INVALID_ARGUMENT


@pytest.mark.parametrize(("slot", "param"), cases(REGISTERING))
def test_null_while_registering(probe, api, samples, slot, param):
    def body(options):
        return answer(api, samples | {"OrtSessionOptions": options}, slot, param)

    assert probe.during_register(body) == E.ORT_INVALID_ARGUMENT


@pytest.mark.parametrize(("slot", "param"), cases(CREATING))
def test_null_while_creating(probe, samples, slot, param):
    def body(api, info):
        logger = api.get.KernelInfo_GetLogger(info)
        return answer(api, samples | {"OrtKernelInfo": info, "OrtLogger": logger}, slot, param)

    assert probe.during_create(body) == E.ORT_INVALID_ARGUMENT


@pytest.mark.parametrize(("slot", "param"), cases(COMPUTING))
def test_null_while_computing(probe, samples, slot, param):
    body = lambda api, context: answer(api, samples | {"OrtKernelContext": context}, slot, param)  # noqa: E731
    assert probe.during_compute(body) == E.ORT_INVALID_ARGUMENT


@pytest.mark.parametrize(("slot", "param"), cases(INFERRING))
def test_null_while_inferring(probe, samples, slot, param):
    def body(api, context):
        attribute = api.get.ShapeInferContext_GetAttribute(context, b"i")
        return answer(api, samples | {"OrtShapeInferContext": context, "OrtOpAttr": attribute}, slot, param)

    assert probe.during_infer(body, attributes={"i": 7}) == E.ORT_INVALID_ARGUMENT


@pytest.mark.parametrize(("slot", "param"), cases(LOOKING))
def test_null_while_looking_at_a_graph(probe, samples, slot, param):
    def look(reader, graph):
        node = reader.nodes(graph)["if"]
        (attribute, *_) = reader.attributes(node).values()
        metadata = reader.api.get.Graph_GetModelMetadata(graph)
        handles = {"OrtGraph": graph, "OrtNode": node, "OrtValueInfo": reader.values(graph)["x"]}
        handles |= {"OrtOpAttr": attribute, "OrtModelMetadata": metadata}
        code = answer(reader.api, samples | handles, slot, param, number=64)
        reader.api.ReleaseModelMetadata(metadata)
        return code

    assert look_at(probe, branches(), look) == E.ORT_INVALID_ARGUMENT
