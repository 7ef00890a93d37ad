// SPDX-License-Identifier: Apache-2.0
#include "adapters/graph_support.h"

#include <algorithm>

namespace ort_host {
namespace {

constexpr const char* kForeign = " is not of the graph that was asked about";
constexpr const char* kTwice = " is proposed twice";
constexpr const char* kOverlap = " is proposed twice (`broken_groups` can split or drop such a group)";

}  // namespace

/// One graph is behind its views as well.
bool GraphSupportAdapter::IsForeign(const NodeAdapter& node) const noexcept {
  return &node.graph().graph() != &graph_.graph();
}

std::string GraphSupportAdapter::Refuse(const NodeAdapter& node, const char* why) {
  const std::string problem = "node " + node.node().Label() + why;
  if (problem_.empty()) problem_ = problem;
  return problem;
}

std::string GraphSupportAdapter::AddNode(const NodeAdapter& node) {
  if (IsForeign(node)) return Refuse(node, kForeign);
  const light::NodeId id = node.node().id;
  if (is_single_[id]) return Refuse(node, kTwice);
  if (is_grouped_[id] && !may_overlap_) return Refuse(node, kOverlap);
  proposals_.nodes.push_back(id);
  is_single_[id] = true;
  return "";
}

std::string GraphSupportAdapter::AddGroup(std::span<const NodeAdapter* const> nodes, bool drop_constant_initializers) {
  light::PartitionProposal group;
  group.drop_constant_initializers = drop_constant_initializers;
  for (const NodeAdapter* node : nodes) {
    if (IsForeign(*node)) return Refuse(*node, kForeign);
    const light::NodeId id = node->node().id;
    if ((is_single_[id] || is_grouped_[id]) && !may_overlap_) return Refuse(*node, kOverlap);
    group.nodes.push_back(id);
  }
  std::sort(group.nodes.begin(), group.nodes.end());
  group.nodes.erase(std::unique(group.nodes.begin(), group.nodes.end()), group.nodes.end());
  for (const light::NodeId id : group.nodes) is_grouped_[id] = true;
  proposals_.partitions.push_back(std::move(group));
  return "";
}

}  // namespace ort_host
