// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "graph/function_inliner.h"
#include "graph/graph_draft.h"

namespace light {

/// Makes drafts from definitions: names become ids, subgraphs are built with what they capture, nodes are put in an
/// order in which they can run.
class NameResolver {
 public:
  NameResolver(FunctionInliner& inliner, int64_t ir_version, const std::function<void(const std::string&)>& warn)
      : inliner_(inliner), ir_version_(ir_version), warn_(warn) {}

  /// Throws Error (kInvalidGraph): a name that is defined twice or never, a cycle.
  std::unique_ptr<GraphDraft> Resolve(GraphDef def, const CallFrame* frame, GraphDraft* outer);

 private:
  ValueId Declare(GraphDraft& graph, std::string name, GraphValue::Origin origin);
  ValueId Lookup(GraphDraft& graph, const std::string& name);
  void DeclareBoundary(GraphDraft& graph, GraphDef& def);
  void DeclareNode(GraphDraft& graph, NodeDef& def, const CallFrame* frame);
  void ResolveNode(GraphDraft& graph, NodeId id, const std::vector<std::string>& inputs);
  void ResolveBodies(GraphDraft& graph, NodeId id);
  void ResolveOutputs(GraphDraft& graph, std::vector<ValueInfoDef>& outputs);

  FunctionInliner& inliner_;
  int64_t ir_version_;
  const std::function<void(const std::string&)>& warn_;
};

/// Puts the nodes in an order in which each comes after what it reads, keeping the given order where it can, and fills
/// in ids, producers and uses. Throws Error (kInvalidGraph) for a cycle, naming its nodes.
void OrderNodes(GraphDraft& graph);

}  // namespace light
