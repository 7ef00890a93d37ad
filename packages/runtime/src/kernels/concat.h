// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "light/runtime_context.h"

namespace light {

/// Joins tensors of one type along `axis` into output 0. Throws Error if their other extents differ.
void ConcatTensors(RuntimeContext& context, std::span<const Tensor* const> inputs, int64_t axis);

}  // namespace light
