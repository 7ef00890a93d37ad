// SPDX-License-Identifier: Apache-2.0
#include "light/kernel_info.h"

#include "kernels/epilogue.h"

namespace light {

const ValueType* KernelInfo::InputType(std::size_t i) const noexcept {
  return HasInput(i) ? &graph_.value(node_.inputs[i]).type : nullptr;
}

const ValueType* KernelInfo::OutputType(std::size_t i) const noexcept {
  return HasOutput(i) ? &graph_.value(node_.outputs[i]).type : nullptr;
}

ElementType KernelInfo::InputElement(std::size_t i) const noexcept {
  const ValueType* type = InputType(i);
  return type != nullptr ? type->element : ElementType::kUndefined;
}

ElementType KernelInfo::OutputElement(std::size_t i) const noexcept {
  const ValueType* type = OutputType(i);
  return type != nullptr ? type->element : ElementType::kUndefined;
}

const Tensor* KernelInfo::ConstantInput(std::size_t i) const noexcept {
  if (!HasInput(i)) return nullptr;
  const ValueId id = node_.inputs[i];
  if (folded_ != nullptr && (*folded_)[id] != nullptr) return &(*folded_)[id]->tensor();
  return graph_.value(id).constant();
}

const Epilogue& KernelInfo::epilogue() const noexcept {
  static constexpr Epilogue kNone;
  return epilogue_ != nullptr ? *epilogue_ : kNone;
}

Program& KernelInfo::Body(std::string_view attribute) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (node_.subgraphs[i].attribute == attribute) return *bodies_[i];
  }
  Fail(ErrorCode::kInvalidGraph, "attribute '" + std::string(attribute) + "': a graph is required, got none");
}

const Attribute* KernelInfo::FindAttribute(std::string_view name) const noexcept {
  if (const Attribute* written = node_.FindAttribute(name)) return written;
  if (node_.schema == nullptr) return nullptr;
  const AttributeSchema* schema = node_.schema->FindAttribute(name);
  return schema != nullptr && schema->has_default ? &schema->default_value : nullptr;
}

namespace {

template <class T>
const T* Get(const KernelInfo& info, std::string_view name) {
  const Attribute* attribute = info.FindAttribute(name);
  if (attribute == nullptr) return nullptr;
  const T* data = std::get_if<T>(&attribute->data);
  if (data == nullptr) {
    info.Fail(ErrorCode::kInvalidGraph,
              "attribute '" + std::string(name) + "': unexpected kind, got " + ToString(attribute->kind));
  }
  return data;
}

}  // namespace

int64_t KernelInfo::Int(std::string_view name, int64_t fallback) const {
  const auto* data = Get<int64_t>(*this, name);
  return data != nullptr ? *data : fallback;
}

float KernelInfo::Float(std::string_view name, float fallback) const {
  const auto* data = Get<float>(*this, name);
  return data != nullptr ? *data : fallback;
}

std::string KernelInfo::String(std::string_view name, std::string_view fallback) const {
  const auto* data = Get<std::string>(*this, name);
  return data != nullptr ? *data : std::string(fallback);
}

std::vector<int64_t> KernelInfo::Ints(std::string_view name, std::vector<int64_t> fallback) const {
  const auto* data = Get<std::vector<int64_t>>(*this, name);
  return data != nullptr ? *data : fallback;
}

std::vector<float> KernelInfo::Floats(std::string_view name, std::vector<float> fallback) const {
  const auto* data = Get<std::vector<float>>(*this, name);
  return data != nullptr ? *data : fallback;
}

std::vector<std::string> KernelInfo::Strings(std::string_view name) const {
  const auto* data = Get<std::vector<std::string>>(*this, name);
  return data != nullptr ? *data : std::vector<std::string>{};
}

const Tensor* KernelInfo::TensorAttribute(std::string_view name) const { return Get<Tensor>(*this, name); }

void KernelInfo::Fail(ErrorCode code, const std::string& message) const {
  throw Error(code, "node " + node_.Label() + ": " + message);
}

}  // namespace light
