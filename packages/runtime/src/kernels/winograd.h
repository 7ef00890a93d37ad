// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_layer.h"
#include "kernels/held_weights.h"

namespace light {

/// Convolutions 3 x 3 of stride 1 with constant weights by Winograd's F(4x4, 3x3), a quarter of the multiplications for
/// rounding errors of about 1e-6 of the largest output instead of 1e-7, or, where large weights meet few tiles, by
/// F(2x2, 3x3), which reads less than half as many weights.
class WinogradConv {
 public:
  /// Transforms `weights` [filters, channels, 3, 3] now, or at the first run if they lie in a mapped file, if that is
  /// worth it as far as the extents of the output tell.
  /// @param output  its type; may be null
  void Prepare(const KernelInfo& info, const Tensor& weights, const ValueType* output);
  bool empty() const noexcept { return weights_.empty(); }
  /// True if Run computes the layer, faster than the product with patches does.
  bool Takes(const ConvLayer& layer) const;
  void Run(RuntimeContext& context, const ConvLayer& layer, const Layouts& layouts, const float* x,
           const ConvTarget& target) const;

 private:
  int64_t tile_ = 0;     ///< outputs along an axis of a tile: 4 or 2
  HeldWeights weights_;  ///< for each panel of filters, for each position of a tile: packed [channels, filters]
};

}  // namespace light
