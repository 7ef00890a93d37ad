// SPDX-License-Identifier: Apache-2.0
// BatchNormalization (inference) and LayerNormalization.
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

// The elements of a small float tensor as doubles.
double ElementAsDouble(const Tensor& tensor, int64_t i) {
  return WithType(FloatTypes{}, tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return static_cast<double>(static_cast<ComputeType<T>>(tensor.Data<T>()[i]));
  });
}

class BatchNormalization final : public KernelBase {
 public:
  explicit BatchNormalization(const KernelInfo& info) : epsilon_(info.Float("epsilon", 1e-5f)) {
    bool training = info.Int("training_mode", 0) != 0;
    for (std::size_t i = 1; i < info.output_count(); ++i) training |= info.HasOutput(i);
    if (training)
      info.Fail(ErrorCode::kNotImplemented, "only inference is supported, got training mode or its outputs");
    if (info.Int("spatial", 1) != 1)
      info.Fail(ErrorCode::kNotImplemented, "only statistics per channel are supported, got spatial=0");
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if (x.rank() == 0) FailArgument("input 0 (X): must have at least one axis, got " + Describe(x));
    // A single axis is the batch, with one channel.
    const int64_t channels = x.rank() > 1 ? x.dim(1) : 1;
    static constexpr const char* kNames[] = {"X", "scale", "B", "mean", "var"};
    const Tensor* parameters[5] = {};
    for (std::size_t i = 1; i < 5; ++i) {
      parameters[i] = &Required(context, i, kNames[i]);
      if (parameters[i]->rank() != 1 || parameters[i]->dim(0) != channels)
        FailArgument(InputLabel(i, kNames[i]) + ": must have extents [" + std::to_string(channels) +
                     "], one per channel of " + Describe(x) + ", got " + Describe(*parameters[i]));
    }
    Tensor& y = context.Output(0, x.dims());
    if (x.element_count() == 0) return;
    auto* factors =
        static_cast<double*>(context.TemporaryBuffer(sizeof(double) * 2 * static_cast<std::size_t>(channels)));
    for (int64_t c = 0; c < channels; ++c) {
      const double factor =
          ElementAsDouble(*parameters[1], c) / std::sqrt(ElementAsDouble(*parameters[4], c) + epsilon_);
      factors[2 * c] = factor;
      factors[2 * c + 1] = ElementAsDouble(*parameters[2], c) - ElementAsDouble(*parameters[3], c) * factor;
    }
    const int64_t plane = x.element_count() / (x.dim(0) * channels);
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = x.Data<T>();
      T* to = y.Data<T>();
      context.ParallelFor(x.dim(0) * channels, 0.4 * static_cast<double>(plane) + 2, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p)
          Scale(from + p * plane, factors[2 * (p % channels)], factors[2 * (p % channels) + 1], to + p * plane, plane);
      });
    });
  }

 private:
  template <class T>
  static void Scale(const T* x, double factor, double shift, T* y, int64_t n) {
    using C = ComputeType<T>;
    if constexpr (std::is_same_v<T, float>) {
      Simd().affine(x, static_cast<float>(factor), static_cast<float>(shift), y, static_cast<std::size_t>(n));
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = T(static_cast<C>(x[i]) * static_cast<C>(factor) + static_cast<C>(shift));
    }
  }

  double epsilon_;
};

