// SPDX-License-Identifier: Apache-2.0
// AveragePool and LpPool.
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/pixel_pooling.h"
#include "kernels/scratch.h"
#include "kernels/simd_dispatch.h"
#include "kernels/window.h"

namespace light {
namespace {

struct AverageOp {
  template <class T>
  using Acc = ComputeType<T>;
  bool with_padding;

  template <class T>
  void AddFrom(const T* x, int64_t stride, int64_t n, Acc<T>* sums) const {
    for (int64_t i = 0; i < n; ++i) sums[i] += static_cast<Acc<T>>(x[i * stride]);
  }
  template <class T>
  T Finish(Acc<T> sum, double count) const {
    return T(sum / static_cast<Acc<T>>(count));
  }
  // How many positions of a window count: along the last axis for each column, and along the axes before it.
  const double* CountColumns(RuntimeContext& context, const Window& w) const {
    const int64_t width = w.output[w.last()];
    auto* counts = Scratch<double>(context, width);
    for (int64_t i = 0; i < width; ++i) counts[i] = static_cast<double>(w.Covered(w.last(), i, with_padding));
    return counts;
  }
  int64_t CountRows(const Window& w, int64_t row) const {
    int64_t count = 1;
    for (std::size_t d = w.last(); d-- > 0; row /= w.output[d]) count *= w.Covered(d, row % w.output[d], with_padding);
    return count;
  }
};

// Powers are added up in double: they leave the range of the narrower types soon.
struct NormOp {
  template <class T>
  using Acc = double;
  double p;

  template <class T>
  void AddFrom(const T* x, int64_t stride, int64_t n, double* sums) const {
    for (int64_t i = 0; i < n; ++i) {
      const double value = std::abs(static_cast<double>(static_cast<ComputeType<T>>(x[i * stride])));
      sums[i] += p == 1 ? value : p == 2 ? value * value : std::pow(value, p);
    }
  }
  template <class T>
  T Finish(double sum, double) const {
    return T(static_cast<ComputeType<T>>(p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p)));
  }
  const double* CountColumns(RuntimeContext&, const Window&) const { return nullptr; }
  int64_t CountRows(const Window&, int64_t) const { return 0; }
};

constexpr int64_t kLineWidth = 1024;

// One output row of float: the sum of each input column over the kernel's rows first, then of the columns.
void AverageRow(const Window& w, const float* input, int64_t row, const float* counts, float* out) {
  const simd::SimdTable& simd = Simd();
  const int64_t input_width = w.input[w.last()], width = w.output[w.last()], stride = w.strides[w.last()];
  const auto length = static_cast<std::size_t>(input_width);
  float line[kLineWidth], sums[kLineWidth];
  std::fill_n(line, length, 0.f);
  for (int64_t k = 0; k < w.kernel_rows(); ++k) {
    const int64_t input_row = w.InputRow(row, k);
    if (input_row >= 0) simd.add(input + input_row * input_width, line, line, length);
  }
  std::fill_n(sums, width, 0.f);
  for (int64_t kw = 0; kw < w.kernel[w.last()]; ++kw) {
    int64_t first, last;
    w.OutputColumns(kw, first, last);
    if (first >= last) continue;
    const float* source = line + w.InputColumn(first, kw);
    if (stride == 1) {
      simd.add(source, sums + first, sums + first, static_cast<std::size_t>(last - first));
    } else {
      for (int64_t i = 0; i < last - first; ++i) sums[first + i] += source[i * stride];
    }
  }
  simd.div(sums, counts, out, static_cast<std::size_t>(width));
}

// Blocks of an output row; every kernel position is added to a whole block at once.
template <class Op, class T>
void PoolRows(RuntimeContext& context, const Op& op, const Window& w, int64_t planes, const T* x, T* y) {
  using Acc = typename Op::template Acc<T>;
  constexpr int64_t kBlock = 256;
  const int64_t rows = w.output_rows(), width = w.output[w.last()], kernel_rows = w.kernel_rows();
  const int64_t kernel_width = w.kernel[w.last()], input_width = w.input[w.last()], stride = w.strides[w.last()];
  const double* columns = op.CountColumns(context, w);
  const double cost = static_cast<double>(width * kernel_rows * kernel_width) + 5;
  context.ParallelFor(planes * rows, cost, [&](int64_t begin, int64_t end) {
    Acc sums[kBlock];
    float line_counts[kLineWidth];
    double line_count = -1;
    for (int64_t unit = begin; unit < end; ++unit) {
      const T* input = x + unit / rows * w.input_size();
      const auto count = static_cast<double>(op.CountRows(w, unit % rows));
      if constexpr (std::is_same_v<Op, AverageOp> && std::is_same_v<T, float>) {
        if (std::max(input_width, width) <= kLineWidth) {
          if (count != line_count) {
            for (int64_t i = 0; i < width; ++i) line_counts[i] = static_cast<float>(count * columns[i]);
            line_count = count;
          }
          AverageRow(w, input, unit % rows, line_counts, y + unit * width);
          continue;
        }
      }
      for (int64_t block = 0; block < width; block += kBlock) {
        const int64_t n = std::min(kBlock, width - block);
        std::fill_n(sums, n, Acc{0});
        for (int64_t k = 0; k < kernel_rows; ++k) {
          const int64_t input_row = w.InputRow(unit % rows, k);
          if (input_row < 0) continue;
          for (int64_t kw = 0; kw < kernel_width; ++kw) {
            int64_t first, last;
            w.OutputColumns(kw, first, last);
            first = std::max(first, block);
            last = std::min(last, block + n);
            if (first >= last) continue;
            op.template AddFrom<T>(input + input_row * input_width + w.InputColumn(first, kw), stride, last - first,
                                   sums + (first - block));
          }
        }
        T* out = y + unit * width + block;
        for (int64_t i = 0; i < n; ++i)
          out[i] = op.template Finish<T>(sums[i], columns ? count * columns[block + i] : 0);
      }
    }
  });
}

Dims PooledDims(const Tensor& x, const Window& w) {
  Dims dims = x.dims();
  for (std::size_t d = 2; d < dims.rank(); ++d) dims[d] = w.output[d - 2];
  return dims;
}

template <class Op>
void Pool(RuntimeContext& context, const WindowAttributes& attributes, const Op& op) {
  const Tensor& x = Required(context, 0, "X");
  const Window w = attributes.ResolvePooling(x);
  const Dims dims = PooledDims(x, w);
  Tensor& y = context.Output(0, dims);
  if (y.element_count() == 0) return;
  WithType(FloatTypes{}, x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRows<Op, T>(context, op, w, dims[0] * dims[1], x.Data<T>(), y.Data<T>());
  });
}

