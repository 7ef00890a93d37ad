// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/simd_dispatch.h"
#include "kernels/window.h"
#include "light/function_ref.h"
#include "light/runtime_context.h"

namespace light {

/// Joins what each window sees of images [height, width, channels], channel by channel: y [batch, rows, columns,
/// channels].
/// @param join     writes the join of its first two arguments to the third
/// @param start    what a window gives that sees padding alone
/// @param divisor  of (output row, output column): what the result is divided by; none if null
void PoolPixels(RuntimeContext& context, const Window& window, int64_t batch, int64_t channels, const float* x,
                simd::BinaryFn join, float start, const FunctionRef<float(int64_t, int64_t)>* divisor, float* y);

/// What pooling over two axes that gives no indices can do.
LayoutSupport PoolingLayouts(const KernelInfo& info);

}  // namespace light
