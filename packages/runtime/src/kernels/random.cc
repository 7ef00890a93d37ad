// SPDX-License-Identifier: Apache-2.0
// RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike.
#include "kernels/arguments.h"
#include "kernels/random_numbers.h"

namespace light {
namespace {

struct NormalNumbers {
  static constexpr const char* kAttributes[] = {"mean", "scale"};
  static double Next(RandomNumbers& numbers, double mean, double scale) { return mean + scale * numbers.Normal(); }
};
struct UniformNumbers {
  static constexpr const char* kAttributes[] = {"low", "high"};
  static double Next(RandomNumbers& numbers, double low, double high) { return low + (high - low) * numbers.Uniform(); }
};

template <class Distribution>
class Random final : public KernelBase {
 public:
  explicit Random(const KernelInfo& info)
      : seed_(info),
        first_(info.Float(Distribution::kAttributes[0], 0)),
        second_(info.Float(Distribution::kAttributes[1], 1)),
        is_like_(info.input_count() > 0) {
    if (!is_like_) shape_.Assign(info.Ints("shape"));
  }

  void Run(RuntimeContext& context) override {
    Dims dims = shape_;
    if (is_like_) dims = Required(context, 0, "input").dims();
    Tensor& y = context.Output(0, dims);
    RandomNumbers numbers = seed_.Start();
    WithType(FloatTypes{}, y.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < y.element_count(); ++i)
        y.Data<T>()[i] = T(static_cast<ComputeType<T>>(Distribution::Next(numbers, first_, second_)));
    });
  }

 private:
  Seed seed_;
  double first_, second_;
  bool is_like_;
  Dims shape_;
};

}  // namespace

void RegisterRandom(KernelRegistry& registry) {
  const TypeSet floats = SetOf(FloatTypes{});
  const auto add = [&](const char* op_type, const char* parameter, NodeKernelFn make) {
    registry.RegisterKernelFn(Registration(op_type, 1, 22, {{parameter, floats}}), std::move(make));
  };
  add("RandomNormal", "T", MakeKernel<Random<NormalNumbers>>);
  add("RandomNormalLike", "T2", MakeKernel<Random<NormalNumbers>>);
  add("RandomUniform", "T", MakeKernel<Random<UniformNumbers>>);
  add("RandomUniformLike", "T2", MakeKernel<Random<UniformNumbers>>);
}

}  // namespace light
