// SPDX-License-Identifier: Apache-2.0
#include "light/assignment.h"

#include <span>

#include "light/error.h"

namespace light {
namespace {

std::string TypesOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += values[i] == kNoValue ? std::string("omitted") : graph.value(values[i]).type.ToString();
  }
  return text + ")";
}

void AskProvider(const Graph& graph, ExecutionProvider& provider, std::vector<bool>& taken, Assignment& assignment) {
  const auto refuse_taken = [&](NodeId id) {
    if (id < taken.size() && taken[id]) {
      throw Error(ErrorCode::kEpFail, "execution provider " + provider.name() + ": node " + graph.node(id).Label() +
                                          " belongs to " + assignment.nodes[id].provider + " already");
    }
  };
  auto proposals = provider.ProposePartitions(graph, taken);
  for (const PartitionProposal& proposal : proposals) {
    for (const NodeId id : proposal.nodes) refuse_taken(id);
  }
  auto shapes = ValidatePartitions(graph, std::move(proposals));
  if (!shapes.empty()) {
    auto partitions = provider.Compile(graph, shapes);
    if (partitions.size() != shapes.size()) {
      throw Error(ErrorCode::kEpFail, "execution provider " + provider.name() + ": compiled " +
                                          std::to_string(partitions.size()) + " partitions, expected " +
                                          std::to_string(shapes.size()));
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const int index = static_cast<int>(assignment.partitions.size());
      for (const NodeId id : shapes[i].nodes) {
        taken[id] = true;
        assignment.nodes[id] = {id,     provider.name(), shapes[i].proposal.name, index, "compiled by the provider",
                                nullptr};
      }
      assignment.partitions.push_back({std::move(shapes[i]), provider.name(), std::move(partitions[i])});
    }
  }
  for (const NodeId id : provider.ProposeNodes(graph, taken)) {
    if (id >= taken.size()) {
      throw Error(ErrorCode::kEpFail,
                  "execution provider " + provider.name() + ": node id " + std::to_string(id) + " is not in the graph");
    }
    refuse_taken(id);
    std::string why = "the provider has no kernels";
    const KernelRegistry* kernels = provider.kernels();
    const KernelEntry* entry = kernels != nullptr ? kernels->Find(graph, graph.node(id), &why) : nullptr;
    if (entry == nullptr) {
      throw Error(ErrorCode::kEpFail, "execution provider " + provider.name() + ": asks for node " +
                                          graph.node(id).Label() + " without a kernel for it: " + why);
    }
    taken[id] = true;
    assignment.nodes[id] = {id, provider.name(), entry->registration.kernel_name, -1, "chosen by the provider", entry};
  }
}

struct SingleNodeSource {
  const KernelRegistry* kernels;
  const char* name;
  const char* reason;
};

[[noreturn]] void FailUnassigned(const Graph& graph, const Node& node, std::span<const SingleNodeSource> asked) {
  std::string message = "node " + node.Label() + ": nothing here runs version " + std::to_string(node.since_version) +
                        " with inputs " + TypesOf(graph, node.inputs) + " and outputs " + TypesOf(graph, node.outputs);
  for (const SingleNodeSource& source : asked) {
    if (source.kernels == nullptr || source.kernels->All().empty()) continue;
    std::string why;
    source.kernels->Find(graph, node, &why);
    message += std::string("; ") + source.name + ": " + why;
  }
  throw Error(ErrorCode::kNotImplemented, message);
}

}  // namespace

Assignment AssignNodes(const Graph& graph, const AssignmentSources& sources) {
  SingleNodeSource single_node_sources[] = {
      {sources.overrides, "override", "override chosen by the user"},
      {sources.native, "native kernels", "native kernel"},
      {sources.custom, "custom operators", "custom operator"},
      {nullptr, "reference fallback", "no native kernel; reference fallback"},
  };
  SingleNodeSource& fallback = single_node_sources[3];
  Assignment assignment;
  assignment.nodes.resize(graph.nodes().size());
  assignment.bodies.resize(graph.nodes().size());
  std::vector<bool> taken(graph.nodes().size(), false);
  for (ExecutionProvider* provider : sources.providers) AskProvider(graph, *provider, taken, assignment);
  for (const Node& node : graph.nodes()) {
    if (!taken[node.id]) {
      const SingleNodeSource* chosen = nullptr;
      const KernelEntry* entry = nullptr;
      for (const SingleNodeSource& source : single_node_sources) {
        if (&source == &fallback && sources.fallback != nullptr) fallback.kernels = sources.fallback();
        if (source.kernels == nullptr) continue;
        chosen = &source;
        entry = source.kernels->Find(graph, node);
        if (entry != nullptr) break;
      }
      if (entry == nullptr) FailUnassigned(graph, node, single_node_sources);
      assignment.nodes[node.id] = {node.id, kCpuProvider, entry->registration.kernel_name, -1, chosen->reason, entry};
    }
    const KernelEntry* entry = assignment.nodes[node.id].entry;
    if (entry == nullptr || entry->registration.is_hosted) continue;
    for (const Subgraph& body : node.subgraphs) {
      assignment.bodies[node.id].push_back(AssignNodes(*body.graph, sources));
    }
  }
  return assignment;
}

}  // namespace light
