// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "exec/plan.h"

namespace light {

using ConstantTable = std::vector<std::shared_ptr<const Value>>;  // by ValueId; nullptr: not a constant

/// Computes a step whose inputs are all constants and adds its outputs to `constants`. Returns false, changing
/// nothing, if the step must stay: an input is no constant, it runs foreign code, it has captures, its result is large,
/// or it fails (the error belongs to the run).
bool FoldStep(const Graph& graph, const KernelRegistration& registration, Step& step, ConstantTable& constants);

}  // namespace light
