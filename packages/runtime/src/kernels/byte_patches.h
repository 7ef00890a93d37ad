// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/conv_layer.h"
#include "kernels/integer_product.h"

namespace light {

/// The patches that a convolution's windows see of an image of bytes, as the right side of a product: one column per
/// output element, one row per weight of a filter.
class BytePatches {
 public:
  BytePatches(RuntimeContext& context, const ConvLayer& layer);

  /// Of the channels from `x` on, as many as a group has. Padding is `zero`, as the right side holds it.
  PackedBytes Pack(RuntimeContext& context, const void* x, bool is_signed, uint8_t zero);

 private:
  void Pad(RuntimeContext& context, const uint8_t* x, uint8_t flip, uint8_t zero);
  void PackPanel(int64_t panel);

  const Window& window_;
  int64_t channels_, depth_, columns_;
  Dims padded_, pitch_;  ///< extents of a channel with its padding, and their strides
  int64_t plane_ = 1;
  uint8_t* image_;
  int64_t* taps_;  ///< by weight of a filter: where its element lies, from a window's first
  uint8_t* packed_;
  int32_t* sums_;
};

}  // namespace light
