// SPDX-License-Identifier: Apache-2.0
#include "adapters/shape_inference.h"
#include "abi/sections.h"

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

}  // namespace

void FillShapeInference(OrtApi& table) noexcept {
  table.ShapeInferContext_GetInputCount = ShapeInferContext_GetInputCount;
  table.ShapeInferContext_GetInputTypeShape = ShapeInferContext_GetInputTypeShape;
  table.ShapeInferContext_GetAttribute = ShapeInferContext_GetAttribute;
  table.ShapeInferContext_SetOutputTypeShape = ShapeInferContext_SetOutputTypeShape;
}

}  // namespace ort_host::abi
