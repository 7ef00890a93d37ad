// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/token_mixing.h"

namespace light {
namespace {

class SwiGlu final : public KernelBase {
 public:
  explicit SwiGlu(const KernelInfo& info) : alpha_(info.Float("alpha", 1)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& a = Required(context, 0, "A");
    const Tensor& b = Required(context, 1, "B");
    if (!a.dims().Equals(b.dims()))
      FailArgument(InputLabel(1, "B") + ": must have the extents of " + Describe(a) + ", got " + Describe(b));
    Tensor& y = context.Output(0, a.dims());
    WithType(FloatTypes{}, a.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const auto alpha = static_cast<C>(alpha_);
      context.ParallelFor(a.element_count(), 12, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const auto gate = static_cast<C>(a.Data<T>()[i]);
          y.Data<T>()[i] = T(gate / (1 + std::exp(-alpha * gate)) * static_cast<C>(b.Data<T>()[i]));
        }
      });
    });
  }

 private:
  float alpha_;
};

}  // namespace

void RegisterSwiGlu(KernelRegistry& registry) {
  KernelRegistration registration = Registration("SwiGLU", 28, 28, {{"T", SetOf(FloatTypes{})}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registry.RegisterKernelFn(registration, MakeKernel<SwiGlu>);
}

}  // namespace light
