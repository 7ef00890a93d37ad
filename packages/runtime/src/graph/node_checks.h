// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "graph/graph_draft.h"
#include "light/operator_schema.h"

namespace light {

/// Gives nodes their schemas and checks what can be checked without types.
class NodeChecks {
 public:
  explicit NodeChecks(const SchemaSet& schemas) : schemas_(schemas) {}

  /// Sets `schema` and `since_version` from the opset imports of the body that the node was written in.
  /// Throws Error: kInvalidGraph (no import, no such operator in an ONNX domain, deprecated), kNotImplemented (operator
  /// of another domain that no schema knows).
  void SelectSchema(Node& node, const CallFrame& frame);
  /// Checks the number of arguments, omitted ones and attributes. Throws Error (kInvalidGraph).
  void Check(const GraphDraft& graph, const Node& node) const;

 private:
  [[noreturn]] void FailUnknown(const Node& node, int64_t version) const;

  const SchemaSet& schemas_;
  // The last domain that was looked up: nodes of one domain come in long runs.
  const CallFrame* last_frame_ = nullptr;
  std::string last_domain_;
  int64_t last_version_ = 0;

  int64_t ImportedVersion(const Node& node, const CallFrame& frame);
};

}  // namespace light
