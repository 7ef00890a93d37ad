/* SPDX-License-Identifier: Apache-2.0
 * The library of the demo: custom operator AddTwo (float in, float out, any shape) of domain onnx_light_ort.demo. */
#include <ort_abi/ort_c_api.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

enum { kMaxRank = 8 };

static const char* GetName(const OrtCustomOp* op) { return (void)op, "AddTwo"; }
static const char* GetExecutionProviderType(const OrtCustomOp* op) { return (void)op, NULL; }
static size_t One(const OrtCustomOp* op) { return (void)op, 1; }
static int OneOf(const OrtCustomOp* op) { return (void)op, 1; }
static ONNXTensorElementDataType Float(const OrtCustomOp* op, size_t i) {
  return (void)op, (void)i, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}
static OrtCustomOpInputOutputCharacteristic Required(const OrtCustomOp* op, size_t i) {
  return (void)op, (void)i, INPUT_OUTPUT_REQUIRED;
}
static OrtMemType DefaultMemory(const OrtCustomOp* op, size_t i) { return (void)op, (void)i, OrtMemTypeDefault; }

/* The kernel has no state of its own, so the table is what compute needs. */
static OrtStatus* CreateKernel(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
  (void)op, (void)info;
  *kernel = (void*)api;
  return NULL;
}
static void DestroyKernel(void* kernel) { (void)kernel; }

static OrtStatus* AddTwo(const OrtApi* api, OrtKernelContext* context, const OrtTensorTypeAndShapeInfo* info,
                         const OrtValue* x) {
  int64_t dims[kMaxRank];
  size_t rank = 0, count = 0;
  OrtValue* y = NULL;
  void *from = NULL, *to = NULL;
  OrtStatus* status = api->GetDimensionsCount(info, &rank);
  if (!status && rank > kMaxRank)
    return api->CreateStatus(ORT_INVALID_ARGUMENT, "AddTwo: expected at most 8 dimensions");
  if (!status) status = api->GetDimensions(info, dims, rank);
  if (!status) status = api->GetTensorShapeElementCount(info, &count);
  if (!status) status = api->KernelContext_GetOutput(context, 0, dims, rank, &y);
  if (!status) status = api->GetTensorMutableData((OrtValue*)x, &from);
  if (!status) status = api->GetTensorMutableData(y, &to);
  if (status) return status;
  for (size_t i = 0; i < count; ++i) ((float*)to)[i] = ((const float*)from)[i] + 2.0f;
  return NULL;
}

static OrtStatus* Compute(void* kernel, OrtKernelContext* context) {
  const OrtApi* api = kernel;
  const OrtValue* x = NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  OrtStatus* status = api->KernelContext_GetInput(context, 0, &x);
  if (!status) status = api->GetTensorTypeAndShape(x, &info);
  if (!status) status = AddTwo(api, context, info, x);
  if (info) api->ReleaseTensorTypeAndShapeInfo(info);
  return status;
}

static const OrtCustomOp kAddTwo = {
    .version = 16,
    .GetName = GetName,
    .GetExecutionProviderType = GetExecutionProviderType,
    .GetInputType = Float,
    .GetInputTypeCount = One,
    .GetOutputType = Float,
    .GetOutputTypeCount = One,
    .KernelDestroy = DestroyKernel,
    .GetInputCharacteristic = Required,
    .GetOutputCharacteristic = Required,
    .GetInputMemoryType = DefaultMemory,
    .GetVariadicInputMinArity = OneOf,
    .GetVariadicInputHomogeneity = OneOf,
    .GetVariadicOutputMinArity = OneOf,
    .GetVariadicOutputHomogeneity = OneOf,
    .CreateKernelV2 = CreateKernel,
    .KernelComputeV2 = Compute,
};

EXPORT OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  /* Kept for the life of the process: sessions use the domain as long as they live. */
  static OrtCustomOpDomain* domain = NULL;
  const OrtApi* api = base->GetApi(16);
  if (!api) return NULL;
  OrtStatus* status = NULL;
  if (!domain) {
    status = api->CreateCustomOpDomain("onnx_light_ort.demo", &domain);
    if (!status) status = api->CustomOpDomain_Add(domain, &kAddTwo);
  }
  return status ? status : api->AddCustomOpDomain(options, domain);
}
