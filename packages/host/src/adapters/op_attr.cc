// SPDX-License-Identifier: Apache-2.0
#include "adapters/op_attr.h"

namespace ort_host {

OrtOpAttrType OpAttrAdapter::type() const noexcept {
  using Kind = light::AttributeKind;
  switch (attribute_.kind) {
    case Kind::kInt:
      return ORT_OP_ATTR_INT;
    case Kind::kInts:
      return ORT_OP_ATTR_INTS;
    case Kind::kFloat:
      return ORT_OP_ATTR_FLOAT;
    case Kind::kFloats:
      return ORT_OP_ATTR_FLOATS;
    case Kind::kString:
      return ORT_OP_ATTR_STRING;
    case Kind::kStrings:
      return ORT_OP_ATTR_STRINGS;
    case Kind::kGraph:
      return ORT_OP_ATTR_GRAPH;
    case Kind::kTensor:
      return ORT_OP_ATTR_TENSOR;
    default:
      return ORT_OP_ATTR_UNDEFINED;
  }
}

}  // namespace ort_host
