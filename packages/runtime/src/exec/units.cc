// SPDX-License-Identifier: Apache-2.0
#include "exec/units.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

namespace light {

std::vector<uint32_t> OrderUnits(const Graph& graph, std::span<const uint32_t> unit_of, uint32_t unit_count) {
  const auto& nodes = graph.nodes();
  std::vector<std::vector<uint32_t>> consumers(unit_count);
  std::vector<uint32_t> waiting(unit_count, 0);
  std::vector<NodeId> first(unit_count, kNoNode);
  const auto depend = [&](uint32_t unit, ValueId value) {
    if (value == kNoValue) return;
    const NodeId producer = graph.value(value).producer;
    if (producer == kNoNode || unit_of[producer] == unit) return;
    consumers[unit_of[producer]].push_back(unit);
    ++waiting[unit];
  };
  for (const Node& node : nodes) {
    const uint32_t unit = unit_of[node.id];
    first[unit] = std::min(first[unit], node.id);
    for (const ValueId value : node.inputs) depend(unit, value);
    for (const ValueId value : node.captures) depend(unit, value);
  }
  using Entry = std::pair<NodeId, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (uint32_t unit = 0; unit < unit_count; ++unit) {
    if (waiting[unit] == 0) ready.emplace(first[unit], unit);
  }
  std::vector<uint32_t> order;
  order.reserve(unit_count);
  while (!ready.empty()) {
    const uint32_t unit = ready.top().second;
    ready.pop();
    order.push_back(unit);
    for (const uint32_t consumer : consumers[unit]) {
      if (--waiting[consumer] == 0) ready.emplace(first[consumer], consumer);
    }
  }
  return order;
}

std::string PathThroughOutside(const Graph& graph, std::span<const uint32_t> unit_of, uint32_t start) {
  struct Step {
    NodeId from;
    NodeId to;
  };
  std::unordered_map<uint32_t, std::vector<NodeId>> members;
  for (const Node& node : graph.nodes()) members[unit_of[node.id]].push_back(node.id);
  std::unordered_map<uint32_t, Step> came_by;
  std::vector<uint32_t> queue = {start};
  for (std::size_t next = 0; next < queue.size() && !came_by.contains(start); ++next) {
    for (const NodeId from : members[queue[next]]) {
      for (const ValueId output : graph.node(from).outputs) {
        if (output == kNoValue) continue;
        for (const Use& use : graph.value(output).uses) {
          const uint32_t unit = unit_of[use.node];
          if (unit != queue[next] && came_by.emplace(unit, Step{from, use.node}).second) queue.push_back(unit);
        }
      }
    }
  }
  if (!came_by.contains(start)) return "";
  Step step = came_by.at(start);
  std::string path = graph.node(step.to).Label();
  for (;;) {
    path = graph.node(step.from).Label() + " -> " + path;
    const uint32_t unit = unit_of[step.from];
    if (unit == start) return path;
    const NodeId left_at = step.from;
    step = came_by.at(unit);
    if (step.to != left_at) path = graph.node(step.to).Label() + " with " + path;
  }
}

}  // namespace light
