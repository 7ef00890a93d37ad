// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "adapters/graph.h"

namespace ort_host {

/// Behind OrtEpGraphSupportInfo: what a provider says while it is asked about a graph. Lives as long as the question.
class GraphSupportAdapter final : public AdapterBase {
 public:
  /// Returns the kernel definition for a node of the graph, or null.
  using LookUp = std::function<const OrtKernelDef*(const NodeAdapter&)>;

  /// @param may_overlap  groups may share nodes: it is settled later who gets them
  GraphSupportAdapter(const GraphAdapter& graph, bool may_overlap, LookUp look_up)
      : AdapterBase(kGraphSupportKind),
        graph_(graph),
        may_overlap_(may_overlap),
        look_up_(std::move(look_up)),
        is_single_(graph.graph().nodes().size()),
        is_grouped_(graph.graph().nodes().size()) {}
  GraphSupportAdapter(const GraphSupportAdapter&) = delete;

  const OrtKernelDef* FindKernel(const NodeAdapter& node) const { return look_up_(node); }

  /// As many nodes as the provider is shown.
  std::size_t node_count() const noexcept { return graph_.nodes().size(); }

  /// Take a proposal over and return "", or change nothing and return the rule that it breaks. That is remembered: a
  /// provider that ignores the status is told when it has answered. A node that is repeated within a group counts once,
  /// by whichever handle.
  std::string AddNode(const NodeAdapter& node);
  std::string AddGroup(std::span<const NodeAdapter* const> nodes, bool drop_constant_initializers);

  /// The first rule that was broken; "" if none was.
  const std::string& problem() const noexcept { return problem_; }
  light::Proposals TakeProposals() noexcept { return std::move(proposals_); }

 private:
  bool IsForeign(const NodeAdapter& node) const noexcept;
  std::string Refuse(const NodeAdapter& node, const char* why);

  const GraphAdapter& graph_;
  const bool may_overlap_;
  LookUp look_up_;
  light::Proposals proposals_;
  std::vector<bool> is_single_;   // by NodeId
  std::vector<bool> is_grouped_;  // by NodeId
  std::string problem_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtEpGraphSupportInfo, GraphSupportAdapter, kGraphSupportKind, "graph support info");
