// SPDX-License-Identifier: Apache-2.0
#include "kernels/pixel_rows.h"

#include <cstring>

namespace light {

PixelRows::PixelRows(const ConvLayer& layer) : layer_(layer), is_dense_(layer.window.is_identity()) {}

void PixelRows::Gather(const float* x, int64_t first, int64_t count, float* rows) const {
  const Window& w = layer_.window;
  const int64_t outputs = w.output_size(), image_size = w.input_size() * layer_.channels;
  const int64_t width = w.output[1], input_width = w.input[1], channels = layer_.channels;
  const int64_t kernel_rows = w.kernel[0], kernel_width = w.kernel[1], dilation = w.dilations[1];
  const auto pixel = static_cast<std::size_t>(channels) * sizeof(float);
  for (int64_t at = first; at < first + count; ++at) {
    const float* image = x + at / outputs * image_size;
    const int64_t row = at % outputs / width, start = w.InputColumn(at % width, 0);
    const bool is_inside = dilation == 1 && start >= 0 && start + kernel_width <= input_width;
    for (int64_t k = 0; k < kernel_rows; ++k) {
      const int64_t input_row = w.InputRow(row, k);
      const float* line = image + input_row * input_width * channels;
      if (input_row < 0) {
        std::memset(rows, 0, static_cast<std::size_t>(kernel_width) * pixel);
        rows += kernel_width * channels;
      } else if (is_inside) {
        std::memcpy(rows, line + start * channels, static_cast<std::size_t>(kernel_width) * pixel);
        rows += kernel_width * channels;
      } else {
        for (int64_t kw = 0; kw < kernel_width; ++kw, rows += channels) {
          const int64_t column = start + kw * dilation;
          if (column < 0 || column >= input_width) {
            std::memset(rows, 0, pixel);
          } else {
            std::memcpy(rows, line + column * channels, pixel);
          }
        }
      }
    }
  }
}

void ReorderFilters(const float* weights, int64_t filters, int64_t channels, int64_t positions, float* out) {
  for (int64_t f = 0; f < filters; ++f)
    for (int64_t p = 0; p < positions; ++p)
      for (int64_t c = 0; c < channels; ++c) *out++ = weights[(f * channels + c) * positions + p];
}

}  // namespace light
