// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/fold.h"
#include "kernels/epilogue.h"
#include "light/assignment.h"

namespace light {

/// Nodes of one graph that run as one step.
struct Fusion {
  enum class Kind : uint8_t {
    kProduct,      ///< the first node does what the others do to its result as its epilogue
    kElementwise,  ///< all are elementwise, and walk tiles together
    kSiblings,     ///< products of one left side, each with those that follow it, as one loop
  };
  /// One of several products.
  struct Sibling {
    uint32_t product = 0;  ///< its position among the nodes
    int bias_input = -1;   ///< of the step, or -1
    bool relu = false;
  };
  static constexpr std::size_t kMostSiblings = 8;

  Kind kind;
  std::vector<NodeId> nodes;  ///< in an order in which they can run
  Epilogue epilogue;
  std::vector<ValueId> inputs;  ///< of products first their left side, of a single one those of its node
  std::vector<ValueId> outputs;
  std::vector<Sibling> siblings;
  int64_t depth = 0;  ///< of siblings: the extents [depth, width] of each right side
  int64_t width = 0;

  /// The node that the step counts as: the first product, or the last node.
  NodeId lead() const noexcept { return kind == Kind::kElementwise ? nodes.back() : nodes.front(); }
  /// True if the step takes the place of the first of its nodes, else that of the last one.
  bool runs_early() const noexcept { return kind == Kind::kSiblings; }
};

/// A graph whose nodes are assigned, and whose constants are computed.
struct FusionScope {
  const Graph& graph;
  const Assignment& assignment;
  const ConstantTable& constants;
  /// By NodeId: the kernels that were made ahead, which are those of elementwise nodes at least.
  std::span<const std::unique_ptr<KernelBase>> kernels;
  /// The nodes that are left to run, of partitions too, in an order in which they can run. A step takes the place of
  /// its last node, unless it runs early.
  std::span<const NodeId> order;

  bool IsFloat(ValueId value) const;
  /// The registration of the kernel of a node that is not part of a partition, else nullptr.
  const KernelRegistration* Registration(NodeId node) const;
  KernelInfo InfoOf(const Node& node) const { return KernelInfo(graph, node, nullptr, &constants); }
};

/// False if the extents differ for all that is known, or are called by different names.
bool MayBeEqual(const Shape& a, const Shape& b);

/// Finds products with nodes that their kernels can do as an epilogue: values in between have no other use.
std::vector<Fusion> FindEpilogues(const FusionScope& scope);

/// Joins the products among those and all others that have a left side in common, and constants of equal extents.
void JoinSiblings(const FusionScope& scope, std::vector<Fusion>& fusions);

/// Finds groups of connected elementwise nodes among those that are not `taken` (by NodeId).
std::vector<Fusion> FindElementwiseGroups(const FusionScope& scope, const std::vector<bool>& taken);

/// By ValueId: the values that lie with their channels last in memory (Layouts), so that no kernel of a chain of
/// convolutions has to turn them around. Empty if there is no convolution that could.
std::vector<bool> FindChannelsLast(const FusionScope& scope);

}  // namespace light
