// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>

#include "adapters/kinds.h"
#include "light/execution_provider.h"

namespace ort_host {

class GraphAdapter;

/// Behind OrtNode: a node of a graph that a provider looks at. Belongs to its graph.
class NodeAdapter final : public AdapterBase {
 public:
  NodeAdapter(const GraphAdapter& graph, const light::Node& node)
      : AdapterBase(kNodeKind), graph_(graph), node_(node) {}
  NodeAdapter(const NodeAdapter&) = delete;

  const GraphAdapter& graph() const noexcept { return graph_; }
  const light::Node& node() const noexcept { return node_; }

 private:
  const GraphAdapter& graph_;
  const light::Node& node_;
};

/// Behind OrtGraph: a graph that is offered to a provider. What is reached from it lives as long.
class GraphAdapter final : public AdapterBase {
 public:
  /// @param offer  outlives the adapter
  /// @param model_path  as the application gave it; "" for a model from memory
  GraphAdapter(const light::GraphOffer& offer, const std::string& model_path);
  GraphAdapter(const GraphAdapter&) = delete;

  const light::GraphOffer& offer() const noexcept { return offer_; }
  const light::Graph& graph() const noexcept { return offer_.graph; }

 private:
  const light::GraphOffer& offer_;
  const std::string& model_path_;
  std::deque<NodeAdapter> nodes_;  // by NodeId
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtGraph, GraphAdapter, kGraphKind, "graph");
ORT_HOST_HANDLE(OrtNode, NodeAdapter, kNodeKind, "node");
