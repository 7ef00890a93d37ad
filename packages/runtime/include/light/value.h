// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "light/tensor.h"
#include "light/value_type.h"

namespace light {

class Value;

/// A sequence of values of one type.
struct Sequence {
  ValueType element_type;
  std::vector<Value> elements;
};

/// What flows along an edge at run time: a tensor, a sequence, an optional, or nothing.
class Value {
 public:
  enum class Kind : uint8_t { kNone, kTensor, kSequence, kOptional };

  Value() = default;
  Value(Tensor tensor) : kind_(Kind::kTensor), tensor_(std::move(tensor)) {}  // NOLINT: a tensor is a value
  Value(Sequence sequence)                                                    // NOLINT: so is a sequence
      : kind_(Kind::kSequence), compound_(std::make_shared<Sequence>(std::move(sequence))) {}
  /// An optional that holds `content`, or is empty when `content` is none.
  static Value Optional(Value content);

  Kind kind() const noexcept { return kind_; }
  bool is_none() const noexcept { return kind_ == Kind::kNone; }
  bool is_tensor() const noexcept { return kind_ == Kind::kTensor; }

  Tensor& tensor() noexcept { return tensor_; }
  const Tensor& tensor() const noexcept { return tensor_; }
  /// Turns the value into a tensor if it is something else, and returns it.
  Tensor& MakeTensor() noexcept {
    if (kind_ != Kind::kTensor) [[unlikely]] {
      compound_.reset();
      kind_ = Kind::kTensor;
    }
    return tensor_;
  }
  /// Throws Error (kInvalidArgument) if this is no sequence.
  const Sequence& sequence() const;
  /// The content of an optional; none if it is empty. Throws Error (kInvalidArgument) if this is no optional.
  const Value& content() const;
  void Reset() noexcept { *this = Value(); }

 private:
  Kind kind_ = Kind::kNone;
  Tensor tensor_;
  std::shared_ptr<void> compound_;  // Sequence, or Value for an optional
};

}  // namespace light
