// SPDX-License-Identifier: Apache-2.0
#include "light/value_type.h"

namespace light {

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
  const std::string content = inner ? inner->ToString() : "unknown";
  const std::string element_name = conversions::Name(element);
  switch (kind) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor:
      return "tensor(" + element_name + ")";
    case Kind::kSparseTensor:
      return "sparse_tensor(" + element_name + ")";
    case Kind::kSequence:
      return "seq(" + content + ")";
    case Kind::kOptional:
      return "optional(" + content + ")";
    case Kind::kMap:
      return "map(" + element_name + "," + content + ")";
    case Kind::kOpaque:
      return "opaque";
  }
  return "unknown";
}

bool SameElementTypes(const ValueType& a, const ValueType& b) noexcept {
  if (a.kind != b.kind || a.element != b.element) return false;
  if (!a.inner || !b.inner) return a.inner == b.inner;
  return a.inner == b.inner || SameElementTypes(*a.inner, *b.inner);
}

}  // namespace light
