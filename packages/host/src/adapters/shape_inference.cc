// SPDX-License-Identifier: Apache-2.0
#include "adapters/shape_inference.h"

namespace ort_host {

ShapeInferContextAdapter::ShapeInferContextAdapter(light::InferenceContext& context)
    : AdapterBase(kShapeInferKind), context_(context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const light::ValueType* type = context.Input(i);
    if (type != nullptr && type->kind != light::ValueType::Kind::kUnknown && !type->is_tensor()) {
      inputs_.push_back(nullptr);
      continue;
    }
    // An omitted argument is UNDEFINED without a shape, which is also what an unknown type gives.
    inputs_.push_back(std::make_unique<TensorTypeAndShapeAdapter>(type != nullptr ? *type : light::ValueType{}));
  }
}

const OpAttrAdapter* ShapeInferContextAdapter::FindAttribute(const char* name) {
  for (const OpAttrAdapter& known : attributes_) {
    if (known.attribute().name == name) return &known;
  }
  const light::Attribute* attribute = context_.node().FindAttribute(name);
  return attribute != nullptr ? &attributes_.emplace_back(*attribute, OpAttrAdapter::Owner::kContext) : nullptr;
}

void ShapeInferContextAdapter::SetOutput(std::size_t i, const TensorTypeAndShapeAdapter& info) {
  const auto element = conversions::FromOrt(info.element());
  if (element && *element != light::ElementType::kUndefined) context_.SetOutputElement(i, *element);
  if (info.has_shape()) context_.SetOutputShape(i, info.ToShape());
}

}  // namespace ort_host
