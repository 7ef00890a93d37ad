// SPDX-License-Identifier: Apache-2.0
#include "fuse/fusion.h"
#include "kernels/elementwise.h"

namespace light {
namespace {

/// Follows the result of one product.
class Follower {
 public:
  /// @param taken  by NodeId: nodes that are part of another fusion
  Follower(const FusionScope& scope, const std::vector<bool>& taken, const Node& product)
      : scope_(scope), taken_(taken), support_(scope.Registration(product.id)->epilogue), result_(product.outputs[0]) {
    fusion_.kind = Fusion::Kind::kProduct;
    fusion_.nodes = {product.id};
    fusion_.inputs = product.inputs;
    fusion_.inputs.resize(product.schema->inputs.size(), kNoValue);  // an omitted input stays omitted
  }

  Fusion Follow() {
    while (!fusion_.epilogue.relu && Absorb()) {
    }
    fusion_.outputs = {result_};
    return std::move(fusion_);
  }

 private:
  bool Absorb() {
    const GraphValue& value = scope_.graph.value(result_);
    if (value.is_graph_output || value.uses.size() != 1) return false;
    const Use use = value.uses[0];
    const Node& node = scope_.graph.node(use.node);
    const KernelRegistration* registration = scope_.Registration(use.node);
    if (registration == nullptr || !registration->is_elementwise || use.input >= node.inputs.size()) return false;
    if (taken_[use.node]) return false;  // of two products that are added, the first has the sum
    const auto* kernel = dynamic_cast<const ElementwiseKernel*>(scope_.kernels[use.node].get());
    if (kernel == nullptr || kernel->tile_inputs() == 0) return false;
    if (registration->op_type == "Relu" ? !AbsorbRelu() : registration->op_type != "Add" || !AbsorbAdd(node, use))
      return false;
    fusion_.nodes.push_back(use.node);
    result_ = node.outputs[0];
    return true;
  }

  bool AbsorbRelu() { return fusion_.epilogue.relu = support_.relu; }

  bool AbsorbAdd(const Node& node, const Use& use) {
    const ValueId other = node.inputs[1 - use.input];
    if (support_.bias && fusion_.nodes.size() == 1 && IsRow(other)) {
      fusion_.epilogue.bias_input = AddInput(other);
      return true;
    }
    if (!support_.residual || fusion_.epilogue.residual_input >= 0) return false;
    if (!MayBeEqual(scope_.graph.value(other).type.shape, scope_.graph.value(result_).type.shape)) return false;
    fusion_.epilogue.residual_input = AddInput(other);
    return true;
  }

  /// A constant that is added to every row of the result.
  bool IsRow(ValueId id) const {
    if (scope_.constants[id] == nullptr || !scope_.constants[id]->is_tensor()) return false;
    const Tensor& row = scope_.constants[id]->tensor();
    const Shape& shape = scope_.graph.value(result_).type.shape;
    if (row.rank() == 0 || row.element_count() != row.dim(row.rank() - 1)) return false;
    return shape.has_rank() && shape.rank() >= row.rank() && shape[shape.rank() - 1] == Dim(row.element_count());
  }

  int AddInput(ValueId id) {
    fusion_.inputs.push_back(id);
    return static_cast<int>(fusion_.inputs.size()) - 1;
  }

  const FusionScope& scope_;
  const std::vector<bool>& taken_;
  const EpilogueSupport support_;
  ValueId result_;
  Fusion fusion_;
};

}  // namespace

std::vector<Fusion> FindEpilogues(const FusionScope& scope) {
  std::vector<Fusion> found;
  std::vector<bool> taken(scope.graph.nodes().size());
  for (const NodeId id : scope.order) {
    const KernelRegistration* registration = scope.Registration(id);
    if (registration == nullptr) continue;
    const EpilogueSupport& support = registration->epilogue;
    const Node& node = scope.graph.node(id);
    if (!(support.bias || support.residual || support.relu) || !scope.IsFloat(node.outputs[0])) continue;
    Fusion fusion = Follower(scope, taken, node).Follow();
    if (fusion.nodes.size() < 2) continue;
    for (const NodeId member : fusion.nodes) taken[member] = true;
    found.push_back(std::move(fusion));
  }
  return found;
}

}  // namespace light
