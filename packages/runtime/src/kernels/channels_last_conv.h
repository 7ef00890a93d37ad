// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_layer.h"
#include "kernels/matrix_product.h"

namespace light {

/// Convolutions of one group with two axes and constant weights whose input or output, or both, have their channels
/// last, as the product of patches with the filters.
class ChannelsLastConv {
 public:
  /// Packs or reorders `weights` [filters, channels, kernel rows, kernel columns] for these layouts: now, or at the
  /// first run if they lie in a mapped file.
  void Prepare(const KernelInfo& info, const Tensor& weights);
  void Run(RuntimeContext& context, const ConvLayer& layer, const Layouts& layouts, const float* x,
           const ConvTarget& target) const;

 private:
  PackedMatrices packed_;  ///< [depth, filters], for an output with its channels last
  HeldWeights reordered_;  ///< [filters, depth], for an input alone
};

}  // namespace light
