// SPDX-License-Identifier: Apache-2.0
#include "copy_counts_op.h"

#include <algorithm>
#include <climits>
#include <iterator>

#include <ort_abi/handle.h>

#include "api.h"
#include "copy_counts.h"
#include "status.h"

namespace ort_plugin {
namespace {

void Compute(const OrtApi& api, OrtKernelContext* context) {
  const int64_t counts[] = {g_copy_counts.inputs.load(), g_copy_counts.outputs.load(),
                            g_copy_counts.output_views.load()};
  const int64_t extent = std::size(counts);
  OrtValue* output = nullptr;
  ort_abi::ThrowIfError(api, api.KernelContext_GetOutput(context, 0, &extent, 1, &output));
  void* data = nullptr;
  ort_abi::ThrowIfError(api, api.GetTensorMutableData(output, &data));
  std::copy(std::begin(counts), std::end(counts), static_cast<int64_t*>(data));
}

OrtCustomOp Describe() {
  OrtCustomOp op{};
  op.version = kOldestApi;
  op.GetName = [](const OrtCustomOp*) { return "CopyCounts"; };
  op.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  op.GetInputTypeCount = [](const OrtCustomOp*) { return std::size_t{0}; };
  op.GetInputType = [](const OrtCustomOp*, std::size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED; };
  op.GetInputCharacteristic = [](const OrtCustomOp*, std::size_t) { return INPUT_OUTPUT_REQUIRED; };
  op.GetInputMemoryType = [](const OrtCustomOp*, std::size_t) { return OrtMemTypeDefault; };
  op.GetOutputTypeCount = [](const OrtCustomOp*) { return std::size_t{1}; };
  op.GetOutputType = [](const OrtCustomOp*, std::size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64; };
  op.GetOutputCharacteristic = [](const OrtCustomOp*, std::size_t) { return INPUT_OUTPUT_REQUIRED; };
  op.GetVariadicInputMinArity = [](const OrtCustomOp*) { return 0; };
  op.GetVariadicInputHomogeneity = [](const OrtCustomOp*) { return 1; };
  op.GetVariadicOutputMinArity = [](const OrtCustomOp*) { return 0; };
  op.GetVariadicOutputHomogeneity = [](const OrtCustomOp*) { return 1; };
  op.GetStartVersion = [](const OrtCustomOp*) { return 1; };
  op.GetEndVersion = [](const OrtCustomOp*) { return INT_MAX; };
  op.CreateKernelV2 = [](const OrtCustomOp*, const OrtApi* api, const OrtKernelInfo*, void** kernel) -> OrtStatus* {
    *kernel = const_cast<OrtApi*>(api);
    return nullptr;
  };
  op.KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
    const OrtApi& api = *static_cast<const OrtApi*>(kernel);
    return Guard(api, "onnx_light.CopyCounts", [&] { Compute(api, context); });
  };
  op.KernelDestroy = [](void*) {};
  return op;
}

}  // namespace

const OrtCustomOp* CopyCountsOp() {
  static const auto* op = new OrtCustomOp(Describe());
  return op;
}

}  // namespace ort_plugin
