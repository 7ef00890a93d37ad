// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "light/error.h"
#include "light/graph.h"

namespace light {

/// Which body a node was written in: the main graph (no function), or a function that was inlined.
struct CallFrame {
  const OpsetImports* imports = nullptr;
  const FunctionDef* function = nullptr;
  const CallFrame* caller = nullptr;
};

struct GraphDraft;

/// A subgraph of a node that is being built.
struct DraftBody {
  std::string attribute;
  std::unique_ptr<GraphDraft> graph;
};

/// A graph while GraphBuilder works on it: what Graph holds, writable, and what only the building needs.
struct GraphDraft {
  GraphDraft* outer = nullptr;
  std::string name;
  std::string doc_string;
  std::vector<Node> nodes;
  std::vector<GraphValue> values;  // `type` holds the declared type until inference reaches the value
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<ValueId> initializers;
  std::vector<ValueId> captures;
  std::unordered_map<std::string, ValueId> by_name;

  std::vector<const CallFrame*> frames;        // by node
  std::vector<std::vector<DraftBody>> bodies;  // by node; empty if no node has any
  std::vector<const Tensor*> constants;        // by value: what inference knows of its elements, or nullptr
  std::deque<Tensor> computed_constants;       // owns those that are no initializer and no attribute
  bool is_inferred = false;

  DraftBody* FindBody(NodeId node, std::string_view attribute) {
    if (bodies.empty()) return nullptr;
    for (DraftBody& body : bodies[node]) {
      if (body.attribute == attribute) return &body;
    }
    return nullptr;
  }
};

/// Throws Error: `node <label>: <what>`.
[[noreturn]] inline void FailNode(const Node& node, ErrorCode code, const std::string& what) {
  const bool is_foreign = node.schema != nullptr && !node.schema->source.empty();
  throw Error(code, "node " + node.Label() + (is_foreign ? " of " + node.schema->source : "") + ": " + what);
}

}  // namespace light
