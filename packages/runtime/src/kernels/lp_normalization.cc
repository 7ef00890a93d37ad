// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

class LpNormalization final : public KernelBase {
 public:
  explicit LpNormalization(const KernelInfo& info) : axis_(info.Int("axis", -1)), p_(info.Int("p", 2)) {
    if (p_ != 1 && p_ != 2)
      info.Fail(ErrorCode::kInvalidGraph, "attribute p: must be 1 or 2, got " + std::to_string(p_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, x.rank()));
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    const int64_t outer = Product(x.dims(), 0, axis), n = x.dim(axis), inner = Product(x.dims(), axis + 1, x.rank());
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      context.ParallelFor(outer * inner, 3 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const int64_t start = line / inner * n * inner + line % inner;
          const T* from = x.Data<T>() + start;
          T* to = y.Data<T>() + start;
          double sum = 0;
          if constexpr (std::is_same_v<T, float>) {
            if (inner == 1) {
              const auto count = static_cast<std::size_t>(n);
              const double total =
                  p_ == 1 ? Simd().sum_of_magnitudes(from, count) : Simd().sum_of_squares(from, 0, count);
              const double factor = total == 0 ? 0 : 1 / (p_ == 1 ? total : std::sqrt(total));
              for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(static_cast<double>(from[i]) * factor);
              continue;
            }
          }
          for (int64_t i = 0; i < n; ++i) {
            const auto value = static_cast<double>(static_cast<C>(from[i * inner]));
            sum += p_ == 1 ? std::abs(value) : value * value;
          }
          const double norm = p_ == 1 ? sum : std::sqrt(sum);
          for (int64_t i = 0; i < n; ++i)  // a line of zeros stays one
            to[i * inner] =
                T(norm == 0 ? C{0} : static_cast<C>(static_cast<double>(static_cast<C>(from[i * inner])) / norm));
        }
      });
    });
  }

 private:
  int64_t axis_, p_;
};

}  // namespace

void RegisterLpNormalization(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("LpNormalization", 1, 22, {{"T", SetOf(FloatTypes{})}}),
                            MakeKernel<LpNormalization>);
}

}  // namespace light
