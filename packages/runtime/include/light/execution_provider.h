// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "light/kernel_registry.h"
#include "light/partition.h"

namespace light {

/// Somebody who takes nodes of a graph: single nodes with kernels of its own, or whole groups.
class ExecutionProvider {
 public:
  virtual ~ExecutionProvider() = default;
  virtual const std::string& name() const noexcept = 0;
  /// Nodes that it wants, as groups to run as one step. `taken[id]` is true for nodes that somebody before it has.
  virtual std::vector<PartitionProposal> ProposePartitions(const Graph& graph, const std::vector<bool>& taken) = 0;
  /// Nodes that it wants one by one, with kernels from kernels().
  virtual std::vector<NodeId> ProposeNodes(const Graph& graph, const std::vector<bool>& taken) = 0;
  virtual const KernelRegistry* kernels() const noexcept = 0;
  /// One partition per shape, in order. All or nothing: on failure it throws and has released what it made.
  virtual std::vector<std::unique_ptr<Partition>> Compile(const Graph& graph,
                                                          const std::vector<PartitionShape>& shapes) = 0;
};

}  // namespace light
