// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "adapters/kernel_registry.h"
#include "light/graph.h"

namespace ort_host {

/// The first kernel that is for the node's operator, version and every type, of a provider of that name; null if there
/// is none, and then `why` (if given) says what the nearest one lacks. Never one for a node with subgraphs: a library's
/// kernel cannot run them.
const RegisteredKernel* FindRegisteredKernel(const KernelRegistryAdapter& registry, const std::string& ep_name,
                                             const light::Graph& graph, const light::Node& node, std::string* why);

}  // namespace ort_host
