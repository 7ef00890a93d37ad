// SPDX-License-Identifier: Apache-2.0
#include "kernel_attributes.h"

#include <vector>

#include <ort_abi/handle.h>

#include "light/error.h"
#include "ort_values.h"

namespace ort_plugin {
namespace {

using light::Attribute;
using light::AttributeKind;
using ort_abi::ThrowIfError;

/// ORT says FAIL both for an attribute that is not there and for one number, text or tensor of another kind.
bool IsThere(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return true;
  if (api.GetErrorCode(status) != ORT_FAIL) ThrowIfError(api, status);
  api.ReleaseStatus(status);
  return false;
}

template <class T, class Read>
std::optional<std::vector<T>> ReadList(const OrtApi& api, Read&& read) {
  std::size_t size = 0;
  if (!IsThere(api, read(nullptr, &size))) return std::nullopt;
  std::vector<T> list(size);
  if (size > 0) ThrowIfError(api, read(list.data(), &size));
  return list;
}

std::optional<std::vector<std::string>> ReadTexts(const OrtApi& api, const OrtKernelInfo* info, const char* name) {
  std::size_t size = 0;
  if (!IsThere(api, api.KernelInfoGetAttributeArray_string(info, name, nullptr, nullptr, &size))) return std::nullopt;
  std::vector<std::string> texts;
  if (size == 0) return texts;
  OrtAllocator* allocator = nullptr;
  ThrowIfError(api, api.GetAllocatorWithDefaultOptions(&allocator));
  char** list = nullptr;
  ThrowIfError(api, api.KernelInfoGetAttributeArray_string(info, name, allocator, &list, &size));
  for (std::size_t i = 0; i < size; ++i) texts.emplace_back(list[i]);
  for (std::size_t i = 0; i < size; ++i) allocator->Free(allocator, list[i]);
  allocator->Free(allocator, list);
  return texts;
}

std::optional<std::string> ReadText(const OrtApi& api, const OrtKernelInfo* info, const char* name) {
  std::size_t size = 0;
  if (!IsThere(api, api.KernelInfoGetAttribute_string(info, name, nullptr, &size))) return std::nullopt;
  std::string text(size, '\0');
  ThrowIfError(api, api.KernelInfoGetAttribute_string(info, name, text.data(), &size));
  text.resize(size - 1);  // without the terminator
  return text;
}

std::optional<light::Tensor> ReadTensorAttribute(const OrtApi& api, const OrtKernelInfo* info, const char* name) {
  OrtAllocator* allocator = nullptr;
  ThrowIfError(api, api.GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* value = nullptr;
  if (!IsThere(api, api.KernelInfoGetAttribute_tensor(info, name, allocator, &value))) return std::nullopt;
  return TakeTensor(api, ort_abi::Own(api, value));
}

template <class T>
std::optional<Attribute> Made(const std::string& name, AttributeKind kind, std::optional<T> data) {
  if (!data.has_value()) return std::nullopt;
  return Attribute{name, kind, Attribute::Data(std::move(*data)), {}};
}

}  // namespace

std::optional<Attribute> ReadAttribute(const OrtApi& api, const OrtKernelInfo* info, const std::string& name,
                                       AttributeKind kind) {
  const char* const key = name.c_str();
  switch (kind) {
    case AttributeKind::kFloat: {
      float value = 0;
      if (!IsThere(api, api.KernelInfoGetAttribute_float(info, key, &value))) return std::nullopt;
      return Attribute{name, kind, value, {}};
    }
    case AttributeKind::kInt: {
      int64_t value = 0;
      if (!IsThere(api, api.KernelInfoGetAttribute_int64(info, key, &value))) return std::nullopt;
      return Attribute{name, kind, value, {}};
    }
    case AttributeKind::kString:
      return Made(name, kind, ReadText(api, info, key));
    case AttributeKind::kTensor:
      return Made(name, kind, ReadTensorAttribute(api, info, key));
    case AttributeKind::kFloats:
      return Made(name, kind, ReadList<float>(api, [&](float* out, std::size_t* size) {
                    return api.KernelInfoGetAttributeArray_float(info, key, out, size);
                  }));
    case AttributeKind::kInts:
      return Made(name, kind, ReadList<int64_t>(api, [&](int64_t* out, std::size_t* size) {
                    return api.KernelInfoGetAttributeArray_int64(info, key, out, size);
                  }));
    case AttributeKind::kStrings:
      return Made(name, kind, ReadTexts(api, info, key));
    default:
      throw light::Error(light::ErrorCode::kNotImplemented,
                         "attribute '" + name + "': no kernel here has one of kind " + light::ToString(kind));
  }
}

AttributeKind FindOtherKind(const OrtApi& api, const OrtKernelInfo* info, const std::string& name,
                            AttributeKind expected) {
  for (const AttributeKind kind :
       {AttributeKind::kFloat, AttributeKind::kInt, AttributeKind::kString, AttributeKind::kTensor,
        AttributeKind::kFloats, AttributeKind::kInts, AttributeKind::kStrings}) {
    if (kind == expected) continue;
    const std::optional<Attribute> found = ReadAttribute(api, info, name, kind);
    if (!found.has_value()) continue;
    const auto is_empty = [&]<class T>(std::type_identity<std::vector<T>>) {
      const auto* list = std::get_if<std::vector<T>>(&found->data);
      return list != nullptr && list->empty();
    };
    if (is_empty(std::type_identity<std::vector<float>>()) || is_empty(std::type_identity<std::vector<int64_t>>()) ||
        is_empty(std::type_identity<std::vector<std::string>>())) {
      continue;
    }
    return kind;
  }
  return AttributeKind::kUndefined;
}

}  // namespace ort_plugin
