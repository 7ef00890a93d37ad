// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/runtime_context.h"

namespace light {

/// Writes the elements of a tensor with extents `dims`, none of them 0, in the order that `perm` gives its axes.
void TransposeElements(RuntimeContext& context, ElementType type, const Dims& dims, const Dims& perm, const void* from,
                       void* to);

}  // namespace light
