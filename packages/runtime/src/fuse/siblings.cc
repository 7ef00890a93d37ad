// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "fuse/fusion.h"

namespace light {
namespace {

/// What products that may be one step have in common: the left side, and the extents of the right one.
using Family = std::tuple<ValueId, int64_t, int64_t>;

/// The constant matrix that a product multiplies with, or nullptr.
const Tensor* RightSide(const FusionScope& scope, const Node& node) {
  const KernelRegistration* registration = scope.Registration(node.id);
  if (registration == nullptr || !registration->epilogue.siblings) return nullptr;
  if (!scope.IsFloat(node.inputs[0]) || !scope.IsFloat(node.outputs[0])) return nullptr;
  const auto& constant = scope.constants[node.inputs[1]];
  if (constant == nullptr || scope.constants[node.inputs[0]] != nullptr) return nullptr;
  const Tensor& b = constant->tensor();
  return b.rank() == 2 && b.element_count() > 0 ? &b : nullptr;
}

/// A product as a fusion of its own, with what follows it.
Fusion Alone(const Node& node) {
  Fusion fusion;
  fusion.kind = Fusion::Kind::kProduct;
  fusion.nodes = {node.id};
  fusion.inputs = node.inputs;
  fusion.outputs = {node.outputs[0]};
  return fusion;
}

Fusion Join(const std::vector<Fusion>& products) {
  Fusion joined;
  joined.kind = Fusion::Kind::kSiblings;
  joined.inputs = {products[0].inputs[0]};
  for (const Fusion& product : products) {
    Fusion::Sibling sibling;
    sibling.product = static_cast<uint32_t>(joined.nodes.size());
    joined.nodes.insert(joined.nodes.end(), product.nodes.begin(), product.nodes.end());
    joined.inputs.push_back(product.inputs[1]);
    if (product.epilogue.bias_input >= 0) {
      sibling.bias_input = static_cast<int>(joined.inputs.size());
      joined.inputs.push_back(product.inputs[static_cast<std::size_t>(product.epilogue.bias_input)]);
    }
    sibling.relu = product.epilogue.relu;
    joined.siblings.push_back(sibling);
    joined.outputs.push_back(product.outputs[0]);
  }
  return joined;
}

}  // namespace

void JoinSiblings(const FusionScope& scope, std::vector<Fusion>& fusions) {
  std::vector<int> fusion_of(scope.graph.nodes().size(), -1);
  for (std::size_t i = 0; i < fusions.size(); ++i) fusion_of[fusions[i].nodes[0]] = static_cast<int>(i);
  std::map<Family, std::vector<std::vector<Fusion>>> families;
  for (const NodeId id : scope.order) {
    const Node& node = scope.graph.node(id);
    const Tensor* b = RightSide(scope, node);
    if (b == nullptr) continue;
    const int own = fusion_of[id];
    Fusion product = own < 0 ? Alone(node) : fusions[static_cast<std::size_t>(own)];
    // What is added may be there only after another product of the family.
    if (product.epilogue.residual_input >= 0) continue;
    auto& groups = families[{node.inputs[0], b->dim(0), b->dim(1)}];
    if (groups.empty() || groups.back().size() == Fusion::kMostSiblings) groups.emplace_back();
    groups.back().push_back(std::move(product));
  }
  std::vector<bool> is_joined(scope.graph.nodes().size());
  std::vector<Fusion> joined;
  for (const auto& [family, groups] : families) {
    for (const std::vector<Fusion>& products : groups) {
      if (products.size() < 2) continue;
      for (const Fusion& product : products) is_joined[product.nodes[0]] = true;
      joined.push_back(Join(products));
      joined.back().depth = std::get<1>(family);
      joined.back().width = std::get<2>(family);
    }
  }
  std::erase_if(fusions, [&](const Fusion& fusion) { return is_joined[fusion.nodes[0]]; });
  std::move(joined.begin(), joined.end(), std::back_inserter(fusions));
}

}  // namespace light
