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

Assignment NobodysYet(const Graph& graph) {
  Assignment assignment;
  assignment.nodes.resize(graph.nodes().size());
  assignment.bodies.resize(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    assignment.nodes[node.id].node = node.id;
    for (const Subgraph& body : node.subgraphs) assignment.bodies[node.id].push_back(NobodysYet(*body.graph));
  }
  return assignment;
}

bool IsTaken(const Assignment& assignment, NodeId id) noexcept { return !assignment.nodes[id].provider.empty(); }

/// Asks one provider about one graph and takes its proposals over.
class Question {
 public:
  Question(const GraphOffer& offer, ExecutionProvider& provider, const AssignmentSources& sources,
           Assignment& assignment)
      : offer_(offer), provider_(provider), sources_(sources), assignment_(assignment) {}

  void Ask() {
    Proposals proposals = provider_.Propose(offer_);
    std::vector<NodeId> single = std::move(proposals.nodes);
    std::vector<bool> is_proposed(assignment_.nodes.size());
    for (const PartitionProposal& group : proposals.partitions) {
      for (const NodeId id : group.nodes) {
        if (id < is_proposed.size()) is_proposed[id] = true;
      }
    }
    std::vector<std::string> notes;
    std::erase_if(proposals.partitions, [&](const PartitionProposal& group) { return ReachesTaken(group, notes); });
    auto groups =
        MendGroups(offer_.graph, std::move(proposals.partitions), provider_.broken_groups(), proposals.hidden, notes);
    for (const std::string& note : notes) {
      if (sources_.warn) sources_.warn("execution provider " + provider_.name() + ": " + note);
    }
    TakePartitions(ValidatePartitions(offer_, std::move(groups)));
    for (const NodeId id : single) TakeNode(id);
    for (NodeAssignment& node : assignment_.nodes) {
      if (node.provider == provider_.name()) continue;
      const std::string why = !node.provider.empty()   ? "belongs to " + node.provider + " already"
                              : is_proposed[node.node] ? "proposed the node in a group that was left out"
                                                       : provider_.WhyNot(offer_, offer_.graph.node(node.node));
      node.declined += (node.declined.empty() ? "" : "; ") + provider_.name() + ": " + why;
    }
  }

 private:
  [[noreturn]] void Refuse(const std::string& what, ErrorCode code = ErrorCode::kEpFail) const {
    throw Error(code, "execution provider " + provider_.name() + ": " + what);
  }

  /// Whoever asks first has a node; providers need not look who that was.
  bool ReachesTaken(const PartitionProposal& group, std::vector<std::string>& notes) const {
    for (const NodeId id : group.nodes) {
      if (id >= assignment_.nodes.size() || !IsTaken(assignment_, id)) continue;
      notes.push_back("partition '" + group.name + "' is left out: node " + offer_.graph.node(id).Label() +
                      " belongs to " + assignment_.nodes[id].provider + " already");
      return true;
    }
    return false;
  }

  void TakePartitions(std::vector<PartitionShape> shapes) {
    if (shapes.empty()) return;
    auto partitions = provider_.Compile(offer_, shapes);
    if (partitions.size() != shapes.size()) {
      Refuse("compiled " + std::to_string(partitions.size()) + " partitions, expected " +
             std::to_string(shapes.size()));
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const int index = static_cast<int>(assignment_.partitions.size());
      for (const NodeId id : shapes[i].nodes) {
        Take(id, shapes[i].proposal.name, index, "compiled by the provider", nullptr);
      }
      assignment_.partitions.push_back({std::move(shapes[i]), provider_.name(), std::move(partitions[i])});
    }
  }

  void TakeNode(NodeId id) {
    if (id >= assignment_.nodes.size()) Refuse("node id " + std::to_string(id) + " is not in the graph");
    if (IsTaken(assignment_, id)) return;
    std::string why;
    const Node& node = offer_.graph.node(id);
    const KernelEntry* entry = provider_.FindKernel(offer_.graph, node, &why);
    if (entry == nullptr) {
      Refuse("asks for node " + node.Label() + " of version " + std::to_string(node.since_version) +
                 " without a kernel for it: " + why,
             ErrorCode::kNotImplemented);
    }
    Take(id, entry->registration.kernel_name, -1, "chosen by the provider", entry);
  }

  void Take(NodeId id, std::string kernel, int partition, std::string reason, const KernelEntry* entry) {
    NodeAssignment& node = assignment_.nodes[id];
    node.provider = provider_.name();
    node.kernel = std::move(kernel);
    node.partition = partition;
    node.reason = std::move(reason);
    node.entry = entry;
  }

  const GraphOffer& offer_;
  ExecutionProvider& provider_;
  const AssignmentSources& sources_;
  Assignment& assignment_;
};

