// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/graph.h"

namespace light {

struct Assignment;

/// A graph as a provider is asked about it.
struct GraphOffer {
  const Graph& graph;
  /// Who has which node so far; a node that nobody has yet has no provider. Bodies likewise.
  const Assignment& assignment;
  const GraphOffer* outer = nullptr;  ///< of a subgraph: the graph around it
  NodeId parent = kNoNode;            ///< of a subgraph: the node of `outer` that it belongs to
};

/// The one attribute of a Constant node; null for any other node and for kinds that no dense tensor comes from.
const Attribute* ConstantAttribute(const Node& node) noexcept;
/// True for a node whose output a provider sees as an initializer, and which it does not see as a node: providers look
/// for constants in initializers alone.
bool IsConstantNode(const Node& node) noexcept;
/// True if the value is an initializer of this graph for a provider, overridable ones included.
bool IsInitializer(const Graph& graph, const GraphValue& value) noexcept;

/// Where a value comes from: a captured one belongs to a graph further out.
struct ValueSource {
  const Graph& graph;
  const GraphValue& value;
};
ValueSource SourceOf(const GraphOffer& offer, ValueId id) noexcept;
/// True if it comes from an initializer that nobody can feed instead.
bool IsConstant(const GraphOffer& offer, ValueId id) noexcept;

}  // namespace light
