// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

/// Puts nodes of a graph into groups, each of which can run as one step: none depends on itself through a node outside
/// of it, nor do groups depend on each other in a circle. There are as few as the nodes in between allow.
/// @param nodes  of the whole graph, in an order in which they can run
/// @param is_wanted  by node: whether it is to be in a group
std::vector<std::vector<const OrtNode*>> GroupNodes(const OrtApi& api, const std::vector<const OrtNode*>& nodes,
                                                    const std::vector<bool>& is_wanted);

}  // namespace ort_plugin
