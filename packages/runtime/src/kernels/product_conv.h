// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_layer.h"

namespace light {

/// A convolution as the product of its filters with patches of the input, for any window. Patches are packed a block at
/// a time, so that they are still in the cache when they are used.
/// @param input_last  x has its channels last: the layer has one group and two axes, and `weights` are ordered as
///                    ReorderFilters does
void ConvolveByProduct(RuntimeContext& context, const ConvLayer& layer, bool input_last, const float* x,
                       const float* weights, const ConvTarget& target);

}  // namespace light
