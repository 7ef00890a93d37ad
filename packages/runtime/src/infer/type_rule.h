// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "light/graph.h"

namespace light {

/// The rule that every schema implies: arguments of one type parameter have one type, out of those it allows, and an
/// output has the type that its parameter is bound to, or the only one that it allows.
/// `inputs` are the argument types by position, nullptr where omitted; `outputs` gets one type per output of the node,
/// unknown where the rule does not tell. Throws Error (kInvalidGraph) for an argument of a wrong type.
void ApplyTypeRule(const Node& node, std::span<const ValueType* const> inputs, std::vector<ValueType>& outputs);

/// The type without shapes.
ValueType WithoutShape(const ValueType& type);

}  // namespace light
