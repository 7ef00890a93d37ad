// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuse/fused_elementwise.h"
#include "fuse/fusion.h"
#include "kernels/elementwise.h"

namespace light {
namespace {

constexpr uint32_t kNoGroup = ~uint32_t{0};

/// Nodes join the groups that make their operands, in the order of the run. A group that another node has read is
/// closed: it runs before that node.
class Grouping {
 public:
  Grouping(const FusionScope& scope, const std::vector<bool>& taken)
      : scope_(scope), taken_(taken), group_of_(scope.graph.nodes().size(), kNoGroup) {}

  std::vector<Fusion> Run() {
    for (const NodeId id : scope_.order) {
      const Node& node = scope_.graph.node(id);
      const uint32_t group = CanJoin(node) ? Join(node) : kNoGroup;
      const auto close = [&](ValueId value) {
        const uint32_t producer = GroupOf(value);
        if (producer != kNoGroup && producer != group) groups_[producer].is_closed = true;
      };
      std::for_each(node.inputs.begin(), node.inputs.end(), close);
      std::for_each(node.captures.begin(), node.captures.end(), close);
    }
    std::vector<Fusion> found;
    for (Group& group : groups_) {
      if (group.nodes.size() < 2) continue;
      Fusion fusion = Describe(group);
      if (FusedElementwise::CanRun(scope_.graph, fusion)) found.push_back(std::move(fusion));
    }
    return found;
  }

 private:
  struct Group {
    std::vector<NodeId> nodes;
    std::size_t reads = 0;  // operands from outside, at most
    bool is_closed = false;
  };

  uint32_t GroupOf(ValueId value) const {
    if (value == kNoValue) return kNoGroup;
    const NodeId producer = scope_.graph.value(value).producer;
    return producer != kNoNode ? group_of_[producer] : kNoGroup;
  }

  bool CanJoin(const Node& node) const {
    const KernelRegistration* registration = scope_.Registration(node.id);
    if (registration == nullptr || !registration->is_elementwise || taken_[node.id]) return false;
    const auto* kernel = dynamic_cast<const ElementwiseKernel*>(scope_.kernels[node.id].get());
    if (kernel == nullptr || kernel->tile_inputs() == 0 || node.outputs.size() != 1) return false;
    const auto is_fit = [&](ValueId id) { return id == kNoValue || scope_.IsFloat(id); };
    return is_fit(node.outputs[0]) && std::all_of(node.inputs.begin(), node.inputs.end(), is_fit) &&
           node.inputs.size() <= FusedElementwise::kMostReads;
  }

  /// Puts the node into a group, which may be a new one, and returns it.
  uint32_t Join(const Node& node) {
    const auto& kernel = dynamic_cast<const ElementwiseKernel&>(*scope_.kernels[node.id]);
    uint32_t joined = kNoGroup;
    for (std::size_t i = 0; i < std::min(kernel.tile_inputs(), node.inputs.size()); ++i) {
      const uint32_t group = GroupOf(node.inputs[i]);
      if (group == kNoGroup || group == joined || !IsOpenTo(group, node, kernel)) continue;
      if (kernel.tile_inputs() > 1 && !MayBeEqual(ShapeOf(node.inputs[i]), ShapeOf(node.outputs[0]))) continue;
      if (joined == kNoGroup) {
        joined = group;
        groups_[group].reads += node.inputs.size() - 1;
      } else if (groups_[joined].reads + groups_[group].reads <= FusedElementwise::kMostReads &&
                 groups_[joined].nodes.size() + groups_[group].nodes.size() < FusedElementwise::kMostNodes) {
        joined = Merge(joined, group);
      }
    }
    if (joined == kNoGroup) {
      joined = static_cast<uint32_t>(groups_.size());
      groups_.push_back({{}, node.inputs.size(), false});
    }
    groups_[joined].nodes.push_back(node.id);
    group_of_[node.id] = joined;
    return joined;
  }

  bool IsOpenTo(uint32_t index, const Node& node, const ElementwiseKernel& kernel) const {
    const Group& group = groups_[index];
    if (group.is_closed || group.nodes.size() >= FusedElementwise::kMostNodes ||
        group.reads + node.inputs.size() - 1 > FusedElementwise::kMostReads)
      return false;
    // Scalars that the kernel reads beside what it walks come from outside.
    for (std::size_t i = kernel.tile_inputs(); i < node.inputs.size(); ++i)
      if (GroupOf(node.inputs[i]) == index) return false;
    return true;
  }

  const Shape& ShapeOf(ValueId value) const { return scope_.graph.value(value).type.shape; }

  uint32_t Merge(uint32_t a, uint32_t b) {
    if (groups_[a].nodes.size() < groups_[b].nodes.size()) std::swap(a, b);
    for (const NodeId id : groups_[b].nodes) group_of_[id] = a;
    groups_[a].nodes.insert(groups_[a].nodes.end(), groups_[b].nodes.begin(), groups_[b].nodes.end());
    groups_[a].reads += groups_[b].reads;
    groups_[b] = {};
    return a;
  }

  Fusion Describe(Group& group) const {
    Fusion fusion;
    fusion.kind = Fusion::Kind::kElementwise;
    const uint32_t index = group_of_[group.nodes.front()];
    if (position_.empty()) {
      position_.resize(scope_.graph.nodes().size());
      for (uint32_t i = 0; i < scope_.order.size(); ++i) position_[scope_.order[i]] = i;
    }
    std::sort(group.nodes.begin(), group.nodes.end(), [&](NodeId a, NodeId b) { return position_[a] < position_[b]; });
    fusion.nodes = std::move(group.nodes);
    for (const NodeId id : fusion.nodes) {
      const Node& node = scope_.graph.node(id);
      for (const ValueId value : node.inputs) {
        if (value == kNoValue || GroupOf(value) == index) continue;
        if (std::find(fusion.inputs.begin(), fusion.inputs.end(), value) == fusion.inputs.end())
          fusion.inputs.push_back(value);
      }
      const GraphValue& result = scope_.graph.value(node.outputs[0]);
      const bool leaves = std::any_of(result.uses.begin(), result.uses.end(),
                                      [&](const Use& use) { return group_of_[use.node] != index; });
      if (leaves || result.is_graph_output) fusion.outputs.push_back(node.outputs[0]);
    }
    return fusion;
  }

  const FusionScope& scope_;
  const std::vector<bool>& taken_;
  std::vector<uint32_t> group_of_;  // by NodeId
  std::vector<Group> groups_;
  mutable std::vector<uint32_t> position_;  // by NodeId, in scope_.order
};

}  // namespace

std::vector<Fusion> FindElementwiseGroups(const FusionScope& scope, const std::vector<bool>& taken) {
  return Grouping(scope, taken).Run();
}

}  // namespace light
