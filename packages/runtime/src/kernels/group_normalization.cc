// SPDX-License-Identifier: Apache-2.0
// GroupNormalization and InstanceNormalization, whose groups have one channel each.
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moments.h"

namespace light {
namespace {

class GroupNormalization final : public KernelBase {
 public:
  explicit GroupNormalization(const KernelInfo& info)
      : instance_(info.node().op_type == "InstanceNormalization"),
        // Version 18 has a scale per group.
        per_group_(info.since_version() < 21 && !instance_),
        groups_(info.Int("num_groups", 1)),
        epsilon_(info.Float("epsilon", 1e-5f)) {
    if (groups_ < 1)
      info.Fail(ErrorCode::kInvalidGraph, "attribute num_groups: must be at least 1, got " + std::to_string(groups_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if (x.rank() < 2) FailArgument("input 0 (X): must have batch and channels, got " + Describe(x));
    const int64_t channels = x.dim(1), groups = instance_ ? channels : groups_;
    if (groups > 0 && channels % groups != 0)
      FailArgument("input 0 (X): must have a multiple of num_groups " + std::to_string(groups) + " channels, got " +
                   Describe(x));
    const Tensor& scale = Parameter(context, 1, "scale", per_group_ ? groups : channels);
    const Tensor& bias = Parameter(context, 2, instance_ ? "B" : "bias", per_group_ ? groups : channels);
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    const int64_t plane = Product(x.dims(), 2, x.rank()), width = channels / groups, n = width * plane;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      context.ParallelFor(x.dim(0) * groups, 2 * static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
        for (int64_t unit = begin; unit < end; ++unit) {
          const T* from = x.Data<T>() + unit * n;
          T* to = y.Data<T>() + unit * n;
          const double mean = Sum(from, n) / static_cast<double>(n);
          const double variance = SumOfSquares(from, n, mean) / static_cast<double>(n);
          const double inverse = 1 / std::sqrt(variance + epsilon_);
          for (int64_t c = 0; c < width; ++c) {
            const int64_t group = unit % groups, parameter = per_group_ ? group : group * width + c;
            const auto factor = static_cast<C>(inverse * ElementAsDouble(scale, parameter));
            const auto shift = static_cast<C>(ElementAsDouble(bias, parameter)), center = static_cast<C>(mean);
            if constexpr (kIsSmallFloat<T>) {
              MapFloatBlocks(from + c * plane, to + c * plane, plane, [&](float* block, std::size_t length) {
                Simd().sub_scalar(block, &center, block, length);
                Simd().affine(block, factor, shift, block, length);
              });
            } else {
              for (int64_t i = c * plane; i < (c + 1) * plane; ++i) to[i] = (from[i] - center) * factor + shift;
            }
          }
        }
      });
    });
  }

 private:
  static const Tensor& Parameter(RuntimeContext& context, std::size_t i, const char* name, int64_t count) {
    const Tensor& tensor = Required(context, i, name);
    if (tensor.rank() != 1 || tensor.dim(0) != count)
      FailArgument(InputLabel(i, name) + ": must have extents [" + std::to_string(count) + "], got " +
                   Describe(tensor));
    return tensor;
  }

  bool instance_, per_group_;
  int64_t groups_;
  double epsilon_;
};

}  // namespace

void RegisterGroupNormalization(KernelRegistry& registry) {
  const std::vector<TypeConstraint> floats = {{"T", SetOf(FloatTypes{})}};
  registry.RegisterKernelFn(Registration("GroupNormalization", 18, 21, floats), MakeKernel<GroupNormalization>);
  registry.RegisterKernelFn(Registration("InstanceNormalization", 1, 22, floats), MakeKernel<GroupNormalization>);
}

}  // namespace light
