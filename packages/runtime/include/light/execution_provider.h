// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "light/graph_offer.h"
#include "light/kernel_registry.h"
#include "light/partition.h"

namespace light {

/// What a provider wants of a graph.
struct Proposals {
  std::vector<PartitionProposal> partitions;  ///< groups to run as one step
  std::vector<NodeId> nodes;                  ///< one by one, with kernels that FindKernel gives
  std::vector<NodeId> hidden = {};            ///< nodes that the provider was not shown
};

/// Somebody who takes nodes of a graph: single nodes with kernels of its own, or whole groups.
class ExecutionProvider {
 public:
  virtual ~ExecutionProvider() = default;
  virtual const std::string& name() const noexcept = 0;
  /// What becomes of its groups that cannot be run as one step.
  virtual BrokenGroups broken_groups() const noexcept { return BrokenGroups::kRefuse; }
  /// Asked once for each graph, for subgraphs before the graph around them.
  virtual Proposals Propose(const GraphOffer& offer) = 0;
  /// Why Propose, which was called for the graph last, did not want the node. For people.
  virtual std::string WhyNot(const GraphOffer& offer, const Node& node) = 0;
  /// The kernel for a node; nullptr if there is none, and then `why` says so. The entry lives as long as the provider.
  virtual const KernelEntry* FindKernel(const Graph& graph, const Node& node, std::string* why) = 0;
  /// One partition per shape, in order. All or nothing: on failure it throws and has released what it made.
  virtual std::vector<std::unique_ptr<Partition>> Compile(const GraphOffer& offer,
                                                          const std::vector<PartitionShape>& shapes) = 0;
};

}  // namespace light
