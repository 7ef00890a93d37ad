// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_layer.h"
#include "kernels/held_weights.h"

namespace light {

/// Convolutions over two axes of as many groups as channels and filters, whose tensors have their channels last.
class DepthwisePixels {
 public:
  /// Turns the constant `weights` [channels, 1, kernel rows, kernel columns] around: now, or at the first run if they
  /// lie in a mapped file.
  void Prepare(const KernelInfo& info, const Tensor& weights);
  void Run(RuntimeContext& context, const ConvLayer& layer, const float* x, const ConvTarget& target) const;

 private:
  HeldWeights weights_;  ///< [kernel rows, kernel columns, channels]
};

}  // namespace light
