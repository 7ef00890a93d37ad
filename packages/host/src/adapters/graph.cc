// SPDX-License-Identifier: Apache-2.0
#include "adapters/graph.h"

namespace ort_host {

GraphAdapter::GraphAdapter(const light::GraphOffer& offer, const std::string& model_path)
    : AdapterBase(kGraphKind), offer_(offer), model_path_(model_path) {
  for (const light::Node& node : offer.graph.nodes()) nodes_.emplace_back(*this, node);
}

}  // namespace ort_host
