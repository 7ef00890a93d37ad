// SPDX-License-Identifier: Apache-2.0
#include "light/value.h"

#include "light/error.h"

namespace light {

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
