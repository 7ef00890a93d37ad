// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/simd_dispatch.h"
#include "kernels/window.h"

namespace light {

/// How windows over one or two axes find their elements in padded copies of the input's lines: without a look at edges
/// and strides, neighbouring windows at neighbouring places. A buffer holds the lines that some output rows need.
class PaddedLines {
 public:
  explicit PaddedLines(const Window& window);
  /// False if there are more than two axes, or if padding or dilation would fill most of the copies.
  bool Suits() const noexcept { return suits_; }

  int64_t output_rows() const noexcept { return output_rows_; }
  int64_t output_columns() const noexcept { return output_columns_; }
  int64_t kernel_rows() const noexcept { return kernel_rows_; }
  int64_t kernel_columns() const noexcept { return kernel_columns_; }
  /// Elements of the lines that `rows` output rows need.
  int64_t Size(int64_t rows) const noexcept { return ((rows - 1) * stride_ + reach_) * pitch_; }
  /// Elements from the lines of one output row to those of the next, and from one kernel row to the next.
  int64_t row_pitch() const noexcept { return stride_ * pitch_; }
  int64_t kernel_row_pitch() const noexcept { return dilation_ * pitch_; }
  /// Where kernel column `k` finds its element, from the place of the window.
  int64_t ColumnOffset(int64_t k) const noexcept;

  /// Copies the lines that the output rows [first, first + rows) need of one channel. Spoils up to SimdTable::nr
  /// elements behind them.
  void Fill(const float* plane, int64_t first, int64_t rows, float* lines) const;

 private:
  int64_t output_rows_, output_columns_, kernel_rows_, kernel_columns_;
  int64_t pad_ = 0, stride_ = 1, dilation_ = 1, reach_ = 1;  // of the rows
  int64_t column_dilation_, pitch_;
  simd::LineLayout layout_;
  bool suits_;
};

}  // namespace light
