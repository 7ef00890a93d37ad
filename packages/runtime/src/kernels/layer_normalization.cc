// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization.
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/scratch.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

/// X as rows of the axes that are normalized together.
struct Rows {
  std::size_t axis;
  int64_t count, length;

  Rows(const Tensor& x, int64_t axis_attribute)
      : axis(static_cast<std::size_t>(NormalizeAxis(axis_attribute, x.rank()))),
        count(Product(x.dims(), 0, axis)),
        length(Product(x.dims(), axis, x.rank())) {}
};

/// Scale or bias in the type that is computed in, as it meets each row of X.
template <class C>
struct Parameter {
  const C* data = nullptr;
  int64_t pitch = 0;  ///< 0: the same for every row
  const C* row(int64_t i) const { return data ? data + i * pitch : nullptr; }
};

/// Reads input `i`, of element type T, which must broadcast to X; the tensor itself is used where it can be.
template <class T, class C>
Parameter<C> ReadParameter(RuntimeContext& context, std::size_t i, const char* name, const Tensor& x,
                           const Rows& rows) {
  const Tensor& tensor = *context.Input(i);
  Dims row, own = tensor.dims();
  row.Assign(x.dims().span().subspan(rows.axis));
  // Leading extents of 1 say nothing.
  while (own.rank() > row.rank() && own[0] == 1) own.Assign(Dims(own).span().subspan(1));
  if constexpr (std::is_same_v<T, C>) {
    if (own.Equals(row)) return {tensor.Data<C>(), 0};
  }
  bool fits = own.rank() <= x.rank();
  for (std::size_t d = 0; fits && d < own.rank(); ++d) fits = own[d] == 1 || own[d] == x.dim(x.rank() - own.rank() + d);
  if (!fits) FailArgument(InputLabel(i, name) + ": must broadcast to " + Describe(x) + ", got " + Describe(tensor));
  const bool per_row = own.rank() > row.rank();
  const Dims* inputs[] = {per_row ? &x.dims() : &row, &own};
  const BroadcastPlan plan(inputs);
  auto* copy = Scratch<C>(context, plan.total);
  ForEachRun(plan, 0, plan.total, [&](int64_t position, int64_t length, const auto& offsets) {
    const T* from = tensor.Data<T>() + offsets[1];
    if (!plan.advances(1)) {
      std::fill_n(copy + position, length, static_cast<C>(*from));
    } else if constexpr (kIsSmallFloat<T>) {
      WidenElements(from, length, copy + position);
    } else {
      std::copy_n(from, length, copy + position);
    }
  });
  return {copy, per_row ? rows.length : 0};
}

class LayerNormalization final : public KernelBase {
 public:
  explicit LayerNormalization(const KernelInfo& info)
      : axis_(info.Int("axis", -1)), epsilon_(info.Float("epsilon", 1e-5f)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Required(context, 1, "Scale");
    const Rows rows(x, axis_);
    Dims statistics = x.dims();
    for (std::size_t d = rows.axis; d < x.rank(); ++d) statistics[d] = 1;
    Tensor& y = context.Output(0, x.dims());
    Tensor* mean = context.OutputRequested(1) ? &context.Output(1, statistics) : nullptr;
    Tensor* deviation = context.OutputRequested(2) ? &context.Output(2, statistics) : nullptr;
    if (y.element_count() == 0 && !mean && !deviation) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const auto scale = ReadParameter<T, C>(context, 1, "Scale", x, rows);
      const auto bias = context.Input(2) ? ReadParameter<T, C>(context, 2, "B", x, rows) : Parameter<C>();
      auto* means = Scratch<C>(context, MultiplyExtents(2, rows.count));
      C* deviations = means + rows.count;
      Normalize(context, x.Data<T>(), scale, bias, y.Data<T>(), means, deviations, rows);
      if (mean) Store(means, *mean);
      if (deviation) Store(deviations, *deviation);
    });
  }

 private:
  void Normalize(RuntimeContext& context, const float* x, const Parameter<float>& scale, const Parameter<float>& bias,
                 float* y, float* means, float* deviations, const Rows& rows) const {
    const simd::SimdTable& simd = Simd();
    const int64_t n = rows.length, step = scale.pitch || bias.pitch ? 1 : rows.count;
    context.ParallelFor(rows.count, 0.5 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += step)
        simd.layer_norm(x + i * n, scale.row(i), bias.row(i), epsilon_, y + i * n, means + i, deviations + i,
                        static_cast<std::size_t>(std::min(step, end - i)), static_cast<std::size_t>(n));
    });
  }

  // As floats, as many rows at once as the nearest cache holds.
  template <class T>
    requires kIsSmallFloat<T>
  void Normalize(RuntimeContext& context, const T* x, const Parameter<float>& scale, const Parameter<float>& bias, T* y,
                 float* means, float* deviations, const Rows& rows) const {
    NormalizeSmallFloats(context, SmallFloatFnsOf(kElementOf<T>), reinterpret_cast<const uint16_t*>(x), scale, bias,
                         reinterpret_cast<uint16_t*>(y), means, deviations, rows);
  }

  void NormalizeSmallFloats(RuntimeContext& context, SmallFloatFns fns, const uint16_t* x,
                            const Parameter<float>& scale, const Parameter<float>& bias, uint16_t* y, float* means,
                            float* deviations, const Rows& rows) const {
    const int64_t n = rows.length;
    const int64_t fitting = std::min(rows.count, 2 * kFloatBlock / std::max<int64_t>(n, 1));
    const int64_t block = scale.pitch || bias.pitch ? 1 : std::max<int64_t>(fitting, 1);
    ThreadScratch scratch(context, static_cast<std::size_t>(block * n));
    context.ParallelFor(rows.count, 0.8 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      float* floats = lease.data();
      for (int64_t i = begin; i < end; i += block) {
        const auto some = static_cast<std::size_t>(std::min(block, end - i)), length = static_cast<std::size_t>(n);
        fns.widen(x + i * n, floats, some * length);
        Simd().layer_norm(floats, scale.row(i), bias.row(i), epsilon_, floats, means + i, deviations + i, some, length);
        fns.narrow(floats, y + i * n, some * length);
      }
    });
  }

  void Normalize(RuntimeContext& context, const double* x, const Parameter<double>& scale,
                 const Parameter<double>& bias, double* y, double* means, double* deviations, const Rows& rows) const {
    const int64_t n = rows.length;
    context.ParallelFor(rows.count, 4 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const double* in = x + row * n;
        const double *factors = scale.row(row), *offsets = bias.row(row);
        const double mean = Sum(in, n) / static_cast<double>(n);
        const double variance = SumOfSquares(in, n, mean) / static_cast<double>(n);
        const double factor = 1 / std::sqrt(variance + static_cast<double>(epsilon_));
        for (int64_t i = 0; i < n; ++i) {
          double value = (in[i] - mean) * factor * factors[i];
          if (offsets) value += offsets[i];
          y[row * n + i] = value;
        }
        means[row] = mean;
        deviations[row] = factor;
      }
    });
  }

  int64_t axis_;
  float epsilon_;
};

