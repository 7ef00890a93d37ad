// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/graph.h"

namespace ort_host {

/// Behind OrtEpGraphSupportInfo: what a provider says while it is asked about a graph. Lives as long as the question.
class GraphSupportAdapter final : public AdapterBase {
 public:
  /// Returns the kernel definition for a node of the graph, or null.
  using LookUp = std::function<const OrtKernelDef*(const NodeAdapter&)>;

  GraphSupportAdapter(const GraphAdapter& graph, LookUp look_up)
      : AdapterBase(kGraphSupportKind), graph_(graph), look_up_(std::move(look_up)) {}
  GraphSupportAdapter(const GraphSupportAdapter&) = delete;

  const OrtKernelDef* FindKernel(const NodeAdapter& node) const { return look_up_(node); }

  /// The node if it may be proposed, else null, and `why` tells the rule. What breaks a rule is remembered: a provider
  /// that ignores the status is told when it has answered.
  const light::Node* Admit(const NodeAdapter& node, std::string& why);
  void AddNode(const light::Node& node) { proposals_.nodes.push_back(node.id); }
  void AddGroup(light::PartitionProposal group) { proposals_.partitions.push_back(std::move(group)); }

  /// The first rule that was broken; "" if none was.
  const std::string& problem() const noexcept { return problem_; }
  light::Proposals TakeProposals() noexcept { return std::move(proposals_); }

 private:
  const GraphAdapter& graph_;
  LookUp look_up_;
  light::Proposals proposals_;
  std::vector<bool> proposed_;  // by NodeId
  std::string problem_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtEpGraphSupportInfo, GraphSupportAdapter, kGraphSupportKind, "graph support info");
