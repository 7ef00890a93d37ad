// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/arguments.h"
#include "kernels/simd_dispatch.h"
#include "kernels/window.h"
#include "light/runtime_context.h"

namespace light {

/// A convolution with all extents known.
struct ConvLayer {
  Window window;
  int64_t batch, channels, filters, groups;
  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t depth() const { return group_channels() * Product(window.kernel, 0, window.kernel.rank()); }
  Dims OutputDims() const;
};

/// Where the results of a convolution go, and what happens to them on the way: bias, residual, Relu.
template <class T>
struct ConvResult {
  T* y;
  const T* bias = nullptr;      ///< one per filter
  const T* residual = nullptr;  ///< of the extents of y
  bool relu = false;
};
using ConvTarget = ConvResult<float>;

/// The attributes of Conv and its relatives.
class ConvAttributes {
 public:
  explicit ConvAttributes(const KernelInfo& info);
  /// The layer of these inputs. Throws Error, naming the input by its number, if they do not fit each other.
  ConvLayer Resolve(const Tensor& x, std::size_t w_input, const Tensor& weights, std::size_t bias_input,
                    const Tensor* bias) const;
  int64_t groups() const noexcept { return groups_; }
  const WindowAttributes& window() const noexcept { return window_; }

 private:
  WindowAttributes window_;
  int64_t groups_;
};

template <class T>
void AddScaled(T factor, const T* x, int64_t stride, int64_t n, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) return Simd().axpy(factor, x, y, static_cast<std::size_t>(n));
  }
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i * stride];
}

/// Row by row, without patches: for few filters per group, as depthwise layers have, and for types without a product.
template <class T>
void ConvolveDirectly(RuntimeContext& context, const ConvLayer& layer, const T* x, const T* weights,
                      const ConvResult<T>& result) {
  const Window& w = layer.window;
  const int64_t rows = w.output_rows(), width = w.output[w.last()], kernel_rows = w.kernel_rows();
  const int64_t kernel_width = w.kernel[w.last()], input_width = w.input[w.last()], plane = w.input_size();
  const double cost = 0.3 * static_cast<double>(width * layer.depth()) + 5;
  context.ParallelFor(layer.batch * layer.filters * rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % rows, filter = unit / rows % layer.filters, b = unit / rows / layer.filters;
      const T* kernel = weights + filter * layer.depth();
      const T* input = x + (b * layer.channels + filter / layer.group_filters() * layer.group_channels()) * plane;
      T* out = result.y + unit * width;
      std::fill_n(out, width, result.bias ? result.bias[filter] : T{0});
      for (int64_t k = 0; k < kernel_rows; ++k) {
        const int64_t input_row = w.InputRow(row, k);
        if (input_row < 0) continue;
        for (int64_t kw = 0; kw < kernel_width; ++kw) {
          int64_t first, last;
          w.OutputColumns(kw, first, last);
          if (first == last) continue;
          const T* source = input + input_row * input_width + w.InputColumn(first, kw);
          for (int64_t c = 0; c < layer.group_channels(); ++c)
            AddScaled(kernel[(c * kernel_rows + k) * kernel_width + kw], source + c * plane, w.strides[w.last()],
                      last - first, out + first);
        }
      }
      if (const T* residual = result.residual)
        for (int64_t i = 0; i < width; ++i) out[i] += residual[unit * width + i];
      if (result.relu)
        for (int64_t i = 0; i < width; ++i) out[i] = out[i] < T{0} ? T{0} : out[i];
    }
  });
}

}  // namespace light