class LayerNormalization final : public KernelBase {
 public:
  explicit LayerNormalization(const KernelInfo& info)
      : axis_(info.Int("axis", -1)), epsilon_(info.Float("epsilon", 1e-5f)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, x.rank()));
    Dims statistics = x.dims();
    for (std::size_t d = axis; d < x.rank(); ++d) statistics[d] = 1;
    Tensor& y = context.Output(0, x.dims());
    Tensor* mean = context.OutputRequested(1) ? &context.Output(1, statistics) : nullptr;
    Tensor* deviation = context.OutputRequested(2) ? &context.Output(2, statistics) : nullptr;
    const int64_t rows = Product(x.dims(), 0, axis), n = Product(x.dims(), axis, x.rank());
    if (rows == 0) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const C* scale = Parameter<T>(context, 1, "Scale", x, axis, n);
      const C* bias = Parameter<T>(context, 2, "B", x, axis, n);
      auto* means = static_cast<C*>(context.TemporaryBuffer(sizeof(C) * 2 * static_cast<std::size_t>(rows)));
      C* deviations = means + rows;
      Normalize(context, x.Data<T>(), scale, bias, y.Data<T>(), means, deviations, rows, n);
      if (mean) Store(means, *mean);
      if (deviation) Store(deviations, *deviation);
    });
  }

 private:
  // Scale or bias for one row in the type that is computed in; the tensor itself where it can be.
  template <class T>
  static const ComputeType<T>* Parameter(RuntimeContext& context, std::size_t i, const char* name, const Tensor& x,
                                         std::size_t axis, int64_t n) {
    using C = ComputeType<T>;
    const Tensor* tensor = i == 1 ? &Required(context, i, name) : context.Input(i);
    if (!tensor) return nullptr;
    Dims row, own = tensor->dims();
    row.Assign(x.dims().span().subspan(axis));
    // Leading extents of 1 say nothing.
    while (own.rank() > row.rank() && own[0] == 1) own.Assign(Dims(own).span().subspan(1));
    if constexpr (std::is_same_v<T, C>) {
      if (own.Equals(row)) return tensor->Data<C>();
    }
    bool fits = own.rank() <= row.rank();
    for (std::size_t d = 0; fits && d < own.rank(); ++d)
      fits = own[d] == 1 || own[d] == row[row.rank() - own.rank() + d];
    if (!fits)
      FailArgument(InputLabel(i, name) + ": must broadcast to the normalized extents " +
                   conversions::FormatExtents(row) + ", got " + Describe(*tensor));
    const Dims* inputs[] = {&row, &own};
    auto* copy = static_cast<C*>(context.TemporaryBuffer(sizeof(C) * static_cast<std::size_t>(n)));
    const BroadcastPlan plan(inputs);
    ForEachRun(plan, 0, plan.total, [&](int64_t position, int64_t length, const auto& offsets) {
      const T* from = tensor->Data<T>() + offsets[1];
      for (int64_t k = 0; k < length; ++k) copy[position + k] = static_cast<C>(from[plan.advances(1) ? k : 0]);
    });
    return copy;
  }

  void Normalize(RuntimeContext& context, const float* x, const float* scale, const float* bias, float* y, float* means,
                 float* deviations, int64_t rows, int64_t n) const {
    const simd::SimdTable& simd = Simd();
    context.ParallelFor(rows, 0.5 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      simd.layer_norm(x + begin * n, scale, bias, epsilon_, y + begin * n, means + begin, deviations + begin,
                      static_cast<std::size_t>(end - begin), static_cast<std::size_t>(n));
    });
  }

  template <class T>
  void Normalize(RuntimeContext& context, const T* x, const ComputeType<T>* scale, const ComputeType<T>* bias, T* y,
                 ComputeType<T>* means, ComputeType<T>* deviations, int64_t rows, int64_t n) const {
    using C = ComputeType<T>;
    context.ParallelFor(rows, 4 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* in = x + row * n;
        C sum = 0, squares = 0;
        for (int64_t i = 0; i < n; ++i) sum += static_cast<C>(in[i]);
        const C mean = sum / static_cast<C>(n);
        for (int64_t i = 0; i < n; ++i) {
          const C d = static_cast<C>(in[i]) - mean;
          squares += d * d;
        }
        const C factor = 1 / std::sqrt(squares / static_cast<C>(n) + static_cast<C>(epsilon_));
        for (int64_t i = 0; i < n; ++i) {
          C value = (static_cast<C>(in[i]) - mean) * factor * scale[i];
          if (bias) value += bias[i];
          y[row * n + i] = T(value);
        }
        means[row] = mean;
        deviations[row] = factor;
      }
    });
  }

  template <class C>
  static void Store(const C* from, Tensor& to) {
    WithType(FloatTypes{}, to.type(), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (int64_t i = 0; i < to.element_count(); ++i) to.Data<U>()[i] = U(static_cast<ComputeType<U>>(from[i]));
    });
  }

  int64_t axis_;
  float epsilon_;
};

}  // namespace

void RegisterNormalization(KernelRegistry& registry) {
  const TypeSet floats = SetOf(FloatTypes{});
  // X before version 14 has the type parameter of the others; the names are those of the formal arguments.
  registry.RegisterKernelFn(
      Registration("BatchNormalization", 7, 15, {{"X", floats}, {"scale", floats}, {"mean", floats}}),
      MakeKernel<BatchNormalization>);
  registry.RegisterKernelFn(Registration("LayerNormalization", 17, 17, {{"T", floats}}),
                            MakeKernel<LayerNormalization>);
}

}  // namespace light
