// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/type_info.h"
#include "adapters/value.h"
#include "light/graph.h"

namespace ort_host {

class GraphAdapter;
class NodeAdapter;

/// Behind OrtValueInfo: a value of a graph that a provider looks at, one object for each name. Belongs to its graph.
class ValueInfoAdapter final : public AdapterBase {
 public:
  /// A node that reads the value, as argument `input`, or -1 if one of its subgraphs does.
  struct Consumer {
    const NodeAdapter* node;
    int64_t input;
  };

  ValueInfoAdapter(const GraphAdapter& graph, light::ValueId id, const light::GraphValue& value)
      : AdapterBase(kValueInfoKind), graph_(graph), value_(value), id_(id) {}
  ValueInfoAdapter(const ValueInfoAdapter&) = delete;

  const GraphAdapter& graph() const noexcept { return graph_; }
  const light::GraphValue& value() const noexcept { return value_; }

  /// Null if the type is not known.
  const TypeInfoAdapter* type() const;
  /// Null if no node of the graph produces it.
  const NodeAdapter* producer() const noexcept;
  /// Nodes of the graph, once for each use.
  std::vector<Consumer> consumers() const;

  bool is_required_input() const noexcept;
  bool is_optional_input() const noexcept;
  bool is_output() const noexcept;
  bool is_constant() const noexcept;
  bool is_from_outer_scope() const noexcept;

  /// The tensor of an initializer, of this graph or of one further out; null if the value is none.
  const ValueAdapter* initializer() const;
  /// Where an initializer lies in a file of its own; null if it does not.
  const std::shared_ptr<const light::ExternalData>& external() const noexcept;

 private:
  const GraphAdapter& graph_;
  const light::GraphValue& value_;
  const light::ValueId id_;
  // Made when they are asked for first, by whatever thread.
  mutable std::once_flag type_once_;
  mutable std::unique_ptr<TypeInfoAdapter> type_;
  mutable std::once_flag initializer_once_;
  mutable std::unique_ptr<ValueAdapter> initializer_;
};

/// Behind OrtExternalInitializerInfo. Lives until ReleaseExternalInitializerInfo.
class ExternalInfoAdapter final : public AdapterBase {
 public:
  explicit ExternalInfoAdapter(std::shared_ptr<const light::ExternalData> data) noexcept
      : AdapterBase(kExternalInfoKind), data_(std::move(data)) {}

  const light::ExternalData& data() const noexcept { return *data_; }

 private:
  std::shared_ptr<const light::ExternalData> data_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtValueInfo, ValueInfoAdapter, kValueInfoKind, "value info");
ORT_HOST_HANDLE(OrtExternalInitializerInfo, ExternalInfoAdapter, kExternalInfoKind, "external initializer info");
