// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <queue>

#include "graph/name_resolver.h"

namespace light {
namespace {

/// Calls `visit(producer)` for every node of the graph that `node` reads from, itself or in its subgraphs.
template <class Visit>
void ForEachProducer(const GraphDraft& graph, const Node& node, Visit visit) {
  for (const auto* list : {&node.inputs, &node.captures}) {
    for (const ValueId value : *list) {
      if (value != kNoValue && graph.values[value].producer != kNoNode) visit(graph.values[value].producer);
    }
  }
}

bool IsOrdered(const GraphDraft& graph) {
  bool ordered = true;
  for (const Node& node : graph.nodes) {
    ForEachProducer(graph, node, [&](NodeId producer) { ordered &= producer < node.id; });
  }
  return ordered;
}

/// `waiting` counts what each node still waits for. Among nodes that wait for each other there is a cycle: walking
/// from producer to producer must come back.
[[noreturn]] void FailCycle(const GraphDraft& graph, const std::vector<uint32_t>& waiting) {
  NodeId at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<NodeId> path;
  std::vector<bool> seen(graph.nodes.size());
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    NodeId next = kNoNode;
    ForEachProducer(graph, graph.nodes[at], [&](NodeId producer) {
      if (waiting[producer] > 0) next = producer;
    });
    at = next;
  }
  constexpr std::size_t kShown = 8;
  std::string nodes = graph.nodes[at].Label();
  std::size_t shown = 1;
  for (std::size_t i = path.size(); i-- > 0 && path[i] != at;) {
    if (++shown <= kShown) nodes += " -> " + graph.nodes[path[i]].Label();
  }
  if (shown > kShown) nodes += " -> " + std::to_string(shown - kShown) + " more";
  nodes += " -> " + graph.nodes[at].Label();
  throw Error(ErrorCode::kInvalidGraph, "graph '" + graph.name + "': the nodes feed each other in a cycle: " + nodes);
}

/// The order in which nodes can run; of those that can, the first in the model comes first.
std::vector<NodeId> RunnableOrder(const GraphDraft& graph) {
  std::vector<uint32_t> waiting(graph.nodes.size());
  std::vector<std::vector<NodeId>> readers(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    ForEachProducer(graph, node, [&](NodeId producer) {
      ++waiting[node.id];
      readers[producer].push_back(node.id);
    });
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (const Node& node : graph.nodes) {
    if (waiting[node.id] == 0) ready.push(node.id);
  }
  std::vector<NodeId> order;
  order.reserve(graph.nodes.size());
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (const NodeId reader : readers[id]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() < graph.nodes.size()) FailCycle(graph, waiting);
  return order;
}

void Permute(GraphDraft& graph, const std::vector<NodeId>& order) {
  std::vector<Node> nodes;
  std::vector<const CallFrame*> frames;
  std::vector<std::vector<DraftBody>> bodies(graph.bodies.empty() ? 0 : order.size());
  nodes.reserve(order.size());
  frames.reserve(order.size());
  graph.bodies.resize(bodies.size());
  for (const NodeId old_id : order) {
    const auto id = static_cast<NodeId>(nodes.size());
    if (!bodies.empty()) bodies[id] = std::move(graph.bodies[old_id]);
    frames.push_back(graph.frames[old_id]);
    Node& node = nodes.emplace_back(std::move(graph.nodes[old_id]));
    node.id = id;
    for (const ValueId value : node.outputs) {
      if (value != kNoValue) graph.values[value].producer = id;
    }
  }
  graph.nodes = std::move(nodes);
  graph.frames = std::move(frames);
  graph.bodies = std::move(bodies);
}

}  // namespace

void OrderNodes(GraphDraft& graph) {
  if (!graph.bodies.empty()) graph.bodies.resize(graph.nodes.size());
  if (!IsOrdered(graph)) Permute(graph, RunnableOrder(graph));
  for (const Node& node : graph.nodes) {
    uint32_t position = 0;
    for (const auto* list : {&node.inputs, &node.captures}) {
      for (const ValueId value : *list) {
        if (value != kNoValue) graph.values[value].uses.push_back({node.id, position});
        ++position;
      }
    }
  }
}

}  // namespace light
