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

/// True for strings, also in sequences and optionals.
bool IsText(const light::ValueType& type) noexcept;

using HidesNode = std::function<bool(const light::Node&)>;

/// The whole graph without its Constant nodes.
/// @param hides  nodes that the provider is not to see, may be null: what they and the others share is an input or an
///               output, strings that only they touch go with them
GraphBoundary BoundaryOf(const light::Graph& graph, const HidesNode& hides = nullptr);
/// Some nodes as a graph of their own, listed in any order. Constants, those of graphs further out too, are no inputs;
/// inputs are in the order of first use, inputs of the graph at the places that they have there.
GraphBoundary BoundaryOfNodes(const light::GraphOffer& offer, std::span<const light::NodeId> nodes);
/// A group that is run as one step: its inputs and outputs are those of the step.
GraphBoundary BoundaryOfPartition(const light::Graph& graph, const light::PartitionShape& shape);

/// The tensor of an initializer; nothing if it is none.
std::optional<light::Tensor> InitializerTensor(const light::Graph& graph, const light::GraphValue& value);

}  // namespace ort_host
