// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/random_numbers.h"

namespace light {
namespace {

template <class T>
double ChanceAt(const void* chances, int64_t i) {
  return static_cast<double>(static_cast<ComputeType<T>>(static_cast<const T*>(chances)[i]));
}

class Bernoulli final : public KernelBase {
 public:
  explicit Bernoulli(const KernelInfo& info) : seed_(info) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    Tensor& y = context.Output(0, x.dims());
    RandomNumbers numbers = seed_.Start();
    double (*chance_at)(const void*, int64_t) = nullptr;
    WithType(FloatTypes{}, x.type(), [&](auto tag) { chance_at = &ChanceAt<typename decltype(tag)::type>; });
    WithType(NumberAndBoolTypes{}, y.type(), [&](auto tag) {
      using Out = typename decltype(tag)::type;
      for (int64_t i = 0; i < x.element_count(); ++i) {
        const double chance = chance_at(x.data(), i);
        if (!(chance >= 0 && chance <= 1))
          FailArgument(InputLabel(0, "input") + ": chances must lie in [0, 1], got " + std::to_string(chance));
        y.Data<Out>()[i] = Out(numbers.Uniform() < chance);
      }
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
