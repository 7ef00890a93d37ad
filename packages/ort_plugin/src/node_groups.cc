// SPDX-License-Identifier: Apache-2.0
#include "node_groups.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "graph_lists.h"

namespace ort_plugin {

std::vector<std::vector<const OrtNode*>> GroupNodes(const OrtApi& api, const std::vector<const OrtNode*>& nodes,
                                                    const std::vector<bool>& is_wanted) {
  // Group n holds the wanted nodes that lie behind n - 1 changes from a group to the nodes outside and back. What is
  // outside carries on the number of the latest group that it depends on; 0 if it depends on none.
  struct Producer {
    std::size_t group;
    bool is_wanted;
  };
  std::unordered_map<std::string_view, Producer> producers;
  std::map<std::size_t, std::vector<const OrtNode*>> groups;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::size_t group = is_wanted[i] ? 1 : 0;
    const auto read = [&](const OrtValueInfo* value) {
      if (value == nullptr) return;
      const auto found = producers.find(NameOf(api, value));
      if (found == producers.end()) return;
      const Producer& producer = found->second;
      const bool comes_back = is_wanted[i] && !producer.is_wanted && producer.group > 0;
      group = std::max(group, producer.group + (comes_back ? 1 : 0));
    };
    for (const OrtValueInfo* value : InputsOf(api, nodes[i])) read(value);
    for (const OrtValueInfo* value : CapturesOf(api, nodes[i])) read(value);
    for (const OrtValueInfo* value : OutputsOf(api, nodes[i])) {
      if (value != nullptr) producers[NameOf(api, value)] = {group, is_wanted[i]};
    }
    if (is_wanted[i]) groups[group].push_back(nodes[i]);
  }
  std::vector<std::vector<const OrtNode*>> list;
  for (auto& [number, group] : groups) list.push_back(std::move(group));
  return list;
}

}  // namespace ort_plugin
