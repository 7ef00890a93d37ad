// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "light/graph_offer.h"
#include "light/memory_budget.h"
#include "light/runtime_context.h"

namespace light {

/// Nodes of one graph that run as one step, as somebody proposes them.
struct PartitionProposal {
  std::string name;
  std::vector<NodeId> nodes;
  bool drop_constant_initializers = false;  ///< the step does not receive constant initializers as inputs
};

/// A proposal after validation: its boundary in a deterministic order.
struct PartitionShape {
  PartitionProposal proposal;
  std::vector<NodeId> nodes;       ///< in the graph's order
  std::vector<ValueId> inputs;     ///< first use first; captures of its control-flow nodes included
  std::vector<ValueId> constants;  ///< constant initializers, of outer graphs too, that were dropped from `inputs`
  std::vector<ValueId> outputs;    ///< used outside or graph outputs, in the order they are produced
};

/// What becomes of a group that cannot be run as one step: its nodes depend on each other through nodes outside of it,
/// it waits for a group that waits for it, or it shares nodes with one.
enum class BrokenGroups : uint8_t {
  kRefuse,  ///< an error of ValidatePartitions
  kSplit,   ///< parts that can run one after another become groups of their own, without the shared nodes
  kDrop,    ///< the provider does not get these nodes
};

/// Splits or drops such groups; each is judged beside those before it. A group that is broken only through `hidden`
/// nodes, which its provider could not know of, is split whatever the policy. `notes` gets a line for each, naming the
/// nodes. With kRefuse the result ends at the first broken group.
std::vector<PartitionProposal> MendGroups(const Graph& graph, std::vector<PartitionProposal> proposals,
                                          BrokenGroups policy, const std::vector<NodeId>& hidden,
                                          std::vector<std::string>& notes);

/// Checks proposals against the graph and each other and works out their boundaries. Nothing is changed.
/// Throws Error (kInvalidGraph), naming the nodes: a node that the graph does not have, an empty proposal, one node
/// twice, overlap, a cycle through a node outside (with the path) or through other proposals.
std::vector<PartitionShape> ValidatePartitions(const GraphOffer& offer, std::vector<PartitionProposal> proposals);

/// Compiled by somebody else, run as one step. May run on several threads at once.
class Partition {
 public:
  virtual ~Partition() = default;
  /// Called once, when all nodes of the model are assigned. `budget` is charged for what it holds; may be null.
  /// Throws Error.
  virtual void Prepare(MemoryBudget* budget) { static_cast<void>(budget); }
  /// Inputs and outputs of the context are PartitionShape::inputs and ::outputs.
  virtual void Run(RuntimeContext& context) = 0;
};

}  // namespace light
