// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/type_and_shape.h"

namespace ort_host {

/// Behind OrtTypeInfo: the kind of a value's type and, for a tensor, its element type and shape. Lives until
/// ReleaseTypeInfo; that of a value of a graph as long as the graph.
class TypeInfoAdapter final : public AdapterBase {
 public:
  /// Whose the object is: a library's, which releases it, or ours, which a library borrows.
  enum class Owner : uint8_t { kLibrary, kHost };
  explicit TypeInfoAdapter(const light::ValueType& type, Owner owner = Owner::kLibrary);
  explicit TypeInfoAdapter(const light::Tensor& tensor);

  ONNXType type() const noexcept { return type_; }
  /// True for what a library must release.
  bool is_owned() const noexcept { return owner_ == Owner::kLibrary; }
  /// Null unless the type is a dense or sparse tensor.
  const TensorTypeAndShapeAdapter* tensor() const noexcept { return is_tensor_ ? &tensor_ : nullptr; }

 private:
  ONNXType type_;
  bool is_tensor_;
  Owner owner_ = Owner::kLibrary;
  TensorTypeAndShapeAdapter tensor_;
};

ONNXType ToOnnxType(light::ValueType::Kind kind) noexcept;

}  // namespace ort_host

ORT_HOST_HANDLE(OrtTypeInfo, TypeInfoAdapter, kTypeInfoKind, "type info");
