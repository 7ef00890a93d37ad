// SPDX-License-Identifier: Apache-2.0
#include "light/inference.h"

#include "infer/hooks.h"

namespace light {

int64_t InferenceContext::Int(std::string_view name, int64_t fallback) const {
  const Attribute* attribute = FindAttribute(name);
  const auto* value = attribute != nullptr ? std::get_if<int64_t>(&attribute->data) : nullptr;
  return value != nullptr ? *value : fallback;
}

std::vector<int64_t> InferenceContext::Ints(std::string_view name, std::vector<int64_t> fallback) const {
  const Attribute* attribute = FindAttribute(name);
  const auto* value = attribute != nullptr ? std::get_if<std::vector<int64_t>>(&attribute->data) : nullptr;
  return value != nullptr ? *value : std::move(fallback);
}

std::optional<std::vector<int64_t>> InferenceContext::ConstantInts(std::size_t i) const {
  const Tensor* tensor = ConstantInput(i);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->type() == ElementType::kInt64) {
    const auto values = tensor->Span<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  if (tensor->type() == ElementType::kInt32) {
    const auto values = tensor->Span<int32_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  return std::nullopt;
}

InferenceFn FindInferenceFn(std::string_view domain, std::string_view name, int since_version) {
  for (const std::span<const InferenceHook> hooks : AllInferenceHooks()) {
    for (const InferenceHook& hook : hooks) {
      if (hook.name == name && hook.domain == domain && since_version >= hook.since && since_version <= hook.until) {
        return hook.infer;
      }
    }
  }
  return {};
}

}  // namespace light
