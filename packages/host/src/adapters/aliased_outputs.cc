// SPDX-License-Identifier: Apache-2.0
#include "adapters/aliased_outputs.h"

#include <cstring>
#include <string>

#include "conversions/shape.h"
#include "light/error.h"

namespace ort_host {

using light::Tensor;

AliasedOutputs::AliasedOutputs(const KernelContent& content, light::RuntimeContext& context, GuardedTensors* guarded)
    : context_(context), guarded_(guarded) {
  for (const auto& [input, output] : content.aliases) {
    try {
      Open(input, output);
    } catch (const light::Error& error) {
      throw light::Error(error.code(), content.label + ": input " + std::to_string(input) + ": " + error.what());
    }
  }
}

void AliasedOutputs::Open(std::size_t input, std::size_t output) {
  const light::Value& value = context_.InputValue(input);
  if (!value.is_tensor()) return;
  const Tensor& source = value.tensor();
  const std::size_t bytes = source.byte_size();
  void* memory = const_cast<void*>(source.data());
  if (guarded_ != nullptr || !context_.TakesOver(output, input)) {
    memory = guarded_ != nullptr ? guarded_->Block(output, bytes) : context_.TemporaryBuffer(bytes);
    if (bytes > 0) std::memcpy(memory, source.data(), bytes);
  }
  Pair& pair = pairs_.emplace_back();
  pair.input = input;
  pair.output = output;
  pair.input_view = Tensor::Borrow(source.type(), source.dims(), memory);
}

Tensor* AliasedOutputs::Input(std::size_t i) noexcept {
  for (Pair& pair : pairs_) {
    if (pair.input == i) return &pair.input_view;
  }
  return nullptr;
}

Tensor* AliasedOutputs::Output(std::size_t i, std::span<const int64_t> dims) {
  for (Pair& pair : pairs_) {
    if (pair.output != i) continue;
    Tensor& target = context_.Output(i, dims);
    if (target.byte_size() != pair.input_view.byte_size()) {
      throw light::Error(light::ErrorCode::kFail, "shares the memory of input " + std::to_string(pair.input) +
                                                      " (GetAliasMap) and must have its " +
                                                      std::to_string(pair.input_view.byte_size()) + " bytes, got " +
                                                      std::to_string(target.byte_size()) + " for " +
                                                      conversions::FormatExtents(dims));
    }
    pair.output_view = Tensor::Borrow(target.type(), dims, pair.input_view.data());
    pair.target = &target;
    if (guarded_ != nullptr) guarded_->SetTarget(i, pair.output_view, target);
    return &pair.output_view;
  }
  return nullptr;
}

void AliasedOutputs::Publish() {
  if (guarded_ != nullptr) return;
  for (const Pair& pair : pairs_) {
    // The extents may have turned out other than planned, and the output has storage of its own then.
    if (pair.target != nullptr && pair.target->data() != pair.output_view.data()) {
      light::CopyElements(pair.output_view, *pair.target);
    }
  }
}

}  // namespace ort_host
