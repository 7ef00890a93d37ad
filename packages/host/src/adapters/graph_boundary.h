// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "light/execution_provider.h"

namespace ort_host {

/// Which part of a graph a provider sees, and what it calls inputs and outputs of it.
struct GraphBoundary {
  std::vector<light::NodeId> nodes;  ///< in an order in which they can run
  std::vector<light::ValueId> inputs;
  std::vector<light::ValueId> outputs;
  std::vector<light::ValueId> initializers;
};

/// True for a node whose output a provider sees as an initializer, and which it does not see as a node: providers look
/// for constants in initializers alone.
bool IsConstantNode(const light::Node& node) noexcept;

using HidesNode = std::function<bool(const light::Node&)>;

/// The whole graph without its Constant nodes.
/// @param hides  nodes that the provider is not to see, may be null; strings that only such nodes touch go with them
GraphBoundary BoundaryOf(const light::Graph& graph, const HidesNode& hides = nullptr);
/// Some nodes as a graph of their own, listed in any order. Constants, those of graphs further out too, are no inputs;
/// inputs are in the order of first use, inputs of the graph at the places that they have there.
GraphBoundary BoundaryOfNodes(const light::GraphOffer& offer, std::span<const light::NodeId> nodes);
/// A group that is run as one step: its inputs and outputs are those of the step.
GraphBoundary BoundaryOfPartition(const light::Graph& graph, const light::PartitionShape& shape);

/// True if the value is an initializer of this graph for a provider, overridable ones included.
bool IsInitializer(const light::Graph& graph, const light::GraphValue& value) noexcept;
/// Its tensor; nothing if it is no initializer.
std::optional<light::Tensor> InitializerTensor(const light::Graph& graph, const light::GraphValue& value);

/// Where a value comes from: a captured one belongs to a graph further out.
struct ValueSource {
  const light::Graph& graph;
  const light::GraphValue& value;
};
ValueSource SourceOf(const light::GraphOffer& offer, light::ValueId id) noexcept;
/// True if it comes from an initializer that nobody can feed instead.
bool IsConstant(const light::GraphOffer& offer, light::ValueId id) noexcept;

}  // namespace ort_host
