// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "adapters/kinds.h"
#include "light/graph.h"

namespace ort_host {

/// Behind OrtModelMetadata: a copy of what a model says about itself. Lives until ReleaseModelMetadata.
class ModelMetadataAdapter final : public AdapterBase {
 public:
  explicit ModelMetadataAdapter(const light::Graph& main_graph)
      : AdapterBase(kModelMetadataKind),
        model_(main_graph.model()),
        graph_name_(main_graph.name()),
        graph_description_(main_graph.doc_string()) {
    for (const auto& [key, text] : model_.metadata) entries_.insert_or_assign(key, text);
  }

  const light::ModelInfo& model() const noexcept { return model_; }
  const std::string& graph_name() const noexcept { return graph_name_; }
  const std::string& graph_description() const noexcept { return graph_description_; }
  /// What the model says under keys of its own; of a key that is there twice the last.
  const std::map<std::string, std::string>& entries() const noexcept { return entries_; }

 private:
  light::ModelInfo model_;
  std::string graph_name_;
  std::string graph_description_;
  std::map<std::string, std::string> entries_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtModelMetadata, ModelMetadataAdapter, kModelMetadataKind, "model metadata");
