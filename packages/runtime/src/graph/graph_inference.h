// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph_draft.h"
#include "graph/node_checks.h"

namespace light {

/// Walks a draft in run order: schemas, checks, types and shapes of every node, bodies included.
class GraphInference {
 public:
  GraphInference(const SchemaSet& schemas, const std::function<void(const std::string&)>& warn)
      : checks_(schemas), warn_(warn) {}

  /// Throws Error: as NodeChecks; kInvalidGraph (wrong types), kFail (an element type that cannot be resolved).
  void Infer(GraphDraft& graph);

 private:
  std::vector<ValueType> InferBody(GraphDraft& outer, const Node& node, DraftBody& body,
                                   std::span<const ValueType> inputs);
  void SetOutput(GraphDraft& graph, const Node& node, std::size_t i, ValueType inferred);
  ValueType Merge(const std::string& where, ValueType inferred, const ValueType& declared);

  NodeChecks checks_;
  const std::function<void(const std::string&)>& warn_;
};

}  // namespace light
