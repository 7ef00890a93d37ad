// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>

#include "exec/units.h"
#include "light/partition.h"

namespace light {
namespace {

constexpr uint32_t kFree = ~uint32_t{0};

/// The nodes of a graph where groups are units and every other node is one of its own.
struct Units {
  std::vector<uint32_t> of;                  ///< by NodeId
  std::vector<std::vector<NodeId>> members;  ///< by unit

  Units(const Graph& graph, std::vector<uint32_t> group_of, std::size_t group_count)
      : of(std::move(group_of)), members(group_count) {
    for (const Node& node : graph.nodes()) {
      if (of[node.id] == kFree) {
        of[node.id] = static_cast<uint32_t>(members.size());
        members.emplace_back();
      }
      members[of[node.id]].push_back(node.id);
    }
  }
  std::vector<uint32_t> Order(const Graph& graph) const {
    return OrderUnits(graph, of, static_cast<uint32_t>(members.size()));
  }
};

/// Calls `visit` with each node whose output a node reads, captures included.
template <class F>
void ForEachProducer(const Graph& graph, NodeId id, F&& visit) {
  const Node& node = graph.node(id);
  for (const auto* values : {&node.inputs, &node.captures}) {
    for (const ValueId value : *values) {
      if (value != kNoValue && graph.value(value).producer != kNoNode) visit(graph.value(value).producer);
    }
  }
}

class Mender {
 public:
  Mender(const Graph& graph, BrokenGroups policy, const std::vector<NodeId>& hidden, std::vector<std::string>& notes)
      : graph_(graph), policy_(policy), notes_(notes), group_of_(graph.nodes().size(), kFree) {
    is_hidden_.resize(graph.nodes().size());
    for (const NodeId id : hidden) is_hidden_[id] = true;
  }

  /// Lets groups in as they are where they fit beside those before them. Whole halves at once: most groups are sound.
  void Add(std::span<PartitionProposal> groups) {
    if (groups.empty() || is_over_) return;
    if (Fit(groups)) {
      for (PartitionProposal& group : groups) Accept(std::move(group));
    } else if (groups.size() == 1) {
      Mend(std::move(groups.front()));
    } else {
      Add(groups.first(groups.size() / 2));
      Add(groups.subspan(groups.size() / 2));
    }
  }

  std::vector<PartitionProposal> Take() { return std::move(accepted_); }

 private:
  using Parts = std::vector<std::vector<NodeId>>;

  void Accept(PartitionProposal group) {
    for (const NodeId id : group.nodes) group_of_[id] = static_cast<uint32_t>(accepted_.size());
    accepted_.push_back(std::move(group));
  }

  /// ValidatePartitions tells what is wrong with it.
  void LeaveToValidation(PartitionProposal group) {
    accepted_.push_back(std::move(group));
    is_over_ = true;
  }

  bool IsWellFormed(const PartitionProposal& group) const {
    std::vector<NodeId> ids = group.nodes;
    std::sort(ids.begin(), ids.end());
    return !ids.empty() && ids.back() < group_of_.size() && std::adjacent_find(ids.begin(), ids.end()) == ids.end();
  }

  /// True if these groups can be let in together.
  bool Fit(std::span<const PartitionProposal> groups) const {
    std::vector<uint32_t> group_of = group_of_;
    auto next = static_cast<uint32_t>(accepted_.size());
    for (const PartitionProposal& group : groups) {
      if (!IsWellFormed(group)) return false;
      for (const NodeId id : group.nodes) {
        if (group_of[id] != kFree) return false;
        group_of[id] = next;
      }
      ++next;
    }
    const Units units(graph_, std::move(group_of), next);
    return units.Order(graph_).size() == units.members.size();
  }

  void Mend(PartitionProposal group) {
    if (!IsWellFormed(group)) return LeaveToValidation(std::move(group));
    const bool refuses = policy_ == BrokenGroups::kRefuse;
    const bool splits = policy_ == BrokenGroups::kSplit;
    const std::string shared = Shared(group);
    if (!shared.empty()) {
      if (refuses) return LeaveToValidation(std::move(group));
      notes_.push_back("partition '" + group.name + "' " + (splits ? "goes on without" : "is dropped, for it shares") +
                       " nodes of others: " + shared);
      if (!splits) return;
      std::erase_if(group.nodes, [&](NodeId id) { return group_of_[id] != kFree; });
      if (group.nodes.empty()) return;
    }
    const Parts parts = Split(group, true);
    if (parts.size() == 1) return Accept(std::move(group));
    const bool is_honest = Split(group, false).size() == 1;
    if (refuses && !is_honest) return LeaveToValidation(std::move(group));
    Tell(group, parts.size(), is_honest);
    if (!splits && !is_honest) return;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Accept({group.name + "_" + std::to_string(i), parts[i], group.drop_constant_initializers});
    }
  }

