// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "abi/handle_list.h"
#include "abi/sections.h"
#include "adapters/graph.h"
#include "adapters/model_metadata.h"

namespace ort_host::abi {
namespace {

using ValueIds = const std::vector<light::ValueId>& (GraphAdapter::*)() const noexcept;

OrtStatus* ORT_API_CALL Graph_GetName(const OrtGraph* graph, const char** graph_name) noexcept {
  return Guard("Graph_GetName", [&] { Out(graph_name, "graph_name") = Borrow(graph).name().c_str(); });
}

OrtStatus* ORT_API_CALL Graph_GetModelPath(const OrtGraph* graph, const ORTCHAR_T** model_path) noexcept {
  return Guard("Graph_GetModelPath", [&] { Out(model_path, "model_path") = Borrow(graph).model_path().c_str(); });
}

OrtStatus* ORT_API_CALL Graph_GetOnnxIRVersion(const OrtGraph* graph, int64_t* onnx_ir_version) noexcept {
  return Guard("Graph_GetOnnxIRVersion",
               [&] { Out(onnx_ir_version, "onnx_ir_version") = Borrow(graph).graph().model().ir_version; });
}

// --- Operator sets

/// The newest schema of ONNX's own domain that a node has, those of bodies included; 0 if none is of that domain.
int64_t NewestOnnxVersion(const light::Graph& graph) noexcept {
  int64_t newest = 0;
  for (const light::Node& node : graph.nodes()) {
    if (node.domain.empty()) newest = std::max<int64_t>(newest, node.since_version);
    for (const light::Subgraph& body : node.subgraphs) newest = std::max(newest, NewestOnnxVersion(*body.graph));
  }
  return newest;
}

/// What the model imports, sorted by domain. ONNX's own domain is there too if only its functions, which are inlined,
/// import it: at the version that its nodes have.
std::vector<std::pair<const char*, int64_t>> OperatorSets(const GraphAdapter& graph) {
  const light::OpsetImports& imports = graph.graph().model().opset_imports;
  std::vector<std::pair<const char*, int64_t>> sets;
  if (!imports.contains("")) {
    const int64_t version = NewestOnnxVersion(graph.main_graph());
    if (version != 0) sets.emplace_back("", version);
  }
  for (const auto& [domain, version] : imports) sets.emplace_back(domain.c_str(), version);
  return sets;
}

OrtStatus* ORT_API_CALL Graph_GetNumOperatorSets(const OrtGraph* graph, size_t* num_operator_sets) noexcept {
  return Guard("Graph_GetNumOperatorSets",
               [&] { Out(num_operator_sets, "num_operator_sets") = OperatorSets(Borrow(graph)).size(); });
}

OrtStatus* ORT_API_CALL Graph_GetOperatorSets(const OrtGraph* graph, const char** domains, int64_t* opset_versions,
                                              size_t num_operator_sets) noexcept {
  return Guard("Graph_GetOperatorSets", [&] {
    const auto sets = OperatorSets(Borrow(graph));
    HandleList<const char*> names(domains, "domains", num_operator_sets, sets.size());
    HandleList<int64_t> versions(opset_versions, "opset_versions", num_operator_sets, sets.size());
    for (const auto& [domain, version] : sets) {
      names.Add(domain);
      versions.Add(version);
    }
  });
}

// --- Values

OrtStatus* CountValues(const char* slot, const OrtGraph* graph, ValueIds ids, size_t* count,
                       const char* name) noexcept {
  return Guard(slot, [&] { Out(count, name) = (Borrow(graph).*ids)().size(); });
}

OrtStatus* ListValues(const char* slot, const OrtGraph* graph, ValueIds ids, const OrtValueInfo** values,
                      const char* name, size_t room) noexcept {
  return Guard(slot, [&] {
    const GraphAdapter& adapter = Borrow(graph);
    HandleList<const OrtValueInfo*> list(values, name, room, (adapter.*ids)().size());
    for (const light::ValueId id : (adapter.*ids)()) list.Add(Lend<OrtValueInfo>(*adapter.value(id)));
  });
}

OrtStatus* ORT_API_CALL Graph_GetNumInputs(const OrtGraph* graph, size_t* num_inputs) noexcept {
  return CountValues("Graph_GetNumInputs", graph, &GraphAdapter::inputs, num_inputs, "num_inputs");
}

OrtStatus* ORT_API_CALL Graph_GetInputs(const OrtGraph* graph, const OrtValueInfo** inputs,
                                        size_t num_inputs) noexcept {
  return ListValues("Graph_GetInputs", graph, &GraphAdapter::inputs, inputs, "inputs", num_inputs);
}

OrtStatus* ORT_API_CALL Graph_GetNumOutputs(const OrtGraph* graph, size_t* num_outputs) noexcept {
  return CountValues("Graph_GetNumOutputs", graph, &GraphAdapter::outputs, num_outputs, "num_outputs");
}

OrtStatus* ORT_API_CALL Graph_GetOutputs(const OrtGraph* graph, const OrtValueInfo** outputs,
                                         size_t num_outputs) noexcept {
  return ListValues("Graph_GetOutputs", graph, &GraphAdapter::outputs, outputs, "outputs", num_outputs);
}

OrtStatus* ORT_API_CALL Graph_GetNumInitializers(const OrtGraph* graph, size_t* num_initializers) noexcept {
  return CountValues("Graph_GetNumInitializers", graph, &GraphAdapter::initializers, num_initializers,
                     "num_initializers");
}

OrtStatus* ORT_API_CALL Graph_GetInitializers(const OrtGraph* graph, const OrtValueInfo** initializers,
                                              size_t num_initializers) noexcept {
  return ListValues("Graph_GetInitializers", graph, &GraphAdapter::initializers, initializers, "initializers",
                    num_initializers);
}

// --- Nodes

OrtStatus* ORT_API_CALL Graph_GetNumNodes(const OrtGraph* graph, size_t* num_nodes) noexcept {
  return Guard("Graph_GetNumNodes", [&] { Out(num_nodes, "num_nodes") = Borrow(graph).nodes().size(); });
}

OrtStatus* ORT_API_CALL Graph_GetNodes(const OrtGraph* graph, const OrtNode** nodes, size_t num_nodes) noexcept {
  return Guard("Graph_GetNodes", [&] {
    const GraphAdapter& adapter = Borrow(graph);
    HandleList<const OrtNode*> list(nodes, "nodes", num_nodes, adapter.nodes().size());
    for (const NodeAdapter& node : adapter.nodes()) list.Add(Lend<OrtNode>(node));
  });
}

OrtStatus* ORT_API_CALL Graph_GetParentNode(const OrtGraph* graph, const OrtNode** node) noexcept {
  return Guard("Graph_GetParentNode", [&] {
    const NodeAdapter* parent = Borrow(graph).parent();
    Out(node, "node") = parent != nullptr ? Lend<OrtNode>(*parent) : nullptr;
  });
}

// --- What a library releases

OrtStatus* ORT_API_CALL Graph_GetGraphView(const OrtGraph* src_graph, const OrtNode** nodes, size_t num_nodes,
                                           OrtGraph** dst_graph) noexcept {
  return Guard("Graph_GetGraphView", [&](Slot slot) -> OrtStatus* {
    const GraphAdapter& source = Borrow(src_graph, "src_graph");
    const auto destination = Out(dst_graph, "dst_graph");
    Require(nodes, "nodes");
    if (num_nodes == 0) return slot.Fail(ORT_INVALID_ARGUMENT, "num_nodes: a view has nodes, got 0");
    if (num_nodes > source.nodes().size()) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "num_nodes: the graph '%s' has %zu nodes, got %zu", source.name().c_str(),
                       source.nodes().size(), num_nodes);
    }
    std::vector<light::NodeId> ids;
    for (size_t i = 0; i < num_nodes; ++i) {
      const NodeAdapter& node = Borrow(nodes[i]);
      if (source.FindNode(node.node().id) != &node) {
        return slot.Fail(ORT_INVALID_ARGUMENT, "nodes: entry %zu must be of the graph '%s', got %s", i,
                         source.name().c_str(), node.node().Label().c_str());
      }
      ids.push_back(node.node().id);
    }
    destination = source.MakeView(ids);
    return nullptr;
  });
}

