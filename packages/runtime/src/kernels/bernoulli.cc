// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/random_numbers.h"

namespace light {
namespace {

class Bernoulli final : public KernelBase {
 public:
  explicit Bernoulli(const KernelInfo& info) : seed_(info) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    Tensor& y = context.Output(0, x.dims());
    RandomNumbers numbers = seed_.Start();
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* chances = x.Data<T>();
      WithType(NumberAndBoolTypes{}, y.type(), [&](auto made) {
        using Out = typename decltype(made)::type;
        for (int64_t i = 0; i < x.element_count(); ++i) {
          const auto chance = static_cast<double>(static_cast<ComputeType<T>>(chances[i]));
          if (!(chance >= 0 && chance <= 1))
            FailArgument(InputLabel(0, "input") + ": chances must lie in [0, 1], got " + std::to_string(chance));
          y.Data<Out>()[i] = Out(numbers.Uniform() < chance);
        }
      });
    });
  }

 private:
  Seed seed_;
};

}  // namespace

void RegisterBernoulli(KernelRegistry& registry) {
  registry.RegisterKernelFn(
      Registration("Bernoulli", 15, 22, {{"T1", SetOf(FloatTypes{})}, {"T2", SetOf(NumberAndBoolTypes{})}}),
      MakeKernel<Bernoulli>);
}

}  // namespace light
