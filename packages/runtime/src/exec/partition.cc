// SPDX-License-Identifier: Apache-2.0
#include "light/partition.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "exec/units.h"
#include "light/error.h"

namespace light {
namespace {

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

/// A shortest path that leaves the unit `start` and comes back to it, as labels of nodes; "" if there is none. Where it
/// comes into a unit at one node and leaves it at another, both are named: `'b' (Add) with 'c' (Mul)`.
std::string PathThroughOutside(const Graph& graph, const std::vector<uint32_t>& unit_of, uint32_t start) {
  struct Step {
    NodeId from;
    NodeId to;
  };
  std::unordered_map<uint32_t, std::vector<NodeId>> members;
  for (const Node& node : graph.nodes()) members[unit_of[node.id]].push_back(node.id);
  std::unordered_map<uint32_t, Step> came_by;
  std::vector<uint32_t> queue = {start};
  for (std::size_t next = 0; next < queue.size() && !came_by.contains(start); ++next) {
    for (const NodeId from : members[queue[next]]) {
      for (const ValueId output : graph.node(from).outputs) {
        if (output == kNoValue) continue;
        for (const Use& use : graph.value(output).uses) {
          const uint32_t unit = unit_of[use.node];
          if (unit != queue[next] && came_by.emplace(unit, Step{from, use.node}).second) queue.push_back(unit);
        }
      }
    }
  }
  if (!came_by.contains(start)) return "";
  Step step = came_by.at(start);
  std::string path = graph.node(step.to).Label();
  for (;;) {
    path = graph.node(step.from).Label() + " -> " + path;
    const uint32_t unit = unit_of[step.from];
    if (unit == start) return path;
    const NodeId left_at = step.from;
    step = came_by.at(unit);
    if (step.to != left_at) path = graph.node(step.to).Label() + " with " + path;
  }
}

/// The group in parts that can run one after another. A node goes into the part after those on whose nodes it depends
/// through nodes outside the group. A group that can run as one step stays whole.
std::vector<PartitionProposal> SplitByStage(const Graph& graph, const PartitionProposal& proposal) {
  std::vector<bool> is_inside(graph.nodes().size(), false);
  for (const NodeId id : proposal.nodes) {
    if (id < is_inside.size()) is_inside[id] = true;
  }
  constexpr std::size_t kBefore = 0;  // does not depend on the group; inside, stages count from 1
  std::vector<std::size_t> stage(graph.nodes().size(), kBefore);
  std::map<std::size_t, PartitionProposal> parts;
  for (const Node& node : graph.nodes()) {
    std::size_t& own = stage[node.id];
    if (is_inside[node.id]) own = 1;
    ForEachRead(node, [&](ValueId value) {
      const NodeId producer = graph.value(value).producer;
      if (producer == kNoNode || stage[producer] == kBefore) return;
      const bool comes_back = is_inside[node.id] && !is_inside[producer];
      own = std::max(own, stage[producer] + (comes_back ? 1 : 0));
    });
    if (is_inside[node.id]) parts[own].nodes.push_back(node.id);
  }
  std::vector<PartitionProposal> split;
  for (auto& [number, part] : parts) {
    part.name = proposal.name + (parts.size() > 1 ? "_" + std::to_string(split.size()) : "");
    part.drop_constant_initializers = proposal.drop_constant_initializers;
    split.push_back(std::move(part));
  }
  return split;
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
        Refuse(proposal,
               "node " + graph.node(id).Label() + " is already in partition '" + proposals[unit_of[id]].name + "'");
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

std::vector<PartitionProposal> MendGroups(const Graph& graph, std::vector<PartitionProposal> proposals,
                                          BrokenGroups policy, std::vector<std::string>& notes) {
  if (policy == BrokenGroups::kRefuse) return proposals;
  std::vector<PartitionProposal> mended;
  for (PartitionProposal& proposal : proposals) {
    std::vector<PartitionProposal> parts = SplitByStage(graph, proposal);
    if (parts.size() <= 1) {
      mended.push_back(std::move(proposal));
      continue;
    }
    const bool splits = policy == BrokenGroups::kSplit;
    std::string nodes;
    for (const NodeId id : proposal.nodes) nodes += (nodes.empty() ? "" : ", ") + graph.node(id).Label();
    notes.push_back("partition '" + proposal.name + "' depends on itself through nodes outside it and is " +
                    (splits ? "split into " + std::to_string(parts.size()) : std::string("dropped")) + ": " + nodes);
    if (splits) mended.insert(mended.end(), parts.begin(), parts.end());
  }
  return mended;
}

std::vector<PartitionShape> ValidatePartitions(const GraphOffer& offer, std::vector<PartitionProposal> proposals) {
  const Graph& graph = offer.graph;
  std::vector<uint32_t> unit_of;
  CheckMembership(graph, proposals, unit_of);
  const uint32_t unit_count = unit_of.empty() ? 0 : *std::max_element(unit_of.begin(), unit_of.end()) + 1;
  if (OrderUnits(graph, unit_of, unit_count).size() != unit_count) {
    for (uint32_t unit = 0; unit < proposals.size(); ++unit) {
      const std::string path = PathThroughOutside(graph, unit_of, unit);
      if (!path.empty()) Refuse(proposals[unit], "depends on itself through nodes outside it: " + path);
    }
  }
  std::vector<PartitionShape> shapes;
  shapes.reserve(proposals.size());
  for (PartitionProposal& proposal : proposals) shapes.push_back(Boundary(offer, std::move(proposal), unit_of));
  return shapes;
}

}  // namespace light
