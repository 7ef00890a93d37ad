// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"

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
