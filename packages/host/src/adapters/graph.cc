// SPDX-License-Identifier: Apache-2.0
#include "adapters/graph.h"

#include "adapters/checked.h"
#include "light/assignment.h"

namespace ort_host {

struct GraphAdapter::Lone {
  light::Node node;
  std::vector<light::GraphValue> values;
  std::string provider;
  light::Graph graph = {};
  light::Assignment assignment = {};
  light::GraphOffer offer = {graph, assignment};
  std::string no_path = {};
};

struct GraphAdapter::Views {
  std::mutex mutex;
  std::unordered_set<const GraphAdapter*> all;
};

GraphAdapter::GraphAdapter(const light::GraphOffer& offer, const std::string& model_path, std::string name, Kind kind,
                           GraphBoundary boundary, const NodeAdapter* parent)
    : AdapterBase(kGraphKind),
      offer_(offer),
      model_path_(model_path),
      name_(std::move(name)),
      kind_(kind),
      boundary_(std::move(boundary)),
      input_set_(boundary_.inputs.begin(), boundary_.inputs.end()),
      output_set_(boundary_.outputs.begin(), boundary_.outputs.end()),
      parent_(parent) {
  if (checked::enabled() && kind != Kind::kView) [[unlikely]]
    views_ = std::make_shared<Views>();
  by_id_.reserve(boundary_.nodes.size());
  for (const light::NodeId id : boundary_.nodes) {
    const light::Node& node = graph().node(id);
    by_id_.emplace(id, &nodes_.emplace_back(*this, node));
    for (const auto* arguments : {&node.inputs, &node.outputs, &node.captures}) {
      for (const light::ValueId value : *arguments) AddValue(value);
    }
  }
  for (const auto* listed : {&boundary_.inputs, &boundary_.outputs, &boundary_.initializers}) {
    for (const light::ValueId value : *listed) AddValue(value);
  }
}

GraphAdapter::GraphAdapter(const light::GraphOffer& offer, const std::string& model_path, const HidesNode& hides)
    : GraphAdapter(offer, model_path, offer.graph.name(), Kind::kWhole, BoundaryOf(offer.graph, hides)) {}

GraphAdapter::GraphAdapter(const light::GraphOffer& offer, const std::string& model_path, const NodeAdapter& parent)
    : GraphAdapter(offer, model_path, offer.graph.name(), Kind::kWhole, BoundaryOf(offer.graph), &parent) {}

GraphAdapter::GraphAdapter(std::unique_ptr<Lone> lone)
    : AdapterBase(kGraphKind),
      lone_(std::move(lone)),
      offer_(lone_->offer),
      model_path_(lone_->no_path),
      kind_(Kind::kAlone),
      parent_(nullptr) {
  by_id_.emplace(lone_->node.id, &nodes_.emplace_back(*this, lone_->node));
  for (light::ValueId id = 0; id < lone_->values.size(); ++id) values_.try_emplace(id, *this, id, lone_->values[id]);
}

GraphAdapter::~GraphAdapter() {
  if (views_ == nullptr) return;
  const std::lock_guard lock(views_->mutex);
  if (is_view()) {
    views_->all.erase(this);
    return;
  }
  for (const GraphAdapter* view : views_->all) view->Expire();
  views_->all.clear();
}

void GraphAdapter::Expire() const {
  checked::Expire(ort_abi::Lend<OrtGraph>(*this));
  for (const NodeAdapter& node : nodes_) node.Expire();
  for (const auto& [id, value] : values_) checked::Expire(ort_abi::Lend<OrtValueInfo>(value));
}

std::unique_ptr<GraphAdapter> GraphAdapter::MakeAlone(light::Node node, std::vector<light::GraphValue> values,
                                                      std::string provider) {
  std::unique_ptr<Lone> lone(new Lone{std::move(node), std::move(values), std::move(provider)});
  return std::unique_ptr<GraphAdapter>(new GraphAdapter(std::move(lone)));
}

std::unique_ptr<GraphAdapter> GraphAdapter::MakeView(std::span<const light::NodeId> nodes) const {
  std::unique_ptr<GraphAdapter> view(
      new GraphAdapter(offer_, model_path_, "sub_graph", Kind::kView, BoundaryOfNodes(offer_, nodes)));
  view->watch_ = watch_;
  view->views_ = views_;
  if (views_ != nullptr) {
    const std::lock_guard lock(views_->mutex);
    views_->all.insert(view.get());
  }
  return view;
}

std::unique_ptr<GraphAdapter> GraphAdapter::MakeFused(const light::GraphOffer& offer, const std::string& model_path,
                                                      std::string name, const light::PartitionShape& shape) {
  return std::unique_ptr<GraphAdapter>(
      new GraphAdapter(offer, model_path, std::move(name), Kind::kFused, BoundaryOfPartition(offer.graph, shape)));
}

void GraphAdapter::AddValue(light::ValueId id) {
  if (id != light::kNoValue) values_.try_emplace(id, *this, id, graph().value(id));
}

const std::string& GraphAdapter::ProviderOf(light::NodeId id) const noexcept {
  if (lone_ != nullptr) return lone_->provider;
  if (id < offer_.assignment.nodes.size()) return offer_.assignment.nodes[id].provider;
  static const std::string& nobody = *new std::string;
  return nobody;
}

const NodeAdapter* GraphAdapter::FindNode(light::NodeId id) const noexcept {
  const auto found = by_id_.find(id);
  return found != by_id_.end() ? found->second : nullptr;
}

const ValueInfoAdapter* GraphAdapter::value(light::ValueId id) const noexcept {
  const auto found = values_.find(id);
  return found != values_.end() ? &found->second : nullptr;
}

const NodeAdapter* GraphAdapter::parent() const {
  if (kind_ != Kind::kWhole || parent_ != nullptr || offer_.outer == nullptr) return parent_;
  std::call_once(outer_once_, [&] {
    outer_.reset(new GraphAdapter(*offer_.outer, model_path_, "", Kind::kAlone, {{offer_.parent}, {}, {}, {}}));
  });
  return &outer_->nodes_.front();
}

const light::Graph& GraphAdapter::main_graph() const noexcept {
  const light::GraphOffer* at = &offer_;
  while (at->outer != nullptr) at = at->outer;
  return at->graph;
}

}  // namespace ort_host
