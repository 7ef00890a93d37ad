// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_layer.h"
#include "kernels/matrix_product.h"

namespace light {

/// Convolutions 3 x 3 of stride 1 with constant weights by Winograd's F(4x4, 3x3): a quarter of the multiplications,
/// for rounding errors of about 1e-6 of the largest output instead of 1e-7.
class WinogradConv {
 public:
  /// Transforms `weights` [filters, channels, 3, 3] now, or at the first run if they lie in a mapped file.
  void Prepare(const KernelInfo& info, const Tensor& weights);
  /// True if Run computes the layer, faster than the product with patches does.
  bool Takes(const ConvLayer& layer) const;
  void Run(RuntimeContext& context, const ConvLayer& layer, const float* x, const ConvTarget& target) const;

 private:
  PackedMatrices weights_;  ///< for each of the 36 positions [channels, filters]
};

/// True if weights of these extents are worth transforming, as far as the output's type tells; it may be null.
bool SuitsWinograd(std::span<const int64_t> weights, const ValueType* output);

}  // namespace light