void ORT_API_CALL ReleaseGraph(OrtGraph* graph) noexcept {
  auto adapter = TakeIn("ReleaseGraph", graph);
  if (adapter != nullptr && !adapter->is_view()) {
    checked::Report("release_of_borrowed", "ReleaseGraph", "the graphs of a provider's callbacks are borrowed");
    adapter.release();
  }
}

OrtStatus* ORT_API_CALL Graph_GetModelMetadata(const OrtGraph* graph, OrtModelMetadata** out) noexcept {
  return Guard("Graph_GetModelMetadata",
               [&] { Out(out) = std::make_unique<ModelMetadataAdapter>(Borrow(graph).main_graph()); });
}

}  // namespace

void FillGraphs(OrtApi& table) noexcept {
  table.Graph_GetName = Graph_GetName;
  table.Graph_GetModelPath = Graph_GetModelPath;
  table.Graph_GetOnnxIRVersion = Graph_GetOnnxIRVersion;
  table.Graph_GetNumOperatorSets = Graph_GetNumOperatorSets;
  table.Graph_GetOperatorSets = Graph_GetOperatorSets;
  table.Graph_GetNumInputs = Graph_GetNumInputs;
  table.Graph_GetInputs = Graph_GetInputs;
  table.Graph_GetNumOutputs = Graph_GetNumOutputs;
  table.Graph_GetOutputs = Graph_GetOutputs;
  table.Graph_GetNumInitializers = Graph_GetNumInitializers;
  table.Graph_GetInitializers = Graph_GetInitializers;
  table.Graph_GetNumNodes = Graph_GetNumNodes;
  table.Graph_GetNodes = Graph_GetNodes;
  table.Graph_GetParentNode = Graph_GetParentNode;
  table.Graph_GetGraphView = Graph_GetGraphView;
  table.ReleaseGraph = ReleaseGraph;
  table.Graph_GetModelMetadata = Graph_GetModelMetadata;
}

}  // namespace ort_host::abi
