// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "conversions/element_type.h"
#include "conversions/shape.h"

namespace light {

using conversions::Dim;
using conversions::ElementType;
using conversions::Shape;

/// The static type of a value: what ONNX's TypeProto says.
struct ValueType {
  enum class Kind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap, kOpaque };

  Kind kind = Kind::kUnknown;
  ElementType element = ElementType::kUndefined;  ///< of a tensor; the key type of a map
  Shape shape;                                    ///< of a tensor
  std::shared_ptr<const ValueType> inner;         ///< element of a sequence or an optional, value of a map

  static ValueType Tensor(ElementType element, Shape shape = {}) {
    return {Kind::kTensor, element, std::move(shape), nullptr};
  }
  static ValueType Sequence(ValueType inner) {
    return {Kind::kSequence, ElementType::kUndefined, {}, std::make_shared<ValueType>(std::move(inner))};
  }
  static ValueType Optional(ValueType inner) {
    return {Kind::kOptional, ElementType::kUndefined, {}, std::make_shared<ValueType>(std::move(inner))};
  }

  bool is_tensor() const noexcept { return kind == Kind::kTensor; }
  /// True if a kernel can be chosen: every element type in it is known.
  bool is_resolved() const noexcept;
  /// As ONNX writes types: `tensor(float)`, `seq(tensor(int64))`, `optional(tensor(float))`.
  std::string ToString() const;
};

/// Same kinds and element types; shapes are not compared.
bool SameElementTypes(const ValueType& a, const ValueType& b) noexcept;

}  // namespace light
