// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "abi/sections.h"
#include "abi/string_blocks.h"
#include "adapters/kernel_info.h"

namespace ort_host::abi {
namespace {

using light::Attribute;

// --- Attributes of a node, read from its kernel info. Libraries take FAIL, and FAIL alone, for "use the default".

OrtStatus* Missing(Slot slot, const KernelContent& content, const char* name) {
  return slot.Fail(ORT_FAIL, "%s: attribute '%s' is missing", content.label.c_str(), name);
}

/// Neither the status of a scalar nor the empty array tells a library that it asked for the wrong kind.
void NoteOtherKind(const KernelContent& content, const Attribute& attribute, const char* slot, const char* expected) {
  if (!checked::enabled()) return;
  checked::Report("attribute_kind", slot,
                  content.label + ": attribute '" + attribute.name + "' is of kind " + ToString(attribute.kind) +
                      ", read as " + expected);
}

OrtStatus* OtherKind(Slot slot, const KernelContent& content, const Attribute& attribute, const char* expected) {
  NoteOtherKind(content, attribute, slot.name(), expected);
  return slot.Fail(ORT_FAIL, "%s: attribute '%s' must be of kind %s, got %s", content.label.c_str(),
                   attribute.name.c_str(), expected, ToString(attribute.kind));
}

/// The data of a scalar attribute, or null and a status in `failure`.
template <class T>
const T* Scalar(Slot slot, const OrtKernelInfo* info, const char* name, const char* expected, OrtStatus** failure) {
  const KernelContent& content = Borrow(info).content();
  const Attribute* attribute = content.FindAttribute(Require(name, "name"));
  if (attribute == nullptr) {
    *failure = Missing(slot, content, name);
    return nullptr;
  }
  const T* data = std::get_if<T>(&attribute->data);
  if (data == nullptr) *failure = OtherKind(slot, content, *attribute, expected);
  return data;
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_float(const OrtKernelInfo* info, const char* name, float* out) noexcept {
  return Guard("KernelInfoGetAttribute_float", [&](Slot slot) -> OrtStatus* {
    const auto destination = Out(out);
    OrtStatus* failure = nullptr;
    if (const float* data = Scalar<float>(slot, info, name, "float", &failure)) destination = *data;
    return failure;
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_int64(const OrtKernelInfo* info, const char* name,
                                                     int64_t* out) noexcept {
  return Guard("KernelInfoGetAttribute_int64", [&](Slot slot) -> OrtStatus* {
    const auto destination = Out(out);
    OrtStatus* failure = nullptr;
    if (const int64_t* data = Scalar<int64_t>(slot, info, name, "int", &failure)) destination = *data;
    return failure;
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_string(const OrtKernelInfo* info, const char* name, char* out,
                                                      size_t* size) noexcept {
  return Guard("KernelInfoGetAttribute_string", [&](Slot slot) -> OrtStatus* {
    Require(size, "size");
    OrtStatus* failure = nullptr;
    const auto* data = Scalar<std::string>(slot, info, name, "string", &failure);
    return data != nullptr ? CopyString(slot, *data, out, size) : failure;
  });
}

template <class T>
OrtStatus* Array(Slot slot, const OrtKernelInfo* info, const char* name, const char* expected, T* out, size_t* size) {
  Require(size, "size");
  const KernelContent& content = Borrow(info).content();
  const Attribute* attribute = content.FindAttribute(Require(name, "name"));
  if (attribute == nullptr) return Missing(slot, content, name);
  // Another kind reads as an empty array.
  const auto* data = std::get_if<std::vector<T>>(&attribute->data);
  if (data == nullptr) NoteOtherKind(content, *attribute, slot.name(), expected);
  return data != nullptr ? CopyArray(slot, data->data(), data->size(), out, size)
                         : CopyArray<T>(slot, nullptr, 0, out, size);
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_float(const OrtKernelInfo* info, const char* name, float* out,
                                                          size_t* size) noexcept {
  return Guard("KernelInfoGetAttributeArray_float",
               [&](Slot slot) { return Array<float>(slot, info, name, "floats", out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_int64(const OrtKernelInfo* info, const char* name, int64_t* out,
                                                          size_t* size) noexcept {
  return Guard("KernelInfoGetAttributeArray_int64",
               [&](Slot slot) { return Array<int64_t>(slot, info, name, "ints", out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_string(const OrtKernelInfo* info, const char* name,
                                                           OrtAllocator* allocator, char*** out,
                                                           size_t* size) noexcept {
  return Guard("KernelInfoGetAttributeArray_string", [&](Slot slot) -> OrtStatus* {
    Require(size, "size");
    const KernelContent& content = Borrow(info).content();
    const Attribute* attribute = content.FindAttribute(Require(name, "name"));
    if (attribute == nullptr) return Missing(slot, content, name);
    const auto* values = std::get_if<std::vector<std::string>>(&attribute->data);
    if (values == nullptr) NoteOtherKind(content, *attribute, slot.name(), "strings");
    const size_t count = values != nullptr ? values->size() : 0;
    if (out != nullptr && allocator == nullptr) return slot.Fail(ORT_FAIL, "allocator is null");
    if (out != nullptr) BorrowAllocator(allocator);
    *size = count;
    if (out == nullptr) return nullptr;
    *out = nullptr;
    if (count == 0) return nullptr;
    RequireCpuMemory(allocator);
    StringBlocks blocks(allocator, count);
    if (!blocks.Fill(*values)) {
      return slot.Fail(ORT_FAIL, "%s: attribute '%s': the allocator has no memory", content.label.c_str(), name);
    }
    *out = blocks.Keep();
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_tensor(const OrtKernelInfo* info, const char* name,
                                                      OrtAllocator* allocator, OrtValue** out) noexcept {
  return Guard("KernelInfoGetAttribute_tensor", [&](Slot slot) -> OrtStatus* {
    const auto destination = Out(out);
    BorrowAllocator(allocator);
    OrtStatus* failure = nullptr;
    const auto* tensor = Scalar<light::Tensor>(slot, info, name, "tensor", &failure);
    if (tensor == nullptr) return failure;
    try {
      destination = ValueAdapter::Copy(allocator, *tensor);
    } catch (const StatusError& error) {
      // Reading an attribute answers a lack of memory otherwise than making a tensor does.
      return slot.Fail(error.code() == ORT_FAIL ? ORT_INVALID_ARGUMENT : error.code(), "%s", error.what());
    }
    return nullptr;
  });
}

}  // namespace

void FillAttributes(OrtApi& table) noexcept {
  table.KernelInfoGetAttribute_float = KernelInfoGetAttribute_float;
  table.KernelInfoGetAttribute_int64 = KernelInfoGetAttribute_int64;
  table.KernelInfoGetAttribute_string = KernelInfoGetAttribute_string;
  table.KernelInfoGetAttribute_tensor = KernelInfoGetAttribute_tensor;
  table.KernelInfoGetAttributeArray_float = KernelInfoGetAttributeArray_float;
  table.KernelInfoGetAttributeArray_int64 = KernelInfoGetAttributeArray_int64;
  table.KernelInfoGetAttributeArray_string = KernelInfoGetAttributeArray_string;
}

}  // namespace ort_host::abi
