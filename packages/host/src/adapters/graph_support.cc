// SPDX-License-Identifier: Apache-2.0
#include "adapters/graph_support.h"

#include "light/assignment.h"

namespace ort_host {

const light::Node* GraphSupportAdapter::Admit(const NodeAdapter& node, std::string& why) {
  const light::Node& found = node.node();
  const std::string label = "node " + found.Label();
  proposed_.resize(graph_.graph().nodes().size());
  if (&node.graph().graph() != &graph_.graph()) {  // one graph is behind its views as well
    why = label + " is not of the graph that was asked about";
  } else if (proposed_[found.id]) {
    why = label + " is proposed twice";
  }
  if (why.empty()) {
    proposed_[found.id] = true;
    return &found;
  }
  if (problem_.empty()) problem_ = why;
  return nullptr;
}

}  // namespace ort_host
