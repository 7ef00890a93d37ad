// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "light/execution_provider.h"
#include "light/kernel_registry.h"

namespace light {

inline constexpr const char* kCpuProvider = "CPUExecutionProvider";

/// Who runs one node, and why.
struct NodeAssignment {
  NodeId node = kNoNode;
  std::string provider;
  std::string kernel;  ///< kernel_name of the entry, or the partition's name
  int partition = -1;  ///< index into Assignment::partitions
  std::string reason;
  const KernelEntry* entry = nullptr;  ///< nullptr for a node of a partition
  std::string declined = {};           ///< why the providers that were asked before did not take it; "" if none was
};

struct AssignedPartition {
  PartitionShape shape;
  std::string provider;
  std::unique_ptr<Partition> partition;
};

struct Assignment {
  std::vector<NodeAssignment> nodes;  ///< by NodeId
  /// By NodeId: of the node's subgraphs, in their order. Empty for a node whose subgraphs belong to somebody else: a
  /// partition, or a hosted kernel.
  std::vector<std::vector<Assignment>> bodies;
  std::vector<AssignedPartition> partitions;
};

/// Whom to ask, in order: the providers; `overrides` (kernels that the user chose to put before ours); native kernels;
/// custom operators; the fallback.
struct AssignmentSources {
  std::vector<ExecutionProvider*> providers;
  const KernelRegistry* overrides = nullptr;
  const KernelRegistry* native = nullptr;
  const KernelRegistry* custom = nullptr;
  const KernelRegistry* (*fallback)() = nullptr;  ///< called only when there is a node that none before it takes
  /// Gets a line for each group that is split or dropped, and for nodes that a provider loses with the node around
  /// them.
  std::function<void(const std::string&)> warn = {};
};

/// Assigns every node, those of subgraphs included. Each provider in turn sees all graphs, inner ones first; it is not
/// asked about the subgraphs of a node that somebody has. Throws Error (kNotImplemented) for a node that nobody runs;
/// the message names the node, its version and types, and why each source declined.
Assignment AssignNodes(const Graph& graph, const AssignmentSources& sources);

}  // namespace light
