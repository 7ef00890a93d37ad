// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "light/graph.h"

namespace light {

struct GraphBuilderOptions {
  /// Called with one line for what is odd and not wrong (an opset newer than the schemas, a value_info that
  /// contradicts inference). May be empty.
  std::function<void(const std::string&)> warn;
};

/// Turns a ModelDef into a Graph: checks opset imports, inlines model-local functions (each body under its own opset
/// imports), resolves names and captures, orders the nodes, selects each node's schema, checks arity and attributes,
/// infers types and shapes.
class GraphBuilder {
 public:
  explicit GraphBuilder(const SchemaSet& schemas, GraphBuilderOptions options = {})
      : schemas_(schemas), options_(std::move(options)) {}

  /// Throws Error: kInvalidGraph (names the node, the value and the rule), kFail (an operator outside ONNX's domains
  /// that no schema knows, or not at the imported version; an element type that cannot be resolved).
  std::shared_ptr<const Graph> Build(ModelDef model) const;

 private:
  const SchemaSet& schemas_;
  GraphBuilderOptions options_;
};

}  // namespace light
