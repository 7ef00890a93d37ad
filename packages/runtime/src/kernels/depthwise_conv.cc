// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_conv.h"

#include <algorithm>

#include "kernels/scratch.h"
#include "kernels/thread_scratch.h"

namespace light {

void ConvolveDepthwise(RuntimeContext& context, const ConvLayer& layer, const PaddedLines& lines, const float* x,
                       const float* weights, const ConvTarget& target) {
  const simd::SimdTable& simd = Simd();
  const int64_t rows = lines.output_rows(), columns = lines.output_columns(), taps = layer.depth();
  const int64_t plane = layer.window.input_size(), group_filters = layer.group_filters();
  auto* offsets = Scratch<std::size_t>(context, taps);
  for (int64_t row = 0, tap = 0; row < lines.kernel_rows(); ++row)
    for (int64_t column = 0; column < lines.kernel_columns(); ++column)
      offsets[tap++] = static_cast<std::size_t>(row * lines.kernel_row_pitch() + lines.ColumnOffset(column));
  // As many rows at a time as the first-level cache has room for, in fours, which are computed together.
  constexpr int64_t kBlockFloats = 6144;
  const int64_t fitting = (kBlockFloats - lines.Size(1)) / std::max<int64_t>(lines.row_pitch(), 1) + 1;
  const int64_t block = std::min(std::max<int64_t>(fitting / 4 * 4, 4), rows);
  const int64_t blocks = (rows + block - 1) / block;
  ThreadScratch scratch(context, static_cast<std::size_t>(lines.Size(block)) + simd.nr);
  const double cost = static_cast<double>(block * columns * (taps + 4)) / 20 + 20;
  context.ParallelFor(layer.batch * layer.filters * blocks, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * block, count = std::min(block, rows - first);
      const int64_t filter = unit / blocks % layer.filters, b = unit / blocks / layer.filters;
      lines.Fill(x + (b * layer.channels + filter / group_filters) * plane, first, count, lease.data());
      const int64_t at = ((b * layer.filters + filter) * rows + first) * columns;
      const simd::DepthwiseArgs args = {
          .lines = lease.data(),
          .row_pitch = static_cast<std::size_t>(lines.row_pitch()),
          .offsets = offsets,
          .weights = weights + filter * taps,
          .taps = static_cast<std::size_t>(taps),
          .bias = target.bias ? target.bias[filter] : 0.f,
          .rows = static_cast<std::size_t>(count),
          .columns = static_cast<std::size_t>(columns),
          .y = target.y + at,
          .residual = target.residual ? target.residual + at : nullptr,
          .relu = target.relu,
      };
      simd.depthwise(&args);
    }
  });
}

}  // namespace light
