// SPDX-License-Identifier: Apache-2.0
#include "kernels/pixel_pooling.h"

#include <algorithm>

#include "kernels/thread_scratch.h"

namespace light {

void PoolPixels(RuntimeContext& context, const Window& window, int64_t batch, int64_t channels, const float* x,
                simd::BinaryFn join, float start, const FunctionRef<float(int64_t, int64_t)>* divisor, float* y) {
  const int64_t rows = window.output[0], columns = window.output[1], line_size = window.input[1] * channels;
  const auto n = static_cast<std::size_t>(channels);
  const double cost = 0.2 * static_cast<double>(columns * channels * (window.kernel[0] + window.kernel[1])) + 20;
  ThreadScratch scratch(context, static_cast<std::size_t>(line_size));
  context.ParallelFor(batch * rows, cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % rows;
      const float* image = x + unit / rows * window.input_size() * channels;
      // Of each input column over the kernel's rows first, then of the columns.
      const float* line = nullptr;
      for (int64_t k = 0; k < window.kernel[0]; ++k) {
        const int64_t input_row = window.InputRow(row, k);
        if (input_row < 0) continue;
        const float* next = image + input_row * line_size;
        if (line != nullptr) join(next, line, lease.data(), static_cast<std::size_t>(line_size));
        line = line != nullptr ? lease.data() : next;
      }
      float* out = y + unit * columns * channels;
      for (int64_t column = 0; column < columns; ++column, out += channels) {
        const float* first = nullptr;
        for (int64_t kw = 0; kw < window.kernel[1]; ++kw) {
          const int64_t at = window.InputColumn(column, kw);
          if (at < 0 || at >= window.input[1] || line == nullptr) continue;
          const float* next = line + at * channels;
          if (first != nullptr) join(next, first, out, n);
          first = first != nullptr ? out : next;
        }
        if (first == nullptr) {
          std::fill_n(out, channels, start);
          first = out;
        }
        if (divisor != nullptr) {
          const float by = (*divisor)(row, column);
          Simd().div_scalar(first, &by, out, n);
        } else if (first != out) {
          std::copy_n(first, channels, out);
        }
      }
    }
  });
}

LayoutSupport PoolingLayouts(const KernelInfo& info) {
  const ValueType* output = info.OutputType(0);
  const bool suits = output != nullptr && output->element == ElementType::kFloat && output->shape.has_rank() &&
                     output->shape.rank() == 4 && !info.HasOutput(1);
  return suits ? LayoutSupport::kAlike : LayoutSupport::kNone;
}

}  // namespace light
