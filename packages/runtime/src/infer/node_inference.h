// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/graph_draft.h"
#include "light/function_ref.h"
#include "light/inference.h"

namespace light {

/// The inference of the nodes of one draft, one after the other.
class NodeInference final : public InferenceContext {
 public:
  /// Infers the body in a graph attribute of a node with these input types; returns its output types.
  using InferBodyFn = FunctionRef<std::vector<ValueType>(const Node&, DraftBody&, std::span<const ValueType>)>;

  NodeInference(GraphDraft& graph, InferBodyFn infer_body) : graph_(graph), infer_body_(infer_body) {}

  /// Applies the generic rule and the operator's own hook. Returns the output types, valid until the next call.
  /// Throws Error (kInvalidGraph), prefixed by the node.
  std::vector<ValueType>& Infer(const Node& node);

  const Node& node() const override { return *node_; }
  const ValueType* Input(std::size_t i) const override;
  const Tensor* ConstantInput(std::size_t i) const override;
  const Attribute* FindAttribute(std::string_view name) const override;
  const ValueType& Output(std::size_t i) const override { return outputs_[i]; }
  // A hook may speak of outputs that this node does not have or omits.
  void SetOutputType(std::size_t i, ValueType type) override;
  void SetOutputElement(std::size_t i, ElementType element) override;
  void SetOutputShape(std::size_t i, Shape shape) override;
  std::vector<ValueType> InferSubgraph(std::string_view attribute, std::span<const ValueType> inputs) override;

 private:
  GraphDraft& graph_;
  InferBodyFn infer_body_;
  const Node* node_ = nullptr;
  std::vector<const ValueType*> inputs_;
  std::vector<ValueType> outputs_;
};

}  // namespace light
