// SPDX-License-Identifier: Apache-2.0
#include "light/partition.h"

#include <algorithm>
#include <unordered_map>

#include "exec/units.h"
#include "light/error.h"

namespace light {
namespace {

/// Ends the message of what the user may choose not to be stopped by.
constexpr const char* kChoice = " (`broken_groups` can split or drop such a group)";

[[noreturn]] void Refuse(const PartitionProposal& proposal, const std::string& what) {
  throw Error(ErrorCode::kInvalidGraph, "partition '" + proposal.name + "': " + what);
}

/// Calls `visit` for every value that a node reads, captures included.
template <class F>
void ForEachRead(const Node& node, F&& visit) {
  for (const ValueId value : node.inputs) {
    if (value != kNoValue) visit(value);
  }
  for (const ValueId value : node.captures) visit(value);
}

void CheckMembership(const Graph& graph, const std::vector<PartitionProposal>& proposals,
                     std::vector<uint32_t>& unit_of) {
  constexpr uint32_t kFree = ~uint32_t{0};
  unit_of.assign(graph.nodes().size(), kFree);
  for (uint32_t unit = 0; unit < proposals.size(); ++unit) {
    const PartitionProposal& proposal = proposals[unit];
    if (proposal.nodes.empty()) Refuse(proposal, "has no nodes");
    for (const NodeId id : proposal.nodes) {
      if (id >= unit_of.size()) {
        Refuse(proposal, "node id " + std::to_string(id) + " is not in the graph, which has " +
                             std::to_string(unit_of.size()) + " nodes");
      }
      if (unit_of[id] == unit) Refuse(proposal, "node " + graph.node(id).Label() + " is listed twice");
      if (unit_of[id] != kFree) {
        Refuse(proposal, "node " + graph.node(id).Label() + " is already in partition '" + proposals[unit_of[id]].name +
                             "'" + kChoice);
      }
      unit_of[id] = unit;
    }
  }
  auto next = static_cast<uint32_t>(proposals.size());
  for (uint32_t& unit : unit_of) {
    if (unit == kFree) unit = next++;
  }
}

PartitionShape Boundary(const GraphOffer& offer, PartitionProposal proposal, const std::vector<uint32_t>& unit_of) {
  const Graph& graph = offer.graph;
  PartitionShape shape;
  shape.nodes = proposal.nodes;
  std::sort(shape.nodes.begin(), shape.nodes.end());
  const uint32_t unit = unit_of[shape.nodes.front()];
  std::unordered_map<ValueId, bool> seen;
  for (const NodeId id : shape.nodes) {
    const Node& node = graph.node(id);
    ForEachRead(node, [&](ValueId value) {
      const GraphValue& record = graph.value(value);
      const bool inside = record.producer != kNoNode && unit_of[record.producer] == unit;
      if (inside || !seen.emplace(value, true).second) return;
      const bool dropped = proposal.drop_constant_initializers && IsConstant(offer, value);
      (dropped ? shape.constants : shape.inputs).push_back(value);
    });
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const GraphValue& record = graph.value(output);
      const bool used_outside = std::any_of(record.uses.begin(), record.uses.end(),
                                            [&](const Use& use) { return unit_of[use.node] != unit; });
      if (record.is_graph_output || used_outside) shape.outputs.push_back(output);
    }
  }
  shape.proposal = std::move(proposal);
  return shape;
}

}  // namespace

std::vector<PartitionShape> ValidatePartitions(const GraphOffer& offer, std::vector<PartitionProposal> proposals) {
  const Graph& graph = offer.graph;
  std::vector<uint32_t> unit_of;
  CheckMembership(graph, proposals, unit_of);
  const uint32_t unit_count = unit_of.empty() ? 0 : *std::max_element(unit_of.begin(), unit_of.end()) + 1;
  if (OrderUnits(graph, unit_of, unit_count).size() != unit_count) {
    for (uint32_t unit = 0; unit < proposals.size(); ++unit) {
      const std::string path = PathThroughOutside(graph, unit_of, unit);
      if (!path.empty()) Refuse(proposals[unit], "depends on itself through nodes outside it: " + path + kChoice);
    }
  }
  std::vector<PartitionShape> shapes;
  shapes.reserve(proposals.size());
  for (PartitionProposal& proposal : proposals) shapes.push_back(Boundary(offer, std::move(proposal), unit_of));
  return shapes;
}

}  // namespace light
