// SPDX-License-Identifier: Apache-2.0
#include "light/value.h"

#include <algorithm>

#include "light/error.h"

namespace light {

ValueList::ValueList(std::initializer_list<Value> values) {
  reserve(values.size());
  for (const Value& value : values) push_back(value);
}

void ValueList::push_back(Value value) {
  std::size_t mine = count_;
  const bool fits = storage_ != nullptr && count_ < storage_->capacity &&
                    storage_->used.compare_exchange_strong(mine, count_ + 1, std::memory_order_relaxed);
  if (!fits) {
    Move(std::max<std::size_t>(4, 2 * count_));
    storage_->used.store(count_ + 1, std::memory_order_relaxed);
  }
  storage_->values[count_++] = std::move(value);
}

void ValueList::reserve(std::size_t capacity) {
  if (capacity > (storage_ == nullptr ? 0 : storage_->capacity)) Move(capacity);
}

void ValueList::Move(std::size_t capacity) {
  auto storage = std::make_shared<Storage>(capacity);
  std::copy_n(begin(), count_, storage->values.get());
  storage->used.store(count_, std::memory_order_relaxed);
  storage_ = std::move(storage);
}

Value Value::Optional(Value content) {
  Value value;
  value.kind_ = Kind::kOptional;
  value.compound_ = std::make_shared<Value>(std::move(content));
  return value;
}

const Sequence& Value::sequence() const {
  if (kind_ != Kind::kSequence)
    throw Error(ErrorCode::kInvalidArgument, "value: expected a sequence, got another kind");
  return *static_cast<const Sequence*>(compound_.get());
}

const Value& Value::content() const {
  if (kind_ != Kind::kOptional)
    throw Error(ErrorCode::kInvalidArgument, "value: expected an optional, got another kind");
  return *static_cast<const Value*>(compound_.get());
}

}  // namespace light
