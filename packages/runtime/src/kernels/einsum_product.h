// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "light/runtime_context.h"

namespace light {

/// A tensor whose axes are labels. The labels are the letters of an equation, then the axes that its ellipsis stands
/// for.
template <class A>
struct EinsumOperand {
  const A* data = nullptr;
  Dims strides;  ///< by label; 0 where the axis is missing or has one element for all
  Dims present;  ///< by label: 1 if the operand has it
};

/// Computes sum(a * b) by products of matrices, dense in the order of labels given, and returns true; or false if the
/// equation is none, or so small that packing does not pay. `extents` are those of the labels.
bool EinsumByProducts(RuntimeContext& context, const Dims& extents, const EinsumOperand<float>& a,
                      const EinsumOperand<float>& b, const Dims& order, float* out);

}  // namespace light
