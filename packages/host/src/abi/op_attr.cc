// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "abi/sections.h"
#include "adapters/allocator.h"
#include "adapters/op_attr.h"
#include "adapters/value.h"

namespace ort_host::abi {
namespace {

using light::Attribute;
using light::AttributeKind;

/// `len` elements at `data`; a negative count means none.
template <class T>
std::span<const T> Elements(const void* data, int len) {
  const auto count = static_cast<size_t>(len > 0 ? len : 0);
  return {static_cast<const T*>(count > 0 ? Require(data, "data") : data), count};
}

template <class T>
void SetList(Attribute& attribute, AttributeKind kind, std::span<const T> elements) {
  attribute.kind = kind;
  attribute.data = std::vector<T>(elements.begin(), elements.end());
}

OrtStatus* ORT_API_CALL CreateOpAttr(const char* name, const void* data, int len, OrtOpAttrType type,
                                     OrtOpAttr** op_attr) noexcept {
  return Guard("CreateOpAttr", [&](Slot slot) -> OrtStatus* {
    const auto destination = Out(op_attr, "op_attr");
    if (name == nullptr) return slot.Fail(ORT_RUNTIME_EXCEPTION, "name is null");
    Attribute attribute;
    attribute.name = name;
    switch (type) {
      case ORT_OP_ATTR_INT:
        attribute.kind = AttributeKind::kInt;
        attribute.data = *static_cast<const int64_t*>(Require(data, "data"));
        break;
      case ORT_OP_ATTR_FLOAT:
        attribute.kind = AttributeKind::kFloat;
        attribute.data = *static_cast<const float*>(Require(data, "data"));
        break;
      case ORT_OP_ATTR_INTS:
        SetList(attribute, AttributeKind::kInts, Elements<int64_t>(data, len));
        break;
      case ORT_OP_ATTR_FLOATS:
        SetList(attribute, AttributeKind::kFloats, Elements<float>(data, len));
        break;
      case ORT_OP_ATTR_STRING: {
        if (len < 0) return slot.Fail(ORT_RUNTIME_EXCEPTION, "len: a string has no negative length, got %d", len);
        const auto bytes = Elements<char>(data, len);
        attribute.kind = AttributeKind::kString;
        attribute.data = std::string(bytes.data(), bytes.size());
        break;
      }
      case ORT_OP_ATTR_STRINGS: {
        std::vector<std::string> strings;
        for (const char* text : Elements<const char*>(data, len)) strings.emplace_back(Require(text, "data"));
        attribute.kind = AttributeKind::kStrings;
        attribute.data = std::move(strings);
        break;
      }
      default:
        destination = static_cast<OrtOpAttr*>(nullptr);
        return slot.Fail(ORT_FAIL, "type: an attribute is made of numbers or strings, got %d", static_cast<int>(type));
    }
    destination = std::make_unique<OpAttrAdapter>(std::move(attribute), OpAttrAdapter::Owner::kLibrary);
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL OpAttr_GetType(const OrtOpAttr* attribute, OrtOpAttrType* type) noexcept {
  return Guard("OpAttr_GetType", [&](Slot slot) -> OrtStatus* {
    const OpAttrAdapter& adapter = Borrow(attribute);
    const auto destination = Out(type, "type");
    if (adapter.type() == ORT_OP_ATTR_UNDEFINED && adapter.attribute().kind != AttributeKind::kUndefined) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "attribute: there is no number for the kind of '%s', got %s",
                       adapter.attribute().name.c_str(), ToString(adapter.attribute().kind));
    }
    destination = adapter.type();
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL OpAttr_GetName(const OrtOpAttr* attribute, const char** name) noexcept {
  return Guard("OpAttr_GetName", [&] { Out(name, "name") = Borrow(attribute).attribute().name.c_str(); });
}

OrtStatus* ORT_API_CALL OpAttr_GetTensorAttributeAsOrtValue(const OrtOpAttr* attribute,
                                                            OrtValue** attr_tensor) noexcept {
  return Guard("OpAttr_GetTensorAttributeAsOrtValue", [&](Slot slot) -> OrtStatus* {
    const Attribute& content = Borrow(attribute).attribute();
    const auto destination = Out(attr_tensor, "attr_tensor");
    const auto* tensor = std::get_if<light::Tensor>(&content.data);
    if (tensor == nullptr) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "attribute: '%s' must be of kind tensor, got %s", content.name.c_str(),
                       ToString(content.kind));
    }
    destination = ValueAdapter::Copy(&HostAllocator::Default(), *tensor);
    return nullptr;
  });
}

// --- Reading an attribute: `out` is the size in bytes, always written, also when the buffer is too small.

OrtStatus* CopyBytes(Slot slot, const void* bytes, size_t needed, void* data, size_t len, size_t* out) {
  *out = needed;
  if (len < needed) return slot.Fail(ORT_INVALID_ARGUMENT, "len: %zu bytes are needed, got %zu", needed, len);
  if (needed > 0) std::memcpy(Require(data, "data"), bytes, needed);
  return nullptr;
}

template <class T>
OrtStatus* ReadScalar(Slot slot, const light::Attribute& attribute, void* data, size_t len, size_t* out) {
  const T* value = std::get_if<T>(&attribute.data);
  if (value != nullptr) return CopyBytes(slot, value, sizeof(T), data, len, out);
  *out = sizeof(T);
  return slot.Fail(ORT_INVALID_ARGUMENT, "type: attribute '%s' has another kind, got %s", attribute.name.c_str(),
                   ToString(attribute.kind));
}

/// Another kind reads as nothing.
template <class Container>
OrtStatus* ReadSpan(Slot slot, const light::Attribute& attribute, void* data, size_t len, size_t* out) {
  static const Container& kEmpty = *new Container;
  const auto* stored = std::get_if<Container>(&attribute.data);
  const Container& values = stored != nullptr ? *stored : kEmpty;
  return CopyBytes(slot, values.data(), values.size() * sizeof(typename Container::value_type), data, len, out);
}

OrtStatus* ReadStrings(Slot slot, const light::Attribute& attribute, void* data, size_t len, size_t* out) {
  std::string joined;
  if (const auto* values = std::get_if<std::vector<std::string>>(&attribute.data)) {
    for (const std::string& value : *values) joined.append(value).push_back('\0');
  }
  return CopyBytes(slot, joined.data(), joined.size(), data, len, out);
}

OrtStatus* ORT_API_CALL ReadOpAttr(const OrtOpAttr* op_attr, OrtOpAttrType type, void* data, size_t len,
                                   size_t* out) noexcept {
  return Guard("ReadOpAttr", [&](Slot slot) -> OrtStatus* {
    const light::Attribute& attribute = Borrow(op_attr).attribute();
    Require(out, "out");
    switch (type) {
      case ORT_OP_ATTR_INT:
        return ReadScalar<int64_t>(slot, attribute, data, len, out);
      case ORT_OP_ATTR_FLOAT:
        return ReadScalar<float>(slot, attribute, data, len, out);
      case ORT_OP_ATTR_INTS:
        return ReadSpan<std::vector<int64_t>>(slot, attribute, data, len, out);
      case ORT_OP_ATTR_FLOATS:
        return ReadSpan<std::vector<float>>(slot, attribute, data, len, out);
      case ORT_OP_ATTR_STRING:
        return ReadSpan<std::string>(slot, attribute, data, len, out);
      case ORT_OP_ATTR_STRINGS:
        return ReadStrings(slot, attribute, data, len, out);
      default:
        *out = 0;
        return slot.Fail(ORT_INVALID_ARGUMENT, "type: cannot be read, got %d", static_cast<int>(type));
    }
  });
}

void ORT_API_CALL ReleaseOpAttr(OrtOpAttr* attribute) noexcept {
  auto adapter = TakeIn("ReleaseOpAttr", attribute);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseOpAttr", "attributes of a context are borrowed");
    adapter.release();
  }
}

}  // namespace

void FillOpAttr(OrtApi& table) noexcept {
  table.CreateOpAttr = CreateOpAttr;
  table.OpAttr_GetType = OpAttr_GetType;
  table.OpAttr_GetName = OpAttr_GetName;
  table.OpAttr_GetTensorAttributeAsOrtValue = OpAttr_GetTensorAttributeAsOrtValue;
  table.ReadOpAttr = ReadOpAttr;
  table.ReleaseOpAttr = ReleaseOpAttr;
}

}  // namespace ort_host::abi
