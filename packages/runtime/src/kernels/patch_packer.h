// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/conv_layer.h"
#include "kernels/padded_lines.h"
#include "kernels/pixel_rows.h"

namespace light {

/// Packs what the outputs of one layer see of its input, as right sides of the float product.
class PatchPacker {
 public:
  /// @param block_panels  the most panels that one call of Pack is for
  /// @param channels_last  of x
  PatchPacker(RuntimeContext& context, const ConvLayer& layer, const float* x, int64_t block_panels,
              bool channels_last = false);

  /// Scratch memory that Pack needs, in floats.
  int64_t scratch_floats() const noexcept;

  /// Packs for the outputs [first, first + columns) of one image and group a matrix [depth, columns]. Its rows go over
  /// channels, kernel rows and kernel columns, or over kernel rows, kernel columns and channels if those are last.
  void Pack(int64_t image, int64_t group, int64_t first, int64_t columns, float* scratch, float* packed) const;

 private:
  void PackFromLines(const float* x, int64_t first, int64_t columns, float* scratch, float* packed) const;
  /// @param first  counted over all images
  void PackFromPixels(int64_t first, int64_t columns, float* scratch, float* packed) const;
  /// @param first  the first output, counted from the first row in `lines`
  void CopyPanel(const float* lines, int64_t channels, int64_t first, int64_t columns, float* packed) const;

  static constexpr int64_t kMostPieces = 64;  // one for each column of the widest panel would do

  const ConvLayer& layer_;
  const float* x_;
  bool channels_last_;
  int64_t nr_;
  PaddedLines lines_;
  PixelRows pixels_;
  bool is_plane_;
  int64_t channel_pitch_ = 0;
  int64_t channels_ = 0;  ///< whose lines are in the scratch memory at a time
  std::size_t* columns_ = nullptr;
};

}  // namespace light
