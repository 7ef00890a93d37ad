// SPDX-License-Identifier: Apache-2.0
#include "group_graph.h"

#include <string>
#include <unordered_set>

#include <ort_abi/handle.h>

#include "graph_lists.h"
#include "graph_node.h"
#include "light/error.h"
#include "light/graph_builder.h"

namespace ort_plugin {
namespace {

using ort_abi::ThrowIfError;

/// Collects the definition of the group from what the host shows of it.
class GroupReader {
 public:
  GroupReader(const OrtApi& api, const OrtGraph* graph, const OrtNode* fused)
      : api_(api), graph_(graph), inputs_(InputsOf(api, fused)), outputs_(OutputsOf(api, fused)) {
    model_.ir_version = 10;  // an initializer that is no input is a constant
    model_.opset_imports = ReadOpsetImports(api, graph);
    model_.graph.name = NameOf(api, fused);
  }

  GroupGraph Read() {
    for (const OrtNode* node : NodesOf(api_, graph_)) AddNode(node);
    GroupGraph group;
    group.input_count = inputs_.size();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::string name(NameOf(api_, inputs_[i]));
      if (constants_.contains(name)) continue;
      model_.graph.inputs.push_back({name, ReadType(api_, inputs_[i])});
      group.inputs.push_back(i);
    }
    for (const OrtValueInfo* output : outputs_) {
      model_.graph.outputs.push_back({std::string(NameOf(api_, output)), {}});
    }
    group.definition = model_;
    group.graph = light::GraphBuilder(light::OnnxSchemas()).Build(std::move(model_));
    CheckOutputs(*group.graph);
    return group;
  }

 private:
  void AddNode(const OrtNode* node) {
    light::NodeDef& def = model_.graph.nodes.emplace_back();
    def.name = NameOf(api_, node);
    def.op_type = OperatorTypeOf(api_, node);
    def.domain = DomainOf(api_, node);
    def.attributes = ReadGraphAttributes(api_, node);
    for (const OrtValueInfo* value : InputsOf(api_, node)) {
      def.inputs.emplace_back(value != nullptr ? NameOf(api_, value) : "");
      if (value != nullptr) AddConstant(value);
    }
    for (const OrtValueInfo* value : OutputsOf(api_, node)) {
      def.outputs.emplace_back(value != nullptr ? NameOf(api_, value) : "");
    }
  }

  void AddConstant(const OrtValueInfo* value) {
    std::string name(NameOf(api_, value));
    if (constants_.contains(name)) return;
    std::optional<light::Tensor> tensor = ReadConstant(api_, value);
    if (!tensor.has_value()) return;
    constants_.insert(name);
    model_.graph.initializers.push_back({std::move(name), tensor->Clone(), nullptr});
  }

  /// Without this a kernel would fill a buffer of another type than the host has made.
  void CheckOutputs(const light::Graph& graph) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const light::ValueType known = ReadType(api_, outputs_[i]);
      const light::GraphValue& value = graph.value(graph.outputs()[i]);
      if (!known.is_tensor() || light::SameElementTypes(known, value.type)) continue;
      throw light::Error(light::ErrorCode::kInvalidGraph, "value '" + value.name + "' is " + value.type.ToString() +
                                                              ", the model has " + known.ToString());
    }
  }

  const OrtApi& api_;
  const OrtGraph* graph_;
  const std::vector<const OrtValueInfo*> inputs_;   // of the fused node
  const std::vector<const OrtValueInfo*> outputs_;  // of the fused node
  std::unordered_set<std::string> constants_;
  light::ModelDef model_;
};

}  // namespace

light::OpsetImports ReadOpsetImports(const OrtApi& api, const OrtGraph* graph) {
  std::size_t count = 0;
  ThrowIfError(api, api.Graph_GetNumOperatorSets(graph, &count));
  std::vector<const char*> domains(count);
  std::vector<int64_t> versions(count);
  if (count > 0) ThrowIfError(api, api.Graph_GetOperatorSets(graph, domains.data(), versions.data(), count));
  light::OpsetImports imports;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::string_view(domains[i]).empty() || std::string_view(domains[i]).starts_with("ai.onnx.")) {
      imports[domains[i]] = versions[i];
    }
  }
  return imports;
}

std::shared_ptr<const light::Graph> WithAnyExtents(light::ModelDef definition) {
  for (auto& input : definition.graph.inputs) input.type.shape = {};
  return light::GraphBuilder(light::OnnxSchemas()).Build(std::move(definition));
}

GroupGraph ReadGroup(const OrtApi& api, const OrtGraph* graph, const OrtNode* fused) {
  return GroupReader(api, graph, fused).Read();
}

}  // namespace ort_plugin
