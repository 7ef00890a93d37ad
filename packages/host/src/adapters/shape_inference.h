// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "adapters/op_attr.h"
#include "adapters/type_and_shape.h"
#include "light/inference.h"

namespace ort_host {

/// Behind OrtShapeInferContext, during one call of InferOutputShapeFn.
class ShapeInferContextAdapter final : public AdapterBase {
 public:
  explicit ShapeInferContextAdapter(light::InferenceContext& context);

  std::size_t input_count() const noexcept { return inputs_.size(); }
  std::size_t output_count() const noexcept { return context_.output_count(); }
  /// Type UNDEFINED and no shape for an omitted argument; null for an argument that is no tensor.
  const TensorTypeAndShapeAdapter* input(std::size_t i) const noexcept { return inputs_[i].get(); }
  /// The attribute written on the node, or null.
  const OpAttrAdapter* FindAttribute(const char* name);
  /// Takes element type (UNDEFINED leaves it) and shape for output `i`.
  void SetOutput(std::size_t i, const TensorTypeAndShapeAdapter& info);

 private:
  light::InferenceContext& context_;
  std::vector<std::unique_ptr<TensorTypeAndShapeAdapter>> inputs_;
  std::deque<OpAttrAdapter> attributes_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtShapeInferContext, ShapeInferContextAdapter, kShapeInferKind, "shape inference context");
