// SPDX-License-Identifier: Apache-2.0
#include "runtime_context.h"

#include <cstring>
#include <string>

#include <ort_abi/handle.h>

#include "copy_counts.h"
#include "light/error.h"
#include "ort_values.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

/// Never destroyed: kernels may run in static destructors of the application.
const light::Value& NoneValue() {
  static const light::Value* none = new light::Value();
  return *none;
}

}  // namespace

OrtRuntimeContext::OrtRuntimeContext(const CallSignature& signature, CallFrame& frame, OrtKernelContext* context)
    : signature_(signature), frame_(frame), context_(context), threads_(signature.api, context, signature.threads) {
  for (CallFrame::Output& output : frame_.outputs) output.where = CallFrame::Output::Where::kNowhere;
  for (std::size_t i = 0; i < frame_.inputs.size(); ++i) {
    if (signature_.has_input[i]) ReadInput(i);
  }
}

OrtRuntimeContext::~OrtRuntimeContext() {
  if (arena_ != nullptr) signature_.arenas->GiveBack(std::move(arena_));
}

void OrtRuntimeContext::ReadInput(std::size_t i) {
  const OrtApi& api = signature_.api;
  const OrtValue* value = nullptr;
  ThrowIfError(api, api.KernelContext_GetInput(context_, i, &value));
  if (value == nullptr) return frame_.inputs[i].Reset();
  light::Tensor& tensor = frame_.inputs[i].MakeTensor();
  View(api, value, tensor);
  if (tensor.type() == light::ElementType::kString) {
    tensor = ReadTensor(api, value).value();
    Count(g_copy_counts.inputs);
  } else if (!conversions::IsAlignedFor(tensor.type(), tensor.data())) [[unlikely]] {
    void* aligned = TemporaryBuffer(tensor.byte_size());
    std::memcpy(aligned, tensor.data(), tensor.byte_size());
    tensor.set_data(aligned);
    Count(g_copy_counts.inputs);
  }
}

const light::Value& OrtRuntimeContext::InputValue(std::size_t i) {
  return i < frame_.inputs.size() ? frame_.inputs[i] : NoneValue();
}

const light::Value& OrtRuntimeContext::CaptureValue(std::size_t i) {
  throw light::Error(light::ErrorCode::kFail,
                     "capture " + std::to_string(i) + ": a kernel in another host has no subgraphs");
}

OrtValue* OrtRuntimeContext::HostOutput(std::size_t i, std::span<const int64_t> dims) {
  const OrtApi& api = signature_.api;
  OrtValue* value = nullptr;
  ThrowIfError(api, api.KernelContext_GetOutput(context_, i, dims.data(), dims.size(), &value));
  if (value == nullptr) {
    throw light::Error(light::ErrorCode::kFail, "output " + std::to_string(i) + ": the host has no place for it");
  }
  return value;
}

light::Tensor& OrtRuntimeContext::OwnOutput(std::size_t i, std::span<const int64_t> dims) {
  light::Tensor& tensor = frame_.outputs[i].tensor;
  const light::ElementType type = signature_.outputs[i];
  if (type == light::ElementType::kString) return tensor = light::Tensor::Allocate(type, dims);
  tensor.set_data(TemporaryBuffer(tensor.Reshape(type, dims)));
  return tensor;
}

light::Tensor& OrtRuntimeContext::Output(std::size_t i, std::span<const int64_t> dims) {
  if (i >= frame_.outputs.size()) {
    throw light::Error(light::ErrorCode::kInvalidArgument, "output " + std::to_string(i) + ": the node has " +
                                                               std::to_string(signature_.output_count) + " outputs");
  }
  if (!OutputRequested(i)) return OwnOutput(i, dims);
  CallFrame::Output& output = frame_.outputs[i];
  const std::size_t bytes = output.tensor.Reshape(signature_.outputs[i], dims);
  output.value = HostOutput(i, dims);
  output.where = CallFrame::Output::Where::kOurs;
  if (signature_.outputs[i] == light::ElementType::kString) return OwnOutput(i, dims);
  void* data = nullptr;
  ThrowIfError(signature_.api, signature_.api.GetTensorMutableData(output.value, &data));
  if (bytes > 0 && !conversions::IsAlignedFor(signature_.outputs[i], data)) [[unlikely]]
    return OwnOutput(i, dims);
  output.where = CallFrame::Output::Where::kHost;
  output.tensor.set_data(data);
  return output.tensor;
}

void OrtRuntimeContext::SetOutputValue(std::size_t i, light::Value value) {
  if (!OutputRequested(i)) return;
  if (!value.is_tensor()) {
    throw light::Error(light::ErrorCode::kNotImplemented,
                       "output " + std::to_string(i) + ": only tensors can be handed to another host");
  }
  light::CopyElements(value.tensor(), Output(i, value.tensor().dims()));
  Count(g_copy_counts.outputs);
}

void OrtRuntimeContext::OutputView(std::size_t i, std::size_t input, std::span<const int64_t> dims) {
  const light::Tensor* from = Input(input);
  if (from == nullptr) return SetOutputValue(i, InputValue(input));
  if (!OutputRequested(i)) return;
  light::Tensor& to = Output(i, dims);
  if (to.data() == from->data()) return;  // the host shares the buffer, as it was told that it may
  light::CopyElements(*from, to);
  if (from->byte_size() > 0) Count(g_copy_counts.output_views);
}

void* OrtRuntimeContext::TemporaryBuffer(std::size_t bytes) {
  if (arena_ == nullptr) arena_ = signature_.arenas->Take();
  return arena_->Take(bytes);
}

void OrtRuntimeContext::Finish() {
  const OrtApi& api = signature_.api;
  for (std::size_t i = 0; i < signature_.output_count; ++i) {
    if (!signature_.has_output[i]) continue;
    CallFrame::Output& output = frame_.outputs[i];
    if (output.where == CallFrame::Output::Where::kHost) [[likely]]
      continue;
    if (output.where == CallFrame::Output::Where::kNowhere) {
      throw light::Error(light::ErrorCode::kFail, "output " + std::to_string(i) + ": the kernel did not make it");
    }
    if (output.tensor.byte_size() == 0) continue;
    Count(g_copy_counts.outputs);
    if (output.tensor.type() == light::ElementType::kString) {
      WriteStrings(api, output.tensor, output.value);
      continue;
    }
    void* data = nullptr;
    ThrowIfError(api, api.GetTensorMutableData(output.value, &data));
    std::memcpy(data, output.tensor.data(), output.tensor.byte_size());
  }
}

}  // namespace ort_plugin
