// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "light/kernel_info.h"
#include "light/tensor.h"

namespace light {

/// A window that slides over the spatial axes of one input. A row is a line of the last axis; rows are counted over
/// the axes before it.
struct Window {
  Dims input, output, kernel, strides, dilations;
  Dims pads;      ///< before the first element of each axis
  Dims pads_end;  ///< behind the last one

  /// True if every output sees the one input at its own place. Extents alone do not tell: strides and padding can add
  /// up to the input's.
  bool is_identity() const noexcept;
  std::size_t last() const noexcept { return input.rank() - 1; }
  int64_t input_size() const noexcept;
  int64_t output_size() const noexcept;
  /// [batch, planes, output...]
  Dims OutputDims(int64_t batch, int64_t planes) const;
  int64_t output_rows() const noexcept;
  int64_t kernel_rows() const noexcept;
  /// The input row that kernel row `k` meets at output row `o`, or -1 if that lies in the padding.
  int64_t InputRow(int64_t o, int64_t k) const noexcept;
  /// The input column that kernel column `k` meets at output column `o`; may lie in the padding.
  int64_t InputColumn(int64_t o, int64_t k) const noexcept {
    return o * strides[last()] - pads[last()] + k * dilations[last()];
  }
  /// The output columns [begin, end) for which kernel column `k` meets an input column.
  void OutputColumns(int64_t k, int64_t& begin, int64_t& end) const noexcept;
  /// How many positions of the window at output `o` of axis `d` lie in the input, or, with `padded`, in the input and
  /// its padding.
  int64_t Covered(std::size_t d, int64_t o, bool padded) const noexcept;
};

/// The attributes that Conv, ConvTranspose and the pooling operators share.
class WindowAttributes {
 public:
  /// Throws Error (kInvalidGraph) if an attribute is not what ONNX allows.
  explicit WindowAttributes(const KernelInfo& info);
  /// As above for a pooling operator: the kernel is required, and every pad is smaller than it, else a window could see
  /// padding alone.
  static WindowAttributes ForPooling(const KernelInfo& info);
  const std::vector<int64_t>& kernel() const noexcept { return kernel_; }
  /// True if the window moves by single elements and covers neighbours.
  bool is_dense() const noexcept;
  /// The window over an input [batch, channels, ...]. Throws Error if the ranks disagree or nothing fits.
  Window Resolve(const Tensor& x, std::span<const int64_t> kernel) const;
  /// The window of a pooling operator over such an input. Where the kernel reaches farther than the input does, by less
  /// than two strides, no window fits and the extent is 0, as the formula has it; farther out Error is thrown.
  Window ResolvePooling(const Tensor& x) const;
  /// The window of a transposed convolution: it slides over what is computed, `input`, and `output` is X.
  Window ResolveTransposed(const Tensor& x, std::span<const int64_t> kernel, std::span<const int64_t> output_shape,
                           std::span<const int64_t> output_padding) const;

 private:
  Window Resolve(const Tensor& x, std::span<const int64_t> kernel, bool may_be_empty) const;
  /// Fills in what does not depend on the direction.
  Window Start(const Tensor& x, std::span<const int64_t> kernel) const;

  enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };
  std::vector<int64_t> kernel_, strides_, dilations_, pads_;
  AutoPad auto_pad_ = AutoPad::kNotSet;
  bool ceil_mode_ = false;
};

}  // namespace light
