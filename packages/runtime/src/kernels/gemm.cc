// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/epilogue.h"
#include "kernels/families.h"
#include "kernels/matrix_product.h"
#include "kernels/scratch.h"

namespace light {
namespace {

class Gemm final : public KernelBase {
 public:
  explicit Gemm(const KernelInfo& info)
      : alpha_(info.Float("alpha", 1)),
        beta_(info.Float("beta", 1)),
        a_transposed_(info.Int("transA", 0) != 0),
        b_transposed_(info.Int("transB", 0) != 0),
        c_broadcasts_(info.since_version() >= 7 || info.Int("broadcast", 0) != 0),
        epilogue_(info.epilogue()) {
    const Tensor* b = info.ConstantInput(1);
    if (!b || b->type() != ElementType::kFloat || b->rank() != 2 || b->element_count() == 0) return;
    const int64_t k = b->dim(b_transposed_ ? 1 : 0), n = b->dim(b_transposed_ ? 0 : 1);
    packed_.Prepare(info, 1, [this, data = b->Data<float>(), k, n] { packed_.Pack(Right(data, k, n), 0, 1, k, n); });
  }

  void Run(RuntimeContext& context) override {
    const Tensor& a = Required(context, 0, "A");
    const Tensor& b = Required(context, 1, "B");
    if (a.rank() != 2) FailArgument("input 0 (A): must be a matrix, got " + Describe(a));
    if (b.rank() != 2) FailArgument("input 1 (B): must be a matrix, got " + Describe(b));
    const int64_t m = a.dim(a_transposed_ ? 1 : 0), k = a.dim(a_transposed_ ? 0 : 1);
    const int64_t n = b.dim(b_transposed_ ? 0 : 1);
    if (b.dim(b_transposed_ ? 1 : 0) != k)
      FailArgument("input 1 (B): must have " + std::to_string(k) + " rows" + (b_transposed_ ? " when transposed" : "") +
                   ", as A has columns, got " + Describe(b));
    const Tensor* c = beta_ != 0 ? context.Input(2) : nullptr;
    const int64_t extents[] = {m, n};
    if (c) CheckBias(*c, extents);
    Tensor& y = context.Output(0, extents);
    if (y.element_count() == 0) return;
    const EpilogueArguments epilogue = Resolve(epilogue_, context);
    WithType(MatrixTypes{}, a.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, float>) {
        Float(context, a.Data<T>(), b.Data<T>(), c ? c->Data<T>() : nullptr, c, m, n, k, epilogue, y.Data<T>());
      } else if constexpr (kIsSmallFloat<T>) {
        const float* left = WidenForRun(context, a.Data<T>(), a.element_count());
        const float* right = WidenForRun(context, b.Data<T>(), b.element_count());
        const float* bias = c ? WidenForRun(context, c->Data<T>(), c->element_count()) : nullptr;
        auto* wide = Scratch<float>(context, m * n);
        Float(context, left, right, bias, c, m, n, k, {}, wide);
        NarrowTo(context, wide, m * n, y.Data<T>());
      } else {
        MultiplyPlain<T>(context, Left(a.Data<T>(), m, k), Right(b.Data<T>(), k, n), m, n, k, y.Data<T>());
        Finish(c, extents, y.Data<T>());
      }
    });
  }

 private:
  template <class T>
  MatrixView<T> Left(const T* data, int64_t m, int64_t k) const {
    return a_transposed_ ? MatrixView<T>{data, 1, m} : MatrixView<T>{data, k, 1};
  }
  template <class T>
  MatrixView<T> Right(const T* data, int64_t k, int64_t n) const {
    return b_transposed_ ? MatrixView<T>{data, 1, k} : MatrixView<T>{data, n, 1};
  }

