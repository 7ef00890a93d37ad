// SPDX-License-Identifier: Apache-2.0
#include "light/graph.h"

namespace light {

const char* ToString(AttributeKind kind) noexcept {
  switch (kind) {
    case AttributeKind::kUndefined:
      return "undefined";
    case AttributeKind::kFloat:
      return "float";
    case AttributeKind::kInt:
      return "int";
    case AttributeKind::kString:
      return "string";
    case AttributeKind::kTensor:
      return "tensor";
    case AttributeKind::kGraph:
      return "graph";
    case AttributeKind::kFloats:
      return "floats";
    case AttributeKind::kInts:
      return "ints";
    case AttributeKind::kStrings:
      return "strings";
    case AttributeKind::kTensors:
      return "tensors";
    case AttributeKind::kGraphs:
      return "graphs";
    case AttributeKind::kSparseTensor:
      return "sparse_tensor";
    case AttributeKind::kSparseTensors:
      return "sparse_tensors";
    case AttributeKind::kTypeProto:
      return "type";
    case AttributeKind::kTypeProtos:
      return "types";
  }
  return "unknown";
}

const Attribute* Node::FindAttribute(std::string_view attribute) const noexcept {
  for (const Attribute& candidate : attributes) {
    if (candidate.name == attribute) return &candidate;
  }
  return nullptr;
}

std::string Node::Label() const {
  std::string label = name.empty() ? "#" + std::to_string(id) : "'" + name + "'";
  label += " (";
  if (!domain.empty()) label += domain + ".";
  return label + op_type + ")";
}

}  // namespace light
