// SPDX-License-Identifier: Apache-2.0
// MaxPool.
#include <limits>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/pixel_pooling.h"
#include "kernels/simd_dispatch.h"
#include "kernels/window.h"

namespace light {
namespace {

using PoolTypes = TypeList<float, double, Float16, Bfloat16, int8_t, uint8_t>;

template <class C>
C Lowest() {
  if constexpr (std::numeric_limits<C>::has_infinity)
    return -std::numeric_limits<C>::infinity();
  else
    return std::numeric_limits<C>::lowest();
}

constexpr int64_t kLineWidth = 1024;

// One output row of float: the largest of each input column over the kernel's rows first, then of the columns.
void MaxRow(const Window& w, const float* input, int64_t row, float* out) {
  const simd::SimdTable& simd = Simd();
  const int64_t input_width = w.input[w.last()], width = w.output[w.last()], stride = w.strides[w.last()];
  const auto length = static_cast<std::size_t>(input_width);
  float line[kLineWidth];
  std::fill_n(line, length, Lowest<float>());
  for (int64_t k = 0; k < w.kernel_rows(); ++k) {
    const int64_t input_row = w.InputRow(row, k);
    if (input_row >= 0) simd.max(input + input_row * input_width, line, line, length);
  }
  std::fill_n(out, width, Lowest<float>());
  for (int64_t kw = 0; kw < w.kernel[w.last()]; ++kw) {
    int64_t first, last;
    w.OutputColumns(kw, first, last);
    if (first == last) continue;
    const float* source = line + w.InputColumn(first, kw);
    if (stride == 1) {
      simd.max(source, out + first, out + first, static_cast<std::size_t>(last - first));
      continue;
    }
    for (int64_t i = 0; i < last - first; ++i) {
      const float value = source[i * stride], best = out[first + i];
      out[first + i] = value > best || value != value ? value : best;
    }
  }
}

// Row by row: every kernel position is compared with a whole output row at once.
template <class T>
void MaxRows(RuntimeContext& context, const Window& w, int64_t planes, const T* x, T* y) {
  using C = ComputeType<T>;
  const int64_t rows = w.output_rows(), width = w.output[w.last()], kernel_rows = w.kernel_rows();
  const int64_t kernel_width = w.kernel[w.last()], input_width = w.input[w.last()], stride = w.strides[w.last()];
  const double cost = 0.7 * static_cast<double>(width * kernel_rows * kernel_width) + 5;
  context.ParallelFor(planes * rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const T* input = x + unit / rows * w.input_size();
      T* out = y + unit * width;
      if constexpr (std::is_same_v<T, float>) {
        if (input_width <= kLineWidth) {
          MaxRow(w, input, unit % rows, out);
          continue;
        }
      }
      std::fill_n(out, width, T(Lowest<C>()));
      for (int64_t k = 0; k < kernel_rows; ++k) {
        const int64_t input_row = w.InputRow(unit % rows, k);
        if (input_row < 0) continue;
        for (int64_t kw = 0; kw < kernel_width; ++kw) {
          int64_t first, last;
          w.OutputColumns(kw, first, last);
          const T* source = input + input_row * input_width + w.InputColumn(first, kw);
          for (int64_t i = 0; i < last - first; ++i) {
            const C value = static_cast<C>(source[i * stride]), best = static_cast<C>(out[first + i]);
            out[first + i] = T(value > best || value != value ? value : best);
          }
        }
      }
    }
  });
}

// Element by element, with the place of the largest. `column_major` counts places within a plane from the first axis.
template <class T>
void MaxWithIndices(RuntimeContext& context, const Window& w, int64_t planes, bool column_major, const T* x, T* y,
                    int64_t* indices) {
  using C = ComputeType<T>;
  const int64_t rows = w.output_rows(), width = w.output[w.last()], kernel_rows = w.kernel_rows();
  const int64_t input_width = w.input[w.last()], plane = w.input_size();
  const double cost = 2 * static_cast<double>(width * kernel_rows * w.kernel[w.last()]) + 5;
  context.ParallelFor(planes * rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const T* input = x + unit / rows * plane;
      for (int64_t column = 0; column < width; ++column) {
        C best = Lowest<C>();
        int64_t place = -1;
        for (int64_t k = 0; k < kernel_rows; ++k) {
          const int64_t input_row = w.InputRow(unit % rows, k);
          if (input_row < 0) continue;
          for (int64_t kw = 0; kw < w.kernel[w.last()]; ++kw) {
            const int64_t at = w.InputColumn(column, kw);
            if (at < 0 || at >= input_width) continue;
            const C value = static_cast<C>(input[input_row * input_width + at]);
            if (place >= 0 && !(value > best) && !(value != value && best == best)) continue;
            best = value;
            place = input_row * input_width + at;
          }
        }
        y[unit * width + column] = T(best);
        if (column_major && place >= 0) {
          int64_t rest = place, pitch = plane;
          place = 0;
          for (std::size_t d = w.input.rank(); d-- > 0;) {
            pitch /= w.input[d];
            place += rest % w.input[d] * pitch;
            rest /= w.input[d];
          }
        }
        indices[unit * width + column] = unit / rows * plane + std::max<int64_t>(place, 0);
      }
    }
  });
}

class MaxPool final : public KernelBase {
 public:
  explicit MaxPool(const KernelInfo& info)
      : attributes_(WindowAttributes::ForPooling(info)),
        column_major_(info.Int("storage_order", 0) != 0),
        is_last_(info.layouts().output_last) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Window w = attributes_.ResolvePooling(x);
    Dims dims = x.dims();
    for (std::size_t d = 2; d < dims.rank(); ++d) dims[d] = w.output[d - 2];
    Tensor& y = context.Output(0, dims);
    Tensor* indices = context.OutputRequested(1) ? &context.Output(1, dims) : nullptr;
    if (y.element_count() == 0) return;
    if (is_last_)
      return PoolPixels(context, w, dims[0], dims[1], x.Data<float>(), Simd().max, Lowest<float>(), nullptr,
                        y.Data<float>());
    const int64_t planes = dims[0] * dims[1];
    WithType(PoolTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (indices)
        MaxWithIndices<T>(context, w, planes, column_major_, x.Data<T>(), y.Data<T>(), indices->Data<int64_t>());
      else
        MaxRows<T>(context, w, planes, x.Data<T>(), y.Data<T>());
    });
  }

 private:
  WindowAttributes attributes_;
  bool column_major_;
  bool is_last_;
};

}  // namespace

void RegisterPooling(KernelRegistry& registry) {
  KernelRegistration registration = Registration("MaxPool", 1, 22, {{"T", SetOf(PoolTypes{})}});
  registration.layout_support = PoolingLayouts;
  registry.RegisterKernelFn(std::move(registration), MakeKernel<MaxPool>);
}

}  // namespace light
