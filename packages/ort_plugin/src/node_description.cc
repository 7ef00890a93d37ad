// SPDX-License-Identifier: Apache-2.0
#include "node_description.h"

#include <algorithm>

#include "light/error.h"
#include "light/graph_builder.h"

namespace ort_plugin {
namespace {

constexpr int64_t kIrVersion = 10;  // from 4 on an initializer that is no input is a constant

std::string Name(const char* what, std::size_t i) { return what + std::to_string(i); }

/// Adds an argument to the node, and to the graph what the argument is there.
void AddInput(light::GraphDef& graph, std::size_t i, ArgumentDescription argument) {
  std::vector<std::string>& names = graph.nodes[0].inputs;
  if (!argument.is_present) return names.push_back("");
  names.push_back(Name("input ", i));
  if (argument.constant.has_value()) {
    graph.initializers.push_back({names.back(), std::move(*argument.constant), nullptr});
  } else {
    graph.inputs.push_back({names.back(), std::move(argument.type)});
  }
}

void AddOutput(light::GraphDef& graph, std::size_t i, const ArgumentDescription& argument) {
  std::vector<std::string>& names = graph.nodes[0].outputs;
  if (!argument.is_present) return names.push_back("");
  names.push_back(Name("output ", i));
  graph.outputs.push_back({names.back(), {}});
}

/// Without this a kernel would fill a buffer of another type than the host has made.
void CheckOutputs(const light::Graph& graph, const std::vector<ArgumentDescription>& outputs) {
  const light::Node& node = graph.node(0);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const light::ValueType& known = outputs[i].type;
    if (!outputs[i].is_present || !known.is_tensor()) continue;
    const light::ValueType& inferred = graph.value(node.outputs[i]).type;
    if (light::SameElementTypes(known, inferred)) continue;
    throw light::Error(light::ErrorCode::kInvalidGraph, "node " + node.Label() + ": output " + std::to_string(i) +
                                                            " is " + inferred.ToString() + ", the model has " +
                                                            known.ToString());
  }
}

}  // namespace

std::string NodeDescription::Label() const {
  return "node '" + name + "' (" + (domain.empty() ? "" : domain + ".") + op_type + ")";
}

const light::OperatorSchema* FindSchema(const std::string& domain, const std::string& op_type, int since_version) {
  const light::OperatorSchema* schema = light::OnnxSchemas().Find(domain, op_type, since_version);
  return schema != nullptr && schema->since_version == since_version ? schema : nullptr;
}

bool HasFloat16(const NodeDescription& node) {
  const auto is_half = [](const ArgumentDescription& argument) {
    return argument.is_present && argument.type.is_tensor() && argument.type.element == light::ElementType::kFloat16;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_half) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_half);
}

std::shared_ptr<const light::Graph> MakeGraph(NodeDescription node) {
  if (FindSchema(node.domain, node.op_type, node.since_version) == nullptr) {
    throw light::Error(light::ErrorCode::kNotImplemented,
                       node.Label() + ": the operator is not known at version " + std::to_string(node.since_version));
  }
  light::ModelDef model;
  model.ir_version = kIrVersion;
  model.opset_imports[node.domain] = node.since_version;
  model.graph.name = node.name;
  light::NodeDef& def = model.graph.nodes.emplace_back();
  def.name = node.name;
  def.op_type = node.op_type;
  def.domain = node.domain;
  def.attributes = std::move(node.attributes);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) AddInput(model.graph, i, std::move(node.inputs[i]));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) AddOutput(model.graph, i, node.outputs[i]);
  std::shared_ptr<const light::Graph> graph = light::GraphBuilder(light::OnnxSchemas()).Build(std::move(model));
  CheckOutputs(*graph, node.outputs);
  return graph;
}

}  // namespace ort_plugin
