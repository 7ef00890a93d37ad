// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_layer.h"
#include "kernels/padded_lines.h"

namespace light {

/// A convolution whose filters see one channel each. `lines` must suit.
void ConvolveDepthwise(RuntimeContext& context, const ConvLayer& layer, const PaddedLines& lines, const float* x,
                       const float* weights, const ConvTarget& target);

}  // namespace light
