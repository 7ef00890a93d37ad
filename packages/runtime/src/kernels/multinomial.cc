// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/random_numbers.h"
#include "kernels/scratch.h"

namespace light {
namespace {

class Multinomial final : public KernelBase {
 public:
  explicit Multinomial(const KernelInfo& info) : seed_(info), samples_(info.Int("sample_size", 1)) {
    if (samples_ < 0)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute sample_size: must not be negative, got " + std::to_string(samples_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    if (x.rank() != 2) FailArgument(InputLabel(0, "input") + ": must be [batch, classes], got " + Describe(x));
    const int64_t classes = x.dim(1), dims[] = {x.dim(0), samples_};
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    if (classes == 0) FailArgument(InputLabel(0, "input") + ": must have classes, got " + Describe(x));
    auto* sums = Scratch<double>(context, classes);
    RandomNumbers numbers = seed_.Start();
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t row = 0; row < x.dim(0); ++row) {
        AddUp(x.Data<T>() + row * classes, classes, sums);
        for (int64_t i = 0; i < samples_; ++i) {
          // The first class whose sum is beyond; rounding may put the number behind the last one.
          const int64_t drawn = std::upper_bound(sums, sums + classes, numbers.Uniform() * sums[classes - 1]) - sums;
          Put(y, row * samples_ + i, std::min(drawn, classes - 1));
        }
      }
    });
  }

 private:
  /// Sums of the chances up to each class; what is given are their logarithms, up to a constant.
  template <class T>
  static void AddUp(const T* logs, int64_t classes, double* sums) {
    double largest = -HUGE_VAL;
    for (int64_t c = 0; c < classes; ++c) {
      sums[c] = static_cast<double>(static_cast<ComputeType<T>>(logs[c]));
      largest = std::fmax(largest, sums[c]);
    }
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sums[c] = sum += std::exp(sums[c] - largest);
    if (!(sum >= 1))
      FailArgument(InputLabel(0, "input") +
                   ": must have a class of finite log probability in each row, and no NaN, "
                   "got a sum of " +
                   std::to_string(sum));
  }

  static void Put(Tensor& y, int64_t i, int64_t drawn) {
    if (y.type() == ElementType::kInt32)
      y.Data<int32_t>()[i] = static_cast<int32_t>(drawn);
    else
      y.Data<int64_t>()[i] = drawn;
  }

  Seed seed_;
  int64_t samples_;
};

}  // namespace

void RegisterMultinomial(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Multinomial", 7, 22, {{"T1", SetOf(FloatTypes{})}}), MakeKernel<Multinomial>);
}

}  // namespace light
