// SPDX-License-Identifier: Apache-2.0
#include "adapters/graph_boundary.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ort_host {
namespace {

using light::GraphValue;
using light::kNoValue;
using light::NodeId;
using light::ValueId;

template <class T>
light::Tensor MakeTensor(light::ElementType type, std::span<const int64_t> dims, std::span<const T> elements) {
  light::Tensor tensor = light::Tensor::Allocate(type, dims);
  std::copy(elements.begin(), elements.end(), tensor.Data<T>());
  return tensor;
}

template <class T>
light::Tensor Scalar(light::ElementType type, const T& element) {
  return MakeTensor<T>(type, {}, {&element, 1});
}

template <class T>
light::Tensor Vector(light::ElementType type, const std::vector<T>& elements) {
  const auto count = static_cast<int64_t>(elements.size());
  return MakeTensor<T>(type, {&count, 1}, elements);
}

light::Tensor TensorOf(const light::Attribute& attribute) {
  using Type = light::ElementType;
  using Kind = light::AttributeKind;
  switch (attribute.kind) {
    case Kind::kInt:
      return Scalar(Type::kInt64, std::get<int64_t>(attribute.data));
    case Kind::kInts:
      return Vector(Type::kInt64, std::get<std::vector<int64_t>>(attribute.data));
    case Kind::kFloat:
      return Scalar(Type::kFloat, std::get<float>(attribute.data));
    case Kind::kFloats:
      return Vector(Type::kFloat, std::get<std::vector<float>>(attribute.data));
    case Kind::kString:
      return Scalar(Type::kString, std::get<std::string>(attribute.data));
    case Kind::kStrings:
      return Vector(Type::kString, std::get<std::vector<std::string>>(attribute.data));
    default:
      return std::get<light::Tensor>(attribute.data);
  }
}

template <class F>
void ForEachRead(const light::Node& node, F&& visit) {
  for (const ValueId value : node.inputs) {
    if (value != kNoValue) visit(value);
  }
  for (const ValueId value : node.captures) visit(value);
}

/// Initializers that the nodes use, those of graphs further out excepted, in the order of first use.
std::vector<ValueId> UsedInitializers(const light::Graph& graph, std::span<const NodeId> nodes) {
  std::vector<ValueId> found;
  std::unordered_set<ValueId> seen;
  for (const NodeId id : nodes) {
    ForEachRead(graph.node(id), [&](ValueId value) {
      if (IsInitializer(graph, graph.value(value)) && seen.insert(value).second) found.push_back(value);
    });
  }
  return found;
}

/// Makes the shown nodes a graph of their own: what they read of hidden ones is an input, what hidden ones read of them
/// an output. Strings that no shown node touches are left out.
void CloseAround(const light::Graph& graph, const std::vector<bool>& is_hidden, GraphBoundary& boundary) {
  std::unordered_set<ValueId> touched;
  std::unordered_set<ValueId> inputs(boundary.inputs.begin(), boundary.inputs.end());
  std::unordered_set<ValueId> outputs(boundary.outputs.begin(), boundary.outputs.end());
  for (const NodeId id : boundary.nodes) {
    ForEachRead(graph.node(id), [&](ValueId value) {
      touched.insert(value);
      const NodeId producer = graph.value(value).producer;
      const bool is_from_hidden = producer != light::kNoNode && is_hidden[producer];
      if (is_from_hidden && inputs.insert(value).second) boundary.inputs.push_back(value);
    });
    for (const ValueId output : graph.node(id).outputs) {
      if (output == kNoValue) continue;
      touched.insert(output);
      const auto& uses = graph.value(output).uses;
      const bool is_for_hidden =
          std::any_of(uses.begin(), uses.end(), [&](const light::Use& use) { return is_hidden[use.node]; });
      if (is_for_hidden && outputs.insert(output).second) boundary.outputs.push_back(output);
    }
  }
  for (auto* values : {&boundary.inputs, &boundary.outputs, &boundary.initializers}) {
    std::erase_if(*values, [&](ValueId id) { return IsText(graph.value(id).type) && !touched.contains(id); });
  }
}

}  // namespace

bool IsText(const light::ValueType& type) noexcept {
  if (type.inner != nullptr) return IsText(*type.inner);
  return type.is_tensor() && type.element == light::ElementType::kString;
}

std::optional<light::Tensor> InitializerTensor(const light::Graph& graph, const GraphValue& value) {
  if (value.initializer != nullptr) return *value.initializer;
  if (!IsInitializer(graph, value)) return std::nullopt;
  return TensorOf(*ConstantAttribute(graph.node(value.producer)));
}

GraphBoundary BoundaryOf(const light::Graph& graph, const HidesNode& hides) {
  GraphBoundary boundary;
  boundary.inputs = graph.inputs();
  boundary.outputs = graph.outputs();
  boundary.initializers = graph.initializers();
  std::vector<bool> is_hidden(graph.nodes().size(), false);
  for (const light::Node& node : graph.nodes()) {
    if (!IsConstantNode(node)) {
      is_hidden[node.id] = hides != nullptr && hides(node);
      if (!is_hidden[node.id]) boundary.nodes.push_back(node.id);
    } else if (node.outputs[0] != kNoValue) {
      boundary.initializers.push_back(node.outputs[0]);
    }
  }
  // Up to IR version 3 every initializer is a graph input too; the runtime, which lets nobody feed them, does not list
  // them.
  if (graph.model().ir_version < 4) {
    boundary.inputs.insert(boundary.inputs.end(), graph.initializers().begin(), graph.initializers().end());
  }
  if (std::find(is_hidden.begin(), is_hidden.end(), true) != is_hidden.end()) CloseAround(graph, is_hidden, boundary);
  return boundary;
}

GraphBoundary BoundaryOfNodes(const light::GraphOffer& offer, std::span<const NodeId> nodes) {
  const light::Graph& graph = offer.graph;
  GraphBoundary boundary;
  std::unordered_set<NodeId> inside;
  std::vector<NodeId> listed;
  for (const NodeId id : nodes) {
    if (inside.insert(id).second) listed.push_back(id);
  }
  std::unordered_map<ValueId, std::size_t> places;
  for (const ValueId input : graph.inputs()) places.emplace(input, places.size());

  std::vector<std::pair<std::size_t, ValueId>> inputs;
  std::unordered_set<ValueId> seen;
  for (const NodeId id : listed) {
    const light::Node& node = graph.node(id);
    ForEachRead(node, [&](ValueId value) {
      const GraphValue& record = graph.value(value);
      if (record.producer != light::kNoNode && inside.contains(record.producer)) return;
      if (IsConstant(offer, value) || !seen.insert(value).second) return;
      const auto place = places.find(value);
      inputs.emplace_back(place != places.end() ? place->second : inputs.size(), value);
    });
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const GraphValue& record = graph.value(output);
      const bool is_used_outside = std::any_of(record.uses.begin(), record.uses.end(),
                                               [&](const light::Use& use) { return !inside.contains(use.node); });
      if (record.is_graph_output || is_used_outside) boundary.outputs.push_back(output);
    }
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, value] : inputs) boundary.inputs.push_back(value);
  std::sort(listed.begin(), listed.end());
  boundary.initializers = UsedInitializers(graph, listed);
  boundary.nodes = std::move(listed);
  return boundary;
}

GraphBoundary BoundaryOfPartition(const light::Graph& graph, const light::PartitionShape& shape) {
  return {shape.nodes, shape.inputs, shape.outputs, UsedInitializers(graph, shape.nodes)};
}

}  // namespace ort_host
