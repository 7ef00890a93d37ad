// SPDX-License-Identifier: Apache-2.0
#include "light/graph_builder.h"

#include "graph/function_inliner.h"
#include "graph/graph_inference.h"
#include "graph/name_resolver.h"

namespace light {
namespace {

constexpr int64_t kNewestIrVersion = 14;  // of onnx.proto as it was read for this code

OpsetImports CheckedImports(const ModelDef& model) {
  OpsetImports imports;
  for (const auto& [domain, version] : model.opset_imports) {
    if (version < 1) {
      throw Error(ErrorCode::kInvalidGraph, "the model: an opset version must be positive, got " +
                                                std::to_string(version) + " for the domain '" + domain + "'");
    }
    imports[domain == "ai.onnx" ? "" : domain] = version;
  }
  if (!imports.empty()) return imports;
  if (model.ir_version >= 3) {
    throw Error(ErrorCode::kInvalidGraph,
                "the model: it imports no opset, which IR version " + std::to_string(model.ir_version) + " asks for");
  }
  return {{"", 1}};
}

}  // namespace

std::shared_ptr<const Graph> GraphBuilder::Build(ModelDef model) const {
  if (model.ir_version < 1) {
    throw Error(ErrorCode::kInvalidGraph,
                "the model: the IR version is missing, got " + std::to_string(model.ir_version));
  }
  if (model.ir_version > kNewestIrVersion) {
    throw Error(ErrorCode::kInvalidGraph, "the model: the newest known IR version is " +
                                              std::to_string(kNewestIrVersion) + ", got " +
                                              std::to_string(model.ir_version));
  }
  OpsetImports imports = CheckedImports(model);
  auto info = std::make_shared<ModelInfo>(static_cast<ModelInfo&&>(model));
  info->opset_imports = std::move(imports);

  FunctionInliner inliner(std::move(model.functions), model.graph, info->opset_imports);
  NameResolver resolver(inliner, info->ir_version, options_.warn);
  const std::unique_ptr<GraphDraft> main = resolver.Resolve(std::move(model.graph), inliner.root(), nullptr);
  GraphInference(schemas_, options_.warn).Infer(*main);

  const auto finish = [&info](auto& self, GraphDraft& draft) -> std::shared_ptr<const Graph> {
    auto graph = std::make_shared<Graph>();
    for (std::size_t i = 0; i < draft.bodies.size(); ++i) {
      for (DraftBody& body : draft.bodies[i]) {
        draft.nodes[i].subgraphs.push_back({std::move(body.attribute), self(self, *body.graph)});
      }
    }
    graph->name_ = std::move(draft.name);
    graph->doc_string_ = std::move(draft.doc_string);
    graph->nodes_ = std::move(draft.nodes);
    graph->values_ = std::move(draft.values);
    graph->inputs_ = std::move(draft.inputs);
    graph->outputs_ = std::move(draft.outputs);
    graph->initializers_ = std::move(draft.initializers);
    graph->captures_ = std::move(draft.captures);
    graph->model_ = info;
    return graph;
  };
  return finish(finish, *main);
}

}  // namespace light
