// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_pixels.h"

#include <algorithm>

#include "kernels/pixel_rows.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

/// The taps of a window that meet the input, for outputs of one row.
struct Taps {
  std::size_t count = 0;
  std::ptrdiff_t* offsets;
  std::size_t* weight_offsets;

  /// Those of kernel columns that meet the input at output column `column`. Offsets count from the window's first row
  /// and column.
  void Collect(const Window& w, int64_t channels, int64_t row, int64_t column) {
    count = 0;
    for (int64_t k = 0; k < w.kernel[0]; ++k) {
      if (w.InputRow(row, k) < 0) continue;
      for (int64_t kw = 0; kw < w.kernel[1]; ++kw) {
        const int64_t at = w.InputColumn(column, kw);
        if (at < 0 || at >= w.input[1]) continue;
        offsets[count] = (k * w.dilations[0] * w.input[1] + kw * w.dilations[1]) * channels;
        weight_offsets[count++] = static_cast<std::size_t>((k * w.kernel[1] + kw) * channels);
      }
    }
  }
};

/// The output columns [begin, end) whose windows lie within the input's width.
void WholeColumns(const Window& w, int64_t& begin, int64_t& end) {
  begin = 0;
  end = w.output[1];
  for (int64_t kw = 0; kw < w.kernel[1]; ++kw) {
    int64_t first, last;
    w.OutputColumns(kw, first, last);
    begin = std::max(begin, first);
    end = std::min(end, last);
  }
  end = std::max(begin, end);
}

}  // namespace

void DepthwisePixels::Prepare(const KernelInfo& info, const Tensor& weights) {
  weights_.Make(
      info, 1, [this, data = weights.Data<float>(), channels = weights.dim(0), taps = weights.dim(2) * weights.dim(3)] {
        auto* out = static_cast<float*>(weights_.Allocate(static_cast<std::size_t>(channels * taps) * sizeof(float)));
        ReorderFilters(data, 1, channels, taps, out);
      });
}

void DepthwisePixels::Run(RuntimeContext& context, const ConvLayer& layer, const float* x,
                          const ConvTarget& target) const {
  const Window& w = layer.window;
  const int64_t channels = layer.channels, rows = w.output[0], columns = w.output[1];
  const int64_t most = w.kernel[0] * w.kernel[1];
  const auto* weights = static_cast<const float*>(weights_.data());
  int64_t whole_begin, whole_end;
  WholeColumns(w, whole_begin, whole_end);
  static_assert(sizeof(std::ptrdiff_t) == 2 * sizeof(float) && sizeof(std::size_t) == 2 * sizeof(float));
  ThreadScratch scratch(context, static_cast<std::size_t>(4 * most));
  const double cost = static_cast<double>(columns * channels * (most + 4)) / 20 + 20;
  context.ParallelFor(layer.batch * rows, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    Taps taps = {.offsets = reinterpret_cast<std::ptrdiff_t*>(lease.data()),
                 .weight_offsets = reinterpret_cast<std::size_t*>(lease.data() + 2 * most)};
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / rows, row = unit % rows;
      const auto run = [&](int64_t first, int64_t count) {
        taps.Collect(w, channels, row, first);
        const int64_t start = (row * w.strides[0] - w.pads[0]) * w.input[1] + w.InputColumn(first, 0);
        const int64_t at = (unit * columns + first) * channels;
        const simd::DepthwisePixelsArgs args = {
            .x = x + (image * w.input_size() + start) * channels,
            .step = w.strides[1] * channels,
            .offsets = taps.offsets,
            .weight_offsets = taps.weight_offsets,
            .weights = weights,
            .taps = taps.count,
            .columns = static_cast<std::size_t>(count),
            .channels = static_cast<std::size_t>(channels),
            .bias = target.bias,
            .y = target.y + at,
            .residual = target.residual ? target.residual + at : nullptr,
            .relu = target.relu,
        };
        Simd().depthwise_pixels(&args);
      };
      for (int64_t column = 0; column < whole_begin; ++column) run(column, 1);
      if (whole_begin < whole_end) run(whole_begin, whole_end - whole_begin);
      for (int64_t column = whole_end; column < columns; ++column) run(column, 1);
    }
  });
}

}  // namespace light
