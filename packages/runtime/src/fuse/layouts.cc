// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuse/fusion.h"
#include "kernels/elementwise.h"

namespace light {
namespace {

/// Starts with every value that its producer could make with the channels last and all its readers could read so, and
/// takes back what does not fit together.
class LayoutSearch {
 public:
  explicit LayoutSearch(const FusionScope& scope)
      : scope_(scope),
        support_(scope.graph.nodes().size(), LayoutSupport::kNone),
        is_last_(scope.graph.values().size()) {}

  std::vector<bool> Run() {
    bool any = false;
    for (const NodeId id : scope_.order) any |= (support_[id] = Support(id)) == LayoutSupport::kEach;
    if (!any) return std::move(is_last_);
    for (const NodeId id : scope_.order) {
      const LayoutSupport support = support_[id];
      if (support != LayoutSupport::kEach && support != LayoutSupport::kAlike) continue;
      const ValueId result = scope_.graph.node(id).outputs[0];
      if (IsCandidate(result)) is_last_[result] = true;
    }
    for (const NodeId id : scope_.order) Settle(id);
    return std::move(is_last_);
  }

 private:
  LayoutSupport Support(NodeId id) const {
    const KernelRegistration* registration = scope_.Registration(id);
    if (registration == nullptr) return LayoutSupport::kNone;
    const Node& node = scope_.graph.node(id);
    const auto is_omitted = [](const std::vector<ValueId>& values) { return values.empty() || values[0] == kNoValue; };
    if (is_omitted(node.inputs) || is_omitted(node.outputs)) return LayoutSupport::kNone;
    if (registration->is_elementwise) return IsPlainElementwise(node) ? LayoutSupport::kAlike : LayoutSupport::kNone;
    return registration->layout_support != nullptr ? registration->layout_support(scope_.InfoOf(node))
                                                   : LayoutSupport::kNone;
  }

  /// True if the node's operands are single elements or all have the channels, height and width of the result, as far
  /// as these are known.
  bool IsPlainElementwise(const Node& node) const {
    const auto* kernel = dynamic_cast<const ElementwiseKernel*>(scope_.kernels[node.id].get());
    if (kernel == nullptr || kernel->tile_inputs() == 0 || node.outputs.size() != 1) return false;
    const auto operands = Operands(node);
    return !operands.empty() && (operands.size() == 1 || std::all_of(operands.begin(), operands.end(), [&](ValueId id) {
                                   return HasSameImages(id, node.outputs[0]);
                                 }));
  }

  bool HasSameImages(ValueId a, ValueId b) const {
    const Shape& x = scope_.graph.value(a).type.shape;
    const Shape& y = scope_.graph.value(b).type.shape;
    if (!x.has_rank() || !y.has_rank() || x.rank() != 4 || y.rank() != 4) return false;
    for (std::size_t d = 1; d < 4; ++d)
      if (!x[d].is_known() || x[d] != y[d]) return false;
    return true;
  }

  /// The inputs whose layout matters.
  std::vector<ValueId> Operands(const Node& node) const {
    std::vector<ValueId> operands;
    const KernelRegistration* registration = scope_.Registration(node.id);
    if (!registration->is_elementwise) {
      operands.push_back(node.inputs[0]);
      return operands;
    }
    for (const ValueId id : node.inputs)
      if (id != kNoValue && !IsScalar(id)) operands.push_back(id);
    return operands;
  }

  bool IsScalar(ValueId id) const {
    if (scope_.constants[id] != nullptr)
      return scope_.constants[id]->is_tensor() && scope_.constants[id]->tensor().element_count() == 1;
    const Shape& shape = scope_.graph.value(id).type.shape;
    return shape.has_rank() && shape.rank() == 0;
  }

  bool IsCandidate(ValueId id) const {
    const GraphValue& value = scope_.graph.value(id);
    if (value.is_graph_output || !scope_.IsFloat(id) || value.uses.empty()) return false;
    if (!value.type.shape.has_rank() || value.type.shape.rank() != 4) return false;
    return std::all_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      if (support_[use.node] == LayoutSupport::kNone) return false;
      const Node& node = scope_.graph.node(use.node);
      if (use.input >= node.inputs.size()) return false;  // a subgraph's
      return use.input == 0 || scope_.Registration(use.node)->is_elementwise;
    });
  }

  /// If one of a node's tensors that must lie alike has its channels second, all have, and so on.
  void Settle(NodeId start) {
    std::vector<NodeId> pending = {start};
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (support_[id] != LayoutSupport::kAlike) continue;
      const Node& node = scope_.graph.node(id);
      std::vector<ValueId> tensors = Operands(node);
      tensors.push_back(node.outputs[0]);
      if (std::all_of(tensors.begin(), tensors.end(), [&](ValueId value) { return is_last_[value]; })) continue;
      for (const ValueId value : tensors) {
        if (!is_last_[value]) continue;
        is_last_[value] = false;
        pending.push_back(scope_.graph.value(value).producer);
        for (const Use& use : scope_.graph.value(value).uses) pending.push_back(use.node);
      }
    }
  }

  const FusionScope& scope_;
  std::vector<LayoutSupport> support_;  // by NodeId
  std::vector<bool> is_last_;           // by ValueId
};

}  // namespace

std::vector<bool> FindChannelsLast(const FusionScope& scope) { return LayoutSearch(scope).Run(); }

}  // namespace light