class AveragePool final : public KernelBase {
 public:
  explicit AveragePool(const KernelInfo& info)
      : attributes_(WindowAttributes::ForPooling(info)),
        op_{info.Int("count_include_pad", 0) != 0},
        is_last_(info.layouts().output_last) {}
  void Run(RuntimeContext& context) override {
    if (!is_last_) return Pool(context, attributes_, op_);
    const Tensor& x = Required(context, 0, "X");
    const Window w = attributes_.ResolvePooling(x);
    const Dims dims = PooledDims(x, w);
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    const auto count = [&](int64_t row, int64_t column) {
      return static_cast<float>(op_.CountRows(w, row) * w.Covered(1, column, op_.with_padding));
    };
    const FunctionRef<float(int64_t, int64_t)> divisor = count;
    PoolPixels(context, w, dims[0], dims[1], x.Data<float>(), Simd().add, 0, &divisor, y.Data<float>());
  }

 private:
  WindowAttributes attributes_;
  AverageOp op_;
  bool is_last_;
};

class LpPool final : public KernelBase {
 public:
  explicit LpPool(const KernelInfo& info)
      : attributes_(WindowAttributes::ForPooling(info)),
        // A float in version 1 only.
        op_{info.since_version() == 1 ? info.Float("p", 2) : static_cast<double>(info.Int("p", 2))} {
    if (!(op_.p > 0))
      info.Fail(ErrorCode::kInvalidGraph, "attribute p: must be positive, got " + std::to_string(op_.p));
  }
  void Run(RuntimeContext& context) override { Pool(context, attributes_, op_); }

 private:
  WindowAttributes attributes_;
  NormOp op_;
};

}  // namespace

void RegisterAveragePooling(KernelRegistry& registry) {
  const std::vector<TypeConstraint> floats = {{"T", SetOf(FloatTypes{})}};
  KernelRegistration average = Registration("AveragePool", 1, 22, floats);
  average.layout_support = PoolingLayouts;
  registry.RegisterKernelFn(std::move(average), MakeKernel<AveragePool>);
  registry.RegisterKernelFn(Registration("LpPool", 1, 22, floats), MakeKernel<LpPool>);
}

}  // namespace light
