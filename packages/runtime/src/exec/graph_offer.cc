// SPDX-License-Identifier: Apache-2.0
#include "light/graph_offer.h"

namespace light {

const Attribute* ConstantAttribute(const Node& node) noexcept {
  if (node.op_type != "Constant" || !node.domain.empty() || node.attributes.size() != 1) return nullptr;
  switch (node.attributes[0].kind) {
    case AttributeKind::kTensor:
    case AttributeKind::kInt:
    case AttributeKind::kInts:
    case AttributeKind::kFloat:
    case AttributeKind::kFloats:
    case AttributeKind::kString:
    case AttributeKind::kStrings:
      return &node.attributes[0];
    default:
      return nullptr;
  }
}

bool IsConstantNode(const Node& node) noexcept { return ConstantAttribute(node) != nullptr; }

bool IsInitializer(const Graph& graph, const GraphValue& value) noexcept {
  if (value.initializer != nullptr) return true;
  return value.producer != kNoNode && IsConstantNode(graph.node(value.producer));
}

ValueSource SourceOf(const GraphOffer& offer, ValueId id) noexcept {
  const GraphOffer* at = &offer;
  while (at->graph.value(id).origin == GraphValue::Origin::kCapture && at->outer != nullptr) {
    id = at->graph.value(id).outer;
    at = at->outer;
  }
  return {at->graph, at->graph.value(id)};
}

bool IsConstant(const GraphOffer& offer, ValueId id) noexcept {
  const ValueSource source = SourceOf(offer, id);
  return IsInitializer(source.graph, source.value) && !source.value.is_overridable;
}

}  // namespace light
