// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/scratch.h"

namespace light {
namespace {

// The statistics lie in buffers that broadcast to X: extents of 1 where an axis is averaged over.
class MeanVarianceNormalization final : public KernelBase {
 public:
  explicit MeanVarianceNormalization(const KernelInfo& info) { axes_.Assign(info.Ints("axes", {0, 2, 3})); }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    Dims kept = x.dims();
    const Dims averaged = MarkAxes(AxesOf(x), x.rank());
    for (std::size_t d = 0; d < kept.rank(); ++d)
      if (averaged[d] || axes_.rank() == 0) kept[d] = 1;  // no axes stand for all, as when reducing
    Tensor& y = context.Output(0, x.dims());
    const int64_t total = x.element_count();
    if (total == 0) return;
    const int64_t kept_count = Product(kept, 0, kept.rank());
    auto* means = Scratch<double>(context, 2 * kept_count);
    double* deviations = means + kept_count;
    const double count = static_cast<double>(total) / static_cast<double>(kept_count);
    const Dims* inputs[] = {&x.dims(), &kept};
    const BroadcastPlan plan(inputs);
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const auto value = [&](int64_t i) { return static_cast<double>(static_cast<C>(x.Data<T>()[i])); };
      std::fill_n(means, 2 * kept_count, 0.);
      ForEachRun(plan, 0, total, [&](int64_t position, int64_t length, const auto& offsets) {
        if (!plan.advances(1)) {
          means[offsets[1]] += Sum(x.Data<T>() + position, length);
        } else {
          for (int64_t i = 0; i < length; ++i) means[offsets[1] + i] += value(position + i);
        }
      });
      for (int64_t i = 0; i < kept_count; ++i) means[i] /= count;
      ForEachRun(plan, 0, total, [&](int64_t position, int64_t length, const auto& offsets) {
        if (!plan.advances(1)) {
          deviations[offsets[1]] += SumOfSquares(x.Data<T>() + position, length, means[offsets[1]]);
        } else {
          for (int64_t i = 0; i < length; ++i) {
            const double distance = value(position + i) - means[offsets[1] + i];
            deviations[offsets[1] + i] += distance * distance;
          }
        }
      });
      for (int64_t i = 0; i < kept_count; ++i) deviations[i] = std::sqrt(deviations[i] / count) + kEpsilon;
      context.ParallelFor(total, 2, [&](int64_t begin, int64_t end) {
        ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
          const bool advances = plan.advances(1);
          for (int64_t i = 0; i < length; ++i) {
            const int64_t at = offsets[1] + (advances ? i : 0);
            y.Data<T>()[position + i] = T(static_cast<C>((value(position + i) - means[at]) / deviations[at]));
          }
        });
      });
    });
  }

 private:
  // The default is that of images. Of an X with fewer axes those that it has are meant, if there is one.
  Dims AxesOf(const Tensor& x) const {
    const auto rank = static_cast<int64_t>(x.rank());
    Dims axes = axes_;
    const int64_t* end = std::remove_if(axes.data(), axes.data() + axes.rank(), [&](int64_t d) { return d >= rank; });
    axes.Resize(static_cast<std::size_t>(end - axes.data()));
    return axes.rank() > 0 ? axes : axes_;
  }

  static constexpr double kEpsilon = 1e-9;  // of the operator's definition as a function

  Dims axes_;
};

}  // namespace

void RegisterMeanVarianceNormalization(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("MeanVarianceNormalization", 9, 13, {{"T", SetOf(FloatTypes{})}}),
                            MakeKernel<MeanVarianceNormalization>);
}

}  // namespace light
