// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "adapters/graph_boundary.h"
#include "adapters/kinds.h"
#include "adapters/op_attr.h"
#include "adapters/quarantine.h"
#include "adapters/value_info.h"
#include "light/execution_provider.h"

namespace ort_host {

class ConstantWatch;
class GraphAdapter;

/// Behind OrtNode: a node of a graph that a provider looks at. Belongs to its graph.
class NodeAdapter final : public AdapterBase {
 public:
  NodeAdapter(const GraphAdapter& graph, const light::Node& node);
  NodeAdapter(const NodeAdapter&) = delete;
  ~NodeAdapter();

  const GraphAdapter& graph() const noexcept { return graph_; }
  const light::Node& node() const noexcept { return node_; }
  /// Who has it; "" if nobody does yet.
  const std::string& provider() const noexcept;

  /// What is written on the node, its subgraphs, and defaults of the schema for what is not written.
  const std::deque<OpAttrAdapter>& attributes() const;
  /// Null if the node has none of that name.
  const OpAttrAdapter* FindAttribute(std::string_view name) const;
  /// By the index of light::Node::subgraphs.
  const GraphAdapter& subgraph(std::size_t i) const;
  /// As GraphAdapter::Expire.
  void Expire() const;

 private:
  struct Body;

  const GraphAdapter& graph_;
  const light::Node& node_;
  // Made when they are asked for first, by whatever thread.
  mutable std::once_flag attributes_once_;
  mutable std::deque<OpAttrAdapter> attributes_;
  mutable std::once_flag bodies_once_;
  mutable std::vector<std::unique_ptr<Body>> bodies_;
};

/// Behind OrtGraph: a graph that is offered to a provider, or a part of one. What is reached from it lives as long.
class GraphAdapter final : public AdapterBase {
 public:
  /// @param offer  outlives the adapter
  /// @param model_path  as the application gave it, outlives the adapter; "" for a model from memory
  /// @param hides  nodes that the provider is not to see, may be null
  GraphAdapter(const light::GraphOffer& offer, const std::string& model_path, const HidesNode& hides = nullptr);
  /// The body of a node.
  GraphAdapter(const light::GraphOffer& offer, const std::string& model_path, const NodeAdapter& parent);
  GraphAdapter(const GraphAdapter&) = delete;
  ~GraphAdapter();

  /// Nodes of the graph as a graph of their own, which a library releases before the graph that they are of.
  std::unique_ptr<GraphAdapter> MakeView(std::span<const light::NodeId> nodes) const;
  /// A group that a provider compiles. The offer outlives it.
  static std::unique_ptr<GraphAdapter> MakeFused(const light::GraphOffer& offer, const std::string& model_path,
                                                 std::string name, const light::PartitionShape& shape);

  /// The node that a compiled group becomes: it has no graph, and its values have a name and a type. Refers to nothing
  /// of the session. @param node  its arguments are positions in `values`
  static std::unique_ptr<GraphAdapter> MakeAlone(light::Node node, std::vector<light::GraphValue> values,
                                                 std::string provider);

  /// In checked mode: what is shown of constants from now on is watched. Of the whole graph, its views and bodies.
  void WatchConstants(ConstantWatch* watch) noexcept { watch_ = watch; }
  ConstantWatch* watch() const noexcept { return watch_; }

  const light::GraphOffer& offer() const noexcept { return offer_; }
  const light::Graph& graph() const noexcept { return offer_.graph; }
  const std::string& name() const noexcept { return name_; }
  const std::string& model_path() const noexcept { return model_path_; }
  /// True for what a library must release.
  bool is_view() const noexcept { return kind_ == Kind::kView; }
  bool is_fused() const noexcept { return kind_ == Kind::kFused; }
  /// True if it is there for the sake of one node alone, which shows no graph.
  bool is_alone() const noexcept { return kind_ == Kind::kAlone; }

  using Nodes = std::deque<NodeAdapter, QuarantineAllocator<NodeAdapter>>;
  const Nodes& nodes() const noexcept { return nodes_; }
  const std::vector<light::ValueId>& inputs() const noexcept { return boundary_.inputs; }
  const std::vector<light::ValueId>& outputs() const noexcept { return boundary_.outputs; }
  const std::vector<light::ValueId>& initializers() const noexcept { return boundary_.initializers; }
  bool IsInput(light::ValueId id) const noexcept { return input_set_.contains(id); }
  bool IsOutput(light::ValueId id) const noexcept { return output_set_.contains(id); }

  /// Null if the node is not in this graph.
  const NodeAdapter* FindNode(light::NodeId id) const noexcept;
  /// A value of this graph; null for an omitted argument.
  const ValueInfoAdapter* value(light::ValueId id) const noexcept;
  /// The node that this is a body of, null if it is none. Of a body that is offered by itself the node stands alone.
  const NodeAdapter* parent() const;
  /// Who has the node; "" if nobody does yet.
  const std::string& ProviderOf(light::NodeId id) const noexcept;
  /// The graph of the model around all others.
  const light::Graph& main_graph() const noexcept;

 private:
  enum class Kind : uint8_t { kWhole, kView, kFused, kAlone };
  struct Lone;
  struct Views;
  explicit GraphAdapter(std::unique_ptr<Lone> lone);
  GraphAdapter(const light::GraphOffer& offer, const std::string& model_path, std::string name, Kind kind,
               GraphBoundary boundary, const NodeAdapter* parent = nullptr);
  void AddValue(light::ValueId id);
  /// Of a view: what it shows has ended, and checked mode refuses what is reached from it.
  void Expire() const;
  friend class NodeAdapter;  // bodies expire with their node

  const std::unique_ptr<Lone> lone_;  // of MakeAlone, else null
  const light::GraphOffer& offer_;
  const std::string& model_path_;
  const std::string name_;
  const Kind kind_;
  const GraphBoundary boundary_;
  std::unordered_set<light::ValueId> input_set_;
  std::unordered_set<light::ValueId> output_set_;
  Nodes nodes_;
  std::unordered_map<light::NodeId, const NodeAdapter*> by_id_;
  using Value = std::pair<const light::ValueId, ValueInfoAdapter>;
  std::unordered_map<light::ValueId, ValueInfoAdapter, std::hash<light::ValueId>, std::equal_to<>,
                     QuarantineAllocator<Value>>
      values_;
  const NodeAdapter* parent_;
  mutable std::once_flag outer_once_;
  mutable std::unique_ptr<GraphAdapter> outer_;  // around a parent that stands alone
  ConstantWatch* watch_ = nullptr;
  std::shared_ptr<Views> views_;  // those that are not released; in checked mode, else null
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtGraph, GraphAdapter, kGraphKind, "graph");
ORT_HOST_HANDLE(OrtNode, NodeAdapter, kNodeKind, "node");