/// Asks about the bodies of nodes that nobody has, then about the graph.
void AskInnerFirst(const GraphOffer& offer, ExecutionProvider& provider, const AssignmentSources& sources,
                   Assignment& assignment) {
  for (const Node& node : offer.graph.nodes()) {
    if (IsTaken(assignment, node.id)) continue;
    for (std::size_t i = 0; i < node.subgraphs.size(); ++i) {
      Assignment& body = assignment.bodies[node.id][i];
      AskInnerFirst({*node.subgraphs[i].graph, body, &offer, node.id}, provider, sources, body);
    }
  }
  if (!offer.graph.nodes().empty()) Question(offer, provider, sources, assignment).Ask();
}

struct SingleNodeSource {
  const KernelRegistry* kernels;
  const char* name;
  const char* reason;
};

[[noreturn]] void FailUnassigned(const Graph& graph, const Node& node, const NodeAssignment& assigned,
                                 std::span<const SingleNodeSource> asked) {
  std::string message = "node " + node.Label() + ": nothing here runs version " + std::to_string(node.since_version) +
                        " with inputs " + TypesOf(graph, node.inputs) + " and outputs " + TypesOf(graph, node.outputs);
  for (const SingleNodeSource& source : asked) {
    if (source.kernels == nullptr || source.kernels->All().empty()) continue;
    std::string why;
    source.kernels->Find(graph, node, &why);
    message += std::string("; ") + source.name + ": " + why;
  }
  if (!assigned.declined.empty()) message += "; " + assigned.declined;
  throw Error(ErrorCode::kNotImplemented, message);
}

/// Lists nodes in the bodies of `node` that a provider other than `taker` has, as `'a' (Add) of First`.
void ListOthersInside(const Node& node, const std::vector<Assignment>& bodies, const std::string& taker,
                      std::string& list) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (const NodeAssignment& inner : bodies[i].nodes) {
      const Node& at = node.subgraphs[i].graph->node(inner.node);
      if (!inner.provider.empty() && inner.provider != taker) {
        list += (list.empty() ? "" : ", ") + at.Label() + " of " + inner.provider;
      }
      ListOthersInside(at, bodies[i].bodies[inner.node], taker, list);
    }
  }
}

/// The bodies of a node run inside of what has the node: those who have nodes in them lose them.
void DropBodies(const Node& node, const AssignmentSources& sources, NodeAssignment& assigned,
                std::vector<Assignment>& bodies) {
  std::string others;
  ListOthersInside(node, bodies, assigned.provider, others);
  bodies.clear();
  if (others.empty()) return;
  assigned.reason += "; takes with it " + others;
  if (sources.warn) {
    sources.warn("execution provider " + assigned.provider + ": node " + node.Label() + " (" + assigned.kernel +
                 ") takes with it what is in its bodies: " + others);
  }
}

/// Gives the nodes that no provider has to the first of the other sources that runs them.
void AssignRest(const Graph& graph, const AssignmentSources& sources, Assignment& assignment) {
  SingleNodeSource single_node_sources[] = {
      {sources.overrides, "override", "override chosen by the user"},
      {sources.native, "native kernels", "native kernel"},
      {sources.custom, "custom operators", "custom operator"},
      {nullptr, "reference fallback", "no native kernel; reference fallback"},
  };
  SingleNodeSource& fallback = single_node_sources[3];
  for (const Node& node : graph.nodes()) {
    NodeAssignment& assigned = assignment.nodes[node.id];
    if (!IsTaken(assignment, node.id)) {
      const SingleNodeSource* chosen = nullptr;
      for (const SingleNodeSource& source : single_node_sources) {
        if (&source == &fallback && sources.fallback != nullptr) fallback.kernels = sources.fallback();
        if (source.kernels == nullptr) continue;
        chosen = &source;
        assigned.entry = source.kernels->Find(graph, node);
        if (assigned.entry != nullptr) break;
      }
      if (assigned.entry == nullptr) FailUnassigned(graph, node, assigned, single_node_sources);
      assigned.provider = kCpuProvider;
      assigned.kernel = assigned.entry->registration.kernel_name;
      assigned.reason = chosen->reason;
    }
    if (assigned.entry == nullptr || assigned.entry->registration.is_hosted) {
      DropBodies(node, sources, assigned, assignment.bodies[node.id]);
      continue;
    }
    for (std::size_t i = 0; i < node.subgraphs.size(); ++i) {
      AssignRest(*node.subgraphs[i].graph, sources, assignment.bodies[node.id][i]);
    }
  }
}

}  // namespace

Assignment AssignNodes(const Graph& graph, const AssignmentSources& sources) {
  Assignment assignment = NobodysYet(graph);
  for (ExecutionProvider* provider : sources.providers)
    AskInnerFirst({graph, assignment}, *provider, sources, assignment);
  AssignRest(graph, sources, assignment);
  return assignment;
}

}  // namespace light
