// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "abi/sections.h"
#include "adapters/shape_inference.h"

namespace ort_host::abi {
namespace {

OrtStatus* PastTheCount(Slot slot, const char* what, size_t count, size_t index) {
  return slot.Fail(ORT_RUNTIME_EXCEPTION, "index: the node has %zu %s, got %zu", count, what, index);
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetInputCount(const OrtShapeInferContext* context, size_t* out) noexcept {
  return Guard("ShapeInferContext_GetInputCount", [&] { Out(out) = Borrow(context).input_count(); });
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetInputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                            OrtTensorTypeAndShapeInfo** info) noexcept {
  return Guard("ShapeInferContext_GetInputTypeShape", [&](Slot slot) -> OrtStatus* {
    const ShapeInferContextAdapter& adapter = Borrow(context);
    const auto destination = Out(info, "info");
    if (index >= adapter.input_count()) return PastTheCount(slot, "inputs", adapter.input_count(), index);
    const TensorTypeAndShapeAdapter* input = adapter.input(index);
    if (input == nullptr) return slot.Fail(ORT_RUNTIME_EXCEPTION, "index: input %zu is no tensor", index);
    // The ABI lends it through a pointer that is not const.
    destination = Lend<OrtTensorTypeAndShapeInfo>(const_cast<TensorTypeAndShapeAdapter&>(*input));
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetAttribute(const OrtShapeInferContext* context, const char* attr_name,
                                                       const OrtOpAttr** attr) noexcept {
  return Guard("ShapeInferContext_GetAttribute", [&](Slot slot) -> OrtStatus* {
    ShapeInferContextAdapter& adapter = Borrow(const_cast<OrtShapeInferContext*>(context));
    Require(attr_name, "attr_name");
    const auto destination = Out(attr, "attr");
    const OpAttrAdapter* found = adapter.FindAttribute(attr_name);
    destination = found != nullptr ? Lend<OrtOpAttr>(*found) : nullptr;
    if (found == nullptr) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "attr_name: attribute '%.200s' is missing", attr_name);
    }
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL ShapeInferContext_SetOutputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                             const OrtTensorTypeAndShapeInfo* info) noexcept {
  return Guard("ShapeInferContext_SetOutputTypeShape", [&](Slot slot) -> OrtStatus* {
    ShapeInferContextAdapter& adapter = Borrow(const_cast<OrtShapeInferContext*>(context));
    if (info == nullptr) return slot.Fail(ORT_FAIL, "info is null");
    if (index >= adapter.output_count()) return PastTheCount(slot, "outputs", adapter.output_count(), index);
    adapter.SetOutput(index, Borrow(info));
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

}  // namespace

void FillShapeInference(OrtApi& table) noexcept {
  table.ShapeInferContext_GetInputCount = ShapeInferContext_GetInputCount;
  table.ShapeInferContext_GetInputTypeShape = ShapeInferContext_GetInputTypeShape;
  table.ShapeInferContext_GetAttribute = ShapeInferContext_GetAttribute;
  table.ShapeInferContext_SetOutputTypeShape = ShapeInferContext_SetOutputTypeShape;
  table.ReadOpAttr = ReadOpAttr;
}

}  // namespace ort_host::abi
