// SPDX-License-Identifier: Apache-2.0
#include "adapters/checked.h"
#include "adapters/graph.h"
#include "light/assignment.h"

namespace ort_host {
namespace {

/// Of the bodies of a node that somebody has already: nothing is known of their nodes.
const light::Assignment& NobodysAssignment() noexcept {
  static const light::Assignment& nobodys = *new light::Assignment;
  return nobodys;
}

}  // namespace

struct NodeAdapter::Body {
  Body(const NodeAdapter& parent, const light::Graph& graph, const light::Assignment& assignment)
      : offer{graph, assignment, &parent.graph().offer(), parent.node().id},
        adapter(offer, parent.graph().model_path(), parent) {
    adapter.WatchConstants(parent.graph().watch());
  }

  light::GraphOffer offer;
  GraphAdapter adapter;
};

NodeAdapter::NodeAdapter(const GraphAdapter& graph, const light::Node& node)
    : AdapterBase(kNodeKind), graph_(graph), node_(node) {}

NodeAdapter::~NodeAdapter() = default;

void NodeAdapter::Expire() const {
  checked::Expire(ort_abi::Lend<OrtNode>(*this));
  for (const auto& body : bodies_) body->adapter.Expire();
}

const std::string& NodeAdapter::provider() const noexcept { return graph_.ProviderOf(node_.id); }

const std::deque<OpAttrAdapter>& NodeAdapter::attributes() const {
  std::call_once(attributes_once_, [&] {
    std::deque<OpAttrAdapter> found;
    const auto add = [&](light::Attribute attribute) {
      found.emplace_back(std::move(attribute), OpAttrAdapter::Owner::kContext);
    };
    for (const light::Attribute& written : node_.attributes) add(written);
    for (const light::Subgraph& body : node_.subgraphs) {
      light::Attribute attribute;
      attribute.name = body.attribute;
      attribute.kind = light::AttributeKind::kGraph;
      add(std::move(attribute));
    }
    if (node_.schema != nullptr) {
      for (const light::AttributeSchema& formal : node_.schema->attributes) {
        if (formal.has_default && node_.FindAttribute(formal.name) == nullptr) add(formal.default_value);
      }
    }
    attributes_ = std::move(found);
  });
  return attributes_;
}

const OpAttrAdapter* NodeAdapter::FindAttribute(std::string_view name) const {
  for (const OpAttrAdapter& attribute : attributes()) {
    if (attribute.attribute().name == name) return &attribute;
  }
  return nullptr;
}

const GraphAdapter& NodeAdapter::subgraph(std::size_t i) const {
  std::call_once(bodies_once_, [&] {
    const auto& known = graph_.offer().assignment.bodies;
    std::vector<std::unique_ptr<Body>> made;
    for (std::size_t body = 0; body < node_.subgraphs.size(); ++body) {
      const bool is_known = node_.id < known.size() && body < known[node_.id].size();
      made.push_back(std::make_unique<Body>(*this, *node_.subgraphs[body].graph,
                                            is_known ? known[node_.id][body] : NobodysAssignment()));
    }
    bodies_ = std::move(made);
  });
  return bodies_[i]->adapter;
}

}  // namespace ort_host
