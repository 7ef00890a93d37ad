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
  if (kind_ != Kind::kSequence) throw Error(ErrorCode::kInvalidArgument, "value: expected a sequence, got another kind");
  return *static_cast<const Sequence*>(compound_.get());
}

const Value& Value::content() const {
  if (kind_ != Kind::kOptional) throw Error(ErrorCode::kInvalidArgument, "value: expected an optional, got another kind");
  return *static_cast<const Value*>(compound_.get());
}

bool ValueType::is_resolved() const noexcept {
  switch (kind) {
    case Kind::kUnknown:
      return false;
    case Kind::kTensor:
    case Kind::kSparseTensor:
      return element != ElementType::kUndefined;
    case Kind::kSequence:
    case Kind::kOptional:
    case Kind::kMap:
      return inner != nullptr && inner->is_resolved();
    case Kind::kOpaque:
      return true;
  }
  return false;
}

std::string ValueType::ToString() const {
  const auto inside = [this] { return inner ? inner->ToString() : std::string("unknown"); };
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor:
      return std::string("tensor(") + conversions::Name(element) + ")";
    case Kind::kSparseTensor:
      return std::string("sparse_tensor(") + conversions::Name(element) + ")";
    case Kind::kSequence:
      return "seq(" + inside() + ")";
    case Kind::kOptional:
      return "optional(" + inside() + ")";
    case Kind::kMap:
      return std::string("map(") + conversions::Name(element) + "," + inside() + ")";
    case Kind::kOpaque:
      return "opaque()";
  }
  return "unknown";
}

bool SameElementTypes(const ValueType& a, const ValueType& b) noexcept {
  if (a.kind != b.kind || a.element != b.element) return false;
  if (!a.inner || !b.inner) return !a.inner && !b.inner;
  return SameElementTypes(*a.inner, *b.inner);
}

}  // namespace light