class RmsNormalization final : public KernelBase {
 public:
  explicit RmsNormalization(const KernelInfo& info)
      : axis_(info.Int("axis", -1)), epsilon_(info.Float("epsilon", 1e-5f)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& scale = Required(context, 1, "scale");
    const Rows rows(x, axis_);
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      WithType(FloatTypes{}, scale.type(), [&](auto scale_tag) {
        using V = typename decltype(scale_tag)::type;
        using C = ComputeType<V>;
        const auto factors = ReadParameter<V, C>(context, 1, "scale", x, rows);
        if constexpr (std::is_same_v<ComputeType<T>, float> && std::is_same_v<C, float>)
          NormalizeFloats(context, x, factors, y, rows);
        else
          Normalize<T, V>(context, x.Data<T>(), factors, y.Data<V>(), rows);
      });
    });
  }

 private:
  // The normalized elements are rounded to the type of X before they are scaled, as ONNX has it.
  void NormalizeFloats(RuntimeContext& context, const Tensor& x, const Parameter<float>& scale, Tensor& y,
                       const Rows& rows) const {
    const simd::SimdTable& simd = Simd();
    const SmallFloatFns from = SmallFloatFnsOf(x.type()), to = SmallFloatFnsOf(y.type());
    const auto n = static_cast<std::size_t>(rows.length);
    // Squares of float16 do not leave float, nor do their sums; those of the others are added in double.
    const bool in_float = x.type() == ElementType::kFloat16;
    ThreadScratch scratch(context, from.widen || to.narrow ? 2 * n : 0);
    context.ParallelFor(rows.count, 1.0 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      float* floats = lease.data();
      float* squares = floats + n;
      auto* rounded = reinterpret_cast<uint16_t*>(squares);
      for (int64_t row = begin; row < end; ++row) {
        const std::size_t at = static_cast<std::size_t>(row) * n;
        const float* in = floats;
        if (from.widen)
          from.widen(static_cast<const uint16_t*>(x.data()) + at, floats, n);
        else
          in = static_cast<const float*>(x.data()) + at;
        float* out = to.narrow ? floats : static_cast<float*>(y.data()) + at;
        double sum;
        if (in_float) {
          simd.mul(in, in, squares, n);
          sum = static_cast<double>(simd.reduce_sum(squares, n));
        } else {
          sum = simd.sum_of_squares(in, 0, n);
        }
        const double mean_square = sum / static_cast<double>(n);
        const auto inverse = static_cast<float>(1 / std::sqrt(mean_square + epsilon_));
        simd.mul_scalar(in, &inverse, out, n);
        if (from.narrow) {
          from.narrow(out, rounded, n);
          from.widen(rounded, out, n);
        }
        simd.mul(out, scale.row(row), out, n);
        if (to.narrow) to.narrow(out, static_cast<uint16_t*>(y.data()) + at, n);
      }
    });
  }

  // One of both is float64.
  template <class T, class V>
  void Normalize(RuntimeContext& context, const T* x, const Parameter<ComputeType<V>>& scale, V* y,
                 const Rows& rows) const {
    using C = ComputeType<V>;
    const int64_t n = rows.length;
    context.ParallelFor(rows.count, 2 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* in = x + row * n;
        const C* factors = scale.row(row);
        const double mean_square = SumOfSquares(in, n) / static_cast<double>(n);
        const auto inverse = static_cast<ComputeType<T>>(1 / std::sqrt(mean_square + epsilon_));
        for (int64_t i = 0; i < n; ++i) {
          const T normalized = T(static_cast<ComputeType<T>>(in[i]) * inverse);
          y[row * n + i] = V(static_cast<C>(static_cast<ComputeType<T>>(normalized)) * factors[i]);
        }
      }
    });
  }

  int64_t axis_;
  double epsilon_;
};

}  // namespace

void RegisterLayerNormalization(KernelRegistry& registry) {
  const TypeSet floats = SetOf(FloatTypes{});
  registry.RegisterKernelFn(Registration("LayerNormalization", 17, 17, {{"T", floats}}),
                            MakeKernel<LayerNormalization>);
  registry.RegisterKernelFn(Registration("RMSNormalization", 23, 23, {{"T", floats}, {"V", floats}}),
                            MakeKernel<RmsNormalization>);
}

}  // namespace light
