// SPDX-License-Identifier: Apache-2.0
#include "exec/units.h"

#include <algorithm>
#include <functional>
#include <queue>

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

}  // namespace light
