// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph_draft.h"
#include "light/model_def.h"

namespace light {

/// A node together with the body that it was written in.
struct FlatNode {
  NodeDef def;
  const CallFrame* frame;
};

/// Replaces calls of model-local functions by their bodies. A body keeps its own opset imports; its values get names
/// that start with the calling node's and are unique in the model. Lives as long as the frames that it hands out are
/// used.
class FunctionInliner {
 public:
  /// Throws Error (kInvalidGraph) if a function occurs twice.
  FunctionInliner(std::vector<FunctionDef> functions, const GraphDef& graph, const OpsetImports& model_imports);

  /// The frame of the model's own graph.
  const CallFrame* root() const noexcept { return &root_; }
  /// True if there is anything to inline.
  bool has_functions() const noexcept { return !functions_.empty(); }

  /// Appends `nodes`, written in `frame`, to `out`, calls expanded. Calls in subgraphs are left for when those are
  /// built. Throws Error: kInvalidGraph (recursion, too many arguments, an unknown attribute), kNotImplemented (too
  /// large).
  void Expand(std::vector<NodeDef> nodes, const CallFrame* frame, std::vector<FlatNode>& out);

 private:
  struct Call;

  const FunctionDef* Find(const NodeDef& node) const;
  void ExpandCall(const NodeDef& call, const FunctionDef& function, const CallFrame* frame, std::vector<FlatNode>& out);
  Call Bind(const NodeDef& node, const FunctionDef& function);
  NodeDef Instantiate(const NodeDef& node, Call& call);
  GraphDef Instantiate(const GraphDef& graph, Call& call);
  std::vector<Attribute> Instantiate(const std::vector<Attribute>& attributes, Call& call);
  std::string Rename(const std::string& name, Call& call);
  std::string Unique(std::string name);
  void Charge(std::size_t nodes, std::size_t bytes);

  std::vector<FunctionDef> functions_;
  std::unordered_map<std::string, const FunctionDef*> by_key_;  // domain, name and overload
  OpsetImports model_imports_;
  CallFrame root_;
  std::deque<CallFrame> frames_;
  std::unordered_set<std::string> names_;          // every value and prefix of the model so far
  std::unordered_map<std::string, int> suffixes_;  // last number that made a name unique
  std::size_t expanded_nodes_ = 0;
  std::size_t expanded_bytes_ = 0;
};

}  // namespace light
