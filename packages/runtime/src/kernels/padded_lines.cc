// SPDX-License-Identifier: Apache-2.0
#include "kernels/padded_lines.h"

#include <algorithm>

namespace light {

PaddedLines::PaddedLines(const Window& w)
    : output_rows_(w.output_rows()),
      output_columns_(w.output[w.last()]),
      kernel_rows_(w.kernel_rows()),
      kernel_columns_(w.kernel[w.last()]),
      column_dilation_(w.dilations[w.last()]) {
  int64_t input_rows = 1;
  if (w.last() == 1) {
    input_rows = w.input[0];
    pad_ = w.pads[0];
    stride_ = w.strides[0];
    dilation_ = w.dilations[0];
    reach_ = (w.kernel[0] - 1) * dilation_ + 1;
  }
  const int64_t width = w.input[w.last()], stride = w.strides[w.last()],
                last = (kernel_columns_ - 1) * column_dilation_;
  const int64_t phases = std::min(stride, last + 1);
  const int64_t phase_pitch = output_columns_ + last / stride;
  pitch_ = phases * phase_pitch;
  layout_ = {.rows = input_rows,
             .width = static_cast<std::size_t>(width),
             .pad = static_cast<std::size_t>(w.pads[w.last()]),
             .stride = static_cast<std::size_t>(stride),
             .phases = static_cast<std::size_t>(phases),
             .phase_pitch = static_cast<std::size_t>(phase_pitch)};
  suits_ = w.last() <= 1 && phase_pitch <= 4 * width + 64 && pitch_ <= 4 * width + 64 &&
           reach_ <= 4 * input_rows + 64 && stride_ <= 4 * input_rows + 64;
}

int64_t PaddedLines::ColumnOffset(int64_t k) const noexcept {
  const int64_t at = k * column_dilation_, stride = static_cast<int64_t>(layout_.stride);
  return at % stride * static_cast<int64_t>(layout_.phase_pitch) + at / stride;
}

void PaddedLines::Fill(const float* plane, int64_t first, int64_t rows, float* lines) const {
  const int64_t begin = first * stride_ - pad_;
  Simd().pad_lines(plane, &layout_, begin, begin + (rows - 1) * stride_ + reach_, lines);
}

}  // namespace light
