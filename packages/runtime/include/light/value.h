// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>

#include "light/tensor.h"
#include "light/value_type.h"

namespace light {

class Value;

/// A list of values. Copies share the elements, so a copy costs none; appending to the longest of them costs none
/// either, which makes a loop that builds a list linear. Copies may be appended to from several threads at once.
class ValueList {
 public:
  ValueList() = default;
  ValueList(std::initializer_list<Value> values);

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  const Value& operator[](std::size_t i) const noexcept;
  const Value* begin() const noexcept;
  const Value* end() const noexcept;

  void push_back(Value value);
  /// Makes room for `capacity` elements in all.
  void reserve(std::size_t capacity);

 private:
  struct Storage;
  void Move(std::size_t capacity);

  std::shared_ptr<Storage> storage_;
  std::size_t count_ = 0;
};

/// A sequence of values of one type.
struct Sequence {
  ValueType element_type;
  ValueList elements;
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

/// Elements of a list that never move; each copy of the list sees the first `count_` of them.
struct ValueList::Storage {
  explicit Storage(std::size_t n) : values(new Value[n]), capacity(n) {}
  std::unique_ptr<Value[]> values;
  std::size_t capacity;
  std::atomic<std::size_t> used = 0;  // elements that some copy has taken: who raises it by one owns that element
};

inline const Value& ValueList::operator[](std::size_t i) const noexcept { return storage_->values[i]; }
inline const Value* ValueList::begin() const noexcept { return storage_ == nullptr ? nullptr : storage_->values.get(); }
inline const Value* ValueList::end() const noexcept { return begin() + count_; }

}  // namespace light