  /// The nodes that groups before have too.
  std::string Shared(const PartitionProposal& group) const {
    std::string list;
    for (const NodeId id : group.nodes) {
      if (group_of_[id] == kFree) continue;
      list += (list.empty() ? "" : ", ") + graph_.node(id).Label() + " is in '" + accepted_[group_of_[id]].name + "'";
    }
    return list;
  }

  /// The group in parts that can run one after another, beside the groups before it. A node goes into the part after
  /// those on whose nodes it depends through units outside; such dependencies through hidden nodes may be left out.
  Parts Split(const PartitionProposal& group, bool sees_hidden) const {
    const Units units(graph_, group_of_, accepted_.size());
    std::vector<bool> is_inside(group_of_.size(), false);
    for (const NodeId id : group.nodes) is_inside[id] = true;
    constexpr std::size_t kBefore = 0;  // does not depend on the group; inside, stages count from 1
    std::vector<std::size_t> stage(units.members.size(), kBefore);
    std::map<std::size_t, std::vector<NodeId>> parts;
    for (const uint32_t unit : units.Order(graph_)) {
      for (const NodeId id : units.members[unit]) {
        if (is_hidden_[id] && !sees_hidden) continue;
        if (is_inside[id]) stage[unit] = std::max<std::size_t>(stage[unit], 1);
        ForEachProducer(graph_, id, [&](NodeId producer) {
          const std::size_t before = stage[units.of[producer]];
          if (before == kBefore || units.of[producer] == unit) return;
          const bool comes_back = is_inside[id] && !is_inside[producer];
          stage[unit] = std::max(stage[unit], before + (comes_back ? 1 : 0));
        });
      }
    }
    std::vector<NodeId> in_order = group.nodes;
    std::sort(in_order.begin(), in_order.end());
    for (const NodeId id : in_order) parts[stage[units.of[id]]].push_back(id);
    Parts found;
    for (auto& [number, nodes] : parts) found.push_back(std::move(nodes));
    return found;
  }

  void Tell(const PartitionProposal& group, std::size_t part_count, bool is_honest) {
    std::vector<uint32_t> group_of = group_of_;
    const auto own = static_cast<uint32_t>(accepted_.size());
    for (const NodeId id : group.nodes) group_of[id] = own;
    const Units units(graph_, std::move(group_of), own + 1);
    std::string nodes;
    for (const NodeId id : group.nodes) nodes += (nodes.empty() ? "" : ", ") + graph_.node(id).Label();
    const std::string split = "split into " + std::to_string(part_count);
    std::string line = "partition '" + group.name + "' ";
    if (is_honest) {
      line += "is " + split + " around nodes that the provider was not shown: " + HiddenBetween(units, own);
    } else {
      line += "depends on itself through nodes outside it and is " +
              (policy_ == BrokenGroups::kSplit ? split : "dropped") + ": " + PathThroughOutside(graph_, units.of, own);
    }
    notes_.push_back(line + "; its nodes: " + nodes);
  }

  /// The hidden nodes that depend on the group `own` and on which it depends.
  std::string HiddenBetween(const Units& units, uint32_t own) const {
    // Both spread from unit to unit until nothing is added: with the group as a unit there is no order.
    const std::size_t count = units.members.size();
    std::vector<std::vector<uint32_t>> before(count), after(count);
    for (const Node& node : graph_.nodes()) {
      const uint32_t unit = units.of[node.id];
      ForEachProducer(graph_, node.id, [&](NodeId producer) {
        before[unit].push_back(units.of[producer]);
        after[units.of[producer]].push_back(unit);
      });
    }
    const auto reach = [&](const std::vector<std::vector<uint32_t>>& next) {
      std::vector<bool> reached(count, false);
      std::vector<uint32_t> queue = {own};
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const uint32_t unit : next[queue[i]]) {
          if (reached[unit]) continue;
          reached[unit] = true;
          queue.push_back(unit);
        }
      }
      return reached;
    };
    const std::vector<bool> depends = reach(after), is_needed = reach(before);
    std::string list;
    for (const Node& node : graph_.nodes()) {
      const uint32_t unit = units.of[node.id];
      if (!is_hidden_[node.id] || !depends[unit] || !is_needed[unit]) continue;
      list += (list.empty() ? "" : ", ") + node.Label();
    }
    return list;
  }

  const Graph& graph_;
  const BrokenGroups policy_;
  std::vector<std::string>& notes_;
  std::vector<bool> is_hidden_;  // by NodeId
  std::vector<PartitionProposal> accepted_;
  std::vector<uint32_t> group_of_;  // by NodeId: index into accepted_
  bool is_over_ = false;            // validation refuses what is in there
};

}  // namespace

std::vector<PartitionProposal> MendGroups(const Graph& graph, std::vector<PartitionProposal> proposals,
                                          BrokenGroups policy, const std::vector<NodeId>& hidden,
                                          std::vector<std::string>& notes) {
  if (proposals.empty()) return proposals;
  Mender mender(graph, policy, hidden, notes);
  mender.Add(proposals);
  return mender.Take();
}

}  // namespace light