  static BroadcastPlan BiasPlan(const Tensor& c, std::span<const int64_t> extents) {
    const Dims full(extents);
    const Dims* inputs[] = {&full, &c.dims()};
    return BroadcastPlan(inputs);
  }
  void CheckBias(const Tensor& c, std::span<const int64_t> extents) const {
    if (!c_broadcasts_ && !c.dims().Equals(extents))
      FailArgument("input 2 (C): must have extents " + conversions::FormatExtents(extents) +
                   " without broadcast, got " + Describe(c));
    bool fits = c.rank() <= 2;
    for (std::size_t d = 0; fits && d < c.rank(); ++d) fits = c.dim(d) == 1 || c.dim(d) == extents[2 - c.rank() + d];
    if (!fits)
      FailArgument("input 2 (C): must broadcast to " + conversions::FormatExtents(extents) + ", got " + Describe(c));
  }

  // `bias` holds the elements of `c` as floats.
  void Float(RuntimeContext& context, const float* a, const float* b, const float* bias, const Tensor* c, int64_t m,
             int64_t n, int64_t k, const EpilogueArguments& epilogue, float* y) const {
    const bool per_column = c && beta_ == 1 && c->element_count() == n && c->rank() > 0 && c->dim(c->rank() - 1) == n;
    if (c && !per_column) {
      const int64_t extents[] = {m, n};
      const BroadcastPlan plan = BiasPlan(*c, extents);
      context.ParallelFor(plan.total, 0.5, [&](int64_t begin, int64_t end) {
        ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
          const float* from = bias + offsets[1];
          const bool advances = plan.advances(1);
          for (int64_t i = 0; i < length; ++i) y[position + i] = beta_ * from[advances ? i : 0];
        });
      });
    }
    const float* packed = packed_.empty() ? PackForRun(context, Right(b, k, n), 0, 1, k, n) : packed_.matrix(0);
    const MatrixView<float> left = Left(a, m, k);
    const bool reversed = !packed_.empty() && packed_.WalkBack(context, m);
    RunProducts(context, 1, m, [&](int64_t) {
      return simd::GemmArgs{left.data,
                            left.row,
                            left.column,
                            packed,
                            y,
                            n,
                            static_cast<std::size_t>(n),
                            static_cast<std::size_t>(k),
                            alpha_,
                            per_column ? bias : nullptr,
                            nullptr,
                            c && !per_column,
                            epilogue.relu,
                            epilogue.residual,
                            reversed};
    });
  }

  /// factor * value. A whole factor wraps as integers do; any other goes by way of double, and stays within the type.
  template <class T>
  static T Scaled(float factor, T value) {
    if (factor == 1) return value;
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      if (std::abs(factor) <= 0x1p31f && factor == std::floor(factor))
        return static_cast<T>(static_cast<U>(static_cast<int64_t>(factor)) * static_cast<U>(value));
      const double product = static_cast<double>(factor) * static_cast<double>(value);
      if (product != product) return 0;
      if (product <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
      if (product >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
      return static_cast<T>(product);
    } else {
      return static_cast<T>(factor) * value;
    }
  }

  // alpha * y + beta * c in the element type.
  template <class T>
  void Finish(const Tensor* c, std::span<const int64_t> extents, T* y) const {
    using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
    const int64_t total = extents[0] * extents[1];
    for (int64_t i = 0; i < total; ++i) y[i] = Scaled(alpha_, y[i]);
    if (!c) return;
    const BroadcastPlan plan = BiasPlan(*c, extents);
    ForEachRun(plan, 0, total, [&](int64_t position, int64_t length, const auto& offsets) {
      const T* from = c->Data<T>() + offsets[1];
      const bool advances = plan.advances(1);
      for (int64_t i = 0; i < length; ++i)
        y[position + i] =
            static_cast<T>(static_cast<U>(y[position + i]) + static_cast<U>(Scaled(beta_, from[advances ? i : 0])));
    });
  }

  float alpha_, beta_;
  bool a_transposed_, b_transposed_, c_broadcasts_;
  Epilogue epilogue_;
  PackedMatrices packed_;
};

}  // namespace

void RegisterGemm(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Gemm", 1, 13, {{"T", SetOf(MatrixTypes{})}});
  registration.epilogue = {.residual = true, .relu = true};
  registry.RegisterKernelFn(registration, MakeKernel<Gemm>);
}

}  // namespace light
