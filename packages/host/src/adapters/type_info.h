// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/type_and_shape.h"

namespace ort_host {

/// Behind OrtTypeInfo: the kind of a value's type and, for a tensor, its element type and shape. Lives until
/// ReleaseTypeInfo.
class TypeInfoAdapter final : public AdapterBase {
 public:
  explicit TypeInfoAdapter(const light::ValueType& type);
  explicit TypeInfoAdapter(const light::Tensor& tensor);

  ONNXType type() const noexcept { return type_; }
  /// Null unless the type is a dense or sparse tensor.
  const TensorTypeAndShapeAdapter* tensor() const noexcept { return is_tensor_ ? &tensor_ : nullptr; }

 private:
  ONNXType type_;
  bool is_tensor_;
  TensorTypeAndShapeAdapter tensor_;
};

ONNXType ToOnnxType(light::ValueType::Kind kind) noexcept;

}  // namespace ort_host

ORT_HOST_HANDLE(OrtTypeInfo, TypeInfoAdapter, kTypeInfoKind, "type info");
