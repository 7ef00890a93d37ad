// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/conv_layer.h"

namespace light {

/// What the outputs of a layer of one group see of images with their channels last, as rows of a matrix: kernel rows,
/// kernel columns, channels. Windows have two axes.
class PixelRows {
 public:
  explicit PixelRows(const ConvLayer& layer);
  /// True if the images are that matrix.
  bool is_dense() const noexcept { return is_dense_; }
  int64_t depth() const noexcept { return layer_.depth(); }  ///< floats of a row
  /// Copies the rows [first, first + count), counted over all images.
  void Gather(const float* x, int64_t first, int64_t count, float* rows) const;

 private:
  const ConvLayer& layer_;
  bool is_dense_;
};

/// Filters [filters, channels, kernel rows, kernel columns] as rows of that order.
void ReorderFilters(const float* weights, int64_t filters, int64_t channels, int64_t positions, float* out);

}  // namespace light
