// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "light/graph.h"

namespace light {

/// Orders units of execution. `unit_of[node]` is the unit that a node belongs to, 0 to `unit_count` - 1. Among units
/// that may run, the one with the earliest node goes first, so that without groups the graph's own order stays.
/// Units on a cycle, and what depends on them, are missing from the result.
std::vector<uint32_t> OrderUnits(const Graph& graph, std::span<const uint32_t> unit_of, uint32_t unit_count);

/// A shortest path that leaves the unit `start` and comes back to it, as labels of nodes; "" if there is none. Where it
/// comes into a unit at one node and leaves it at another, both are named: `'b' (Add) with 'c' (Mul)`.
std::string PathThroughOutside(const Graph& graph, std::span<const uint32_t> unit_of, uint32_t start);

}  // namespace light
