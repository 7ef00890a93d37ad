// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "fuse/fusion.h"
#include "kernels/elementwise.h"

namespace light {
namespace {

/// The extents of images, by number: those of one number are equal in every run. That follows from how they are made,
/// not from what a model declares, which need not be so.
class Images {
 public:
  struct Image {
    int64_t channels, height, width;
    bool operator==(const Image&) const = default;
  };

  explicit Images(const FusionScope& scope) : scope_(scope) {}

  Image Of(ValueId id) {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    return {Extent({kOwn, id, 1}), Extent({kOwn, id, 2}), Extent({kOwn, id, 3})};
  }
  void Set(ValueId id, const Image& image) { known_.emplace(id, image); }

  /// What a window makes of the first input of Conv or of a pooling operator; nothing is known of one that rounds up.
  void SetWindowed(const Node& node) {
    const KernelInfo info = scope_.InfoOf(node);
    std::vector<int64_t> kernel = info.Ints("kernel_shape");
    Image image = Of(node.inputs[0]);
    if (node.op_type == "Conv") {
      const Tensor& weights = *info.ConstantInput(1);
      kernel = {weights.dim(2), weights.dim(3)};
      image.channels = Extent({kNumber, weights.dim(0), 0});
    }
    const std::vector<int64_t> strides = info.Ints("strides", {1, 1}), dilations = info.Ints("dilations", {1, 1});
    const std::string mode = info.String("auto_pad", "NOTSET");
    const std::vector<int64_t> none = {0, 0, 0, 0}, pads = mode == "VALID" ? none : info.Ints("pads", none);
    if (info.Int("ceil_mode", 0) != 0 || kernel.size() != 2 || strides.size() != 2 || dilations.size() != 2 ||
        pads.size() != 4)
      return;
    constexpr int64_t kMost = int64_t{1} << 31;  // what is larger, the kernel refuses
    for (const std::vector<int64_t>& values : {kernel, strides, dilations, pads})
      if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0 || value >= kMost; })) return;
    for (std::size_t d = 0; d < 2; ++d) {
      int64_t& extent = d == 0 ? image.height : image.width;
      // Of n there come to be floor((n + more - 1) / stride) + 1; the SAME modes make `more` 0.
      const int64_t more = mode.starts_with("SAME") ? 0 : pads[d] + pads[d + 2] - dilations[d] * (kernel[d] - 1);
      if (more != 0 || strides[d] != 1) extent = Extent({extent, more, strides[d]});
    }
    Set(node.outputs[0], image);
  }

 private:
  static constexpr int64_t kOwn = -1, kNumber = -2;  // beside extents that a window is moved over
  using Origin = std::array<int64_t, 3>;

  int64_t Extent(const Origin& origin) {
    return numbers_.try_emplace(origin, static_cast<int64_t>(numbers_.size())).first->second;
  }

  const FusionScope& scope_;
  std::unordered_map<ValueId, Image> known_;
  std::map<Origin, int64_t> numbers_;
};

/// Starts with every value that its producer could make with the channels last and all its readers could read so, and
/// takes back what does not fit together.
class LayoutSearch {
 public:
  explicit LayoutSearch(const FusionScope& scope)
      : scope_(scope),
        images_(scope),
        support_(scope.graph.nodes().size(), LayoutSupport::kNone),
        is_last_(scope.graph.values().size()) {}

  std::vector<bool> Run() {
    for (const NodeId id : scope_.order) support_[id] = Support(id);
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
  LayoutSupport Support(NodeId id) {
    const KernelRegistration* registration = scope_.Registration(id);
    if (registration == nullptr) return LayoutSupport::kNone;
    const Node& node = scope_.graph.node(id);
    const auto is_omitted = [](const std::vector<ValueId>& values) { return values.empty() || values[0] == kNoValue; };
    if (is_omitted(node.inputs) || is_omitted(node.outputs)) return LayoutSupport::kNone;
    if (registration->is_elementwise) return IsPlainElementwise(node) ? LayoutSupport::kAlike : LayoutSupport::kNone;
    if (registration->layout_support == nullptr) return LayoutSupport::kNone;
    const LayoutSupport support = registration->layout_support(scope_.InfoOf(node));
    if (support == LayoutSupport::kEach || support == LayoutSupport::kAlike) images_.SetWindowed(node);
    return support;
  }

  /// True if the node's operands are single elements, or all have the channels, height and width of the result.
  bool IsPlainElementwise(const Node& node) {
    const auto* kernel = dynamic_cast<const ElementwiseKernel*>(scope_.kernels[node.id].get());
    if (kernel == nullptr || kernel->tile_inputs() == 0 || node.outputs.size() != 1) return false;
    const auto operands = Operands(node);
    if (operands.empty()) return false;
    const Images::Image image = images_.Of(operands[0]);
    if (!std::all_of(operands.begin(), operands.end(), [&](ValueId id) { return images_.Of(id) == image; }))
      return false;
    images_.Set(node.outputs[0], image);
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

  /// True if the operand is one element in every run. What a model declares to be one need not be.
  bool IsScalar(ValueId id) const {
    if (scope_.constants[id] == nullptr || !scope_.constants[id]->is_tensor()) return false;
    const Tensor& tensor = scope_.constants[id]->tensor();
    return tensor.element_count() == 1 && tensor.rank() <= 4;
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
  Images images_;
  std::vector<LayoutSupport> support_;  // by NodeId
  std::vector<bool> is_last_;           // by ValueId
};

}  // namespace

std::vector<bool> FindChannelsLast(const FusionScope& scope) {
  const auto can_begin = [&scope](NodeId id) {
    const KernelRegistration* registration = scope.Registration(id);
    return registration != nullptr && registration->layout_support != nullptr &&
           registration->layout_support(scope.InfoOf(scope.graph.node(id))) == LayoutSupport::kEach;
  };
  // Most graphs have no such node, and should not pay for the search.
  if (std::none_of(scope.order.begin(), scope.order.end(), can_begin)) return {};
  return LayoutSearch(scope).Run();
}

}  // namespace light
