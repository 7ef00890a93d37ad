// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool, GlobalLpPool and GlobalMaxPool.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/scalar.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"

namespace light {
namespace {

template <class T>
T Mean(const T* x, int64_t n, double) {
  using C = ComputeType<T>;
  if constexpr (std::is_same_v<T, float>) {
    return Simd().reduce_sum(x, static_cast<std::size_t>(n)) / static_cast<float>(n);
  } else {
    C sum = 0;
    if constexpr (kIsSmallFloat<T>)
      ForEachFloatBlock(x, n, [&](const float* block, std::size_t length) { sum += Simd().reduce_sum(block, length); });
    else
      for (int64_t i = 0; i < n; ++i) sum += x[i];
    return T(sum / static_cast<C>(n));
  }
}

template <class T>
T Largest(const T* x, int64_t n, double) {
  if constexpr (std::is_same_v<T, float>) {
    return Simd().reduce_max(x, static_cast<std::size_t>(n));
  } else if constexpr (kIsSmallFloat<T>) {
    float best = -std::numeric_limits<float>::infinity();
    ForEachFloatBlock(
        x, n, [&](const float* block, std::size_t length) { best = Larger(Simd().reduce_max(block, length), best); });
    return T(best);
  } else {
    T best = -std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < n; ++i) {
      const T value = x[i];
      if (value > best || value != value) best = value;
      if (best != best) break;
    }
    return best;
  }
}

// Powers are added up in double: they leave the range of the narrower types soon.
template <class T>
T Norm(const T* x, int64_t n, double p) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = std::abs(static_cast<double>(static_cast<ComputeType<T>>(x[i])));
    sum += p == 1 ? value : p == 2 ? value * value : std::pow(value, p);
  }
  return T(static_cast<ComputeType<T>>(p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p)));
}

struct MeanOp {
  static constexpr double kCost = 0.3;
  template <class T>
  static constexpr auto kRow = Mean<T>;
};
struct MaxOp {
  static constexpr double kCost = 0.3;
  template <class T>
  static constexpr auto kRow = Largest<T>;
};
struct NormOp {
  static constexpr double kCost = 3;
  template <class T>
  static constexpr auto kRow = Norm<T>;
};

// The means of images whose channels are last. Blocks of pixels are added up first: long sums lose digits.
void MeansOfPixels(RuntimeContext& context, int64_t batch, int64_t channels, int64_t pixels, const float* x, float* y) {
  constexpr int64_t kChannels = 64, kPixels = 64;
  const simd::SimdTable& simd = Simd();
  const int64_t parts = (channels + kChannels - 1) / kChannels;
  const double cost = 0.1 * static_cast<double>(pixels * kChannels) + 5;
  context.ParallelFor(batch * parts, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / parts, first = unit % parts * kChannels;
      const auto n = static_cast<std::size_t>(std::min(kChannels, channels - first));
      const float* from = x + image * pixels * channels + first;
      float total[kChannels] = {}, sums[kChannels] = {};
      for (int64_t pixel = 0; pixel < pixels; ++pixel, from += channels) {
        simd.add(from, sums, sums, n);
        if ((pixel + 1) % kPixels != 0 && pixel + 1 < pixels) continue;
        simd.add(sums, total, total, n);
        std::fill_n(sums, n, 0.f);
      }
      const auto count = static_cast<float>(pixels);
      simd.div_scalar(total, &count, y + image * channels + first, n);
    }
  });
}

template <class Op>
class GlobalPool final : public KernelBase {
 public:
  explicit GlobalPool(const KernelInfo& info) : is_last_(info.layouts().input_last) {
    if constexpr (std::is_same_v<Op, NormOp>) {
      // A float in version 1 only.
      p_ = info.since_version() == 1 ? info.Float("p", 2) : static_cast<double>(info.Int("p", 2));
      if (!(p_ > 0)) info.Fail(ErrorCode::kInvalidGraph, "attribute p: must be positive, got " + std::to_string(p_));
    }
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if (x.rank() < 2) FailArgument("input 0 (X): must have batch and channels, got " + Describe(x));
    Dims dims = x.dims();
    for (std::size_t d = 2; d < dims.rank(); ++d) dims[d] = 1;
    Tensor& y = context.Output(0, dims);
    const int64_t planes = y.element_count(), plane = Product(x.dims(), 2, x.rank());
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = x.Data<T>();
      T* to = y.Data<T>();
      if constexpr (std::is_same_v<T, float> && std::is_same_v<Op, MeanOp>) {
        if (is_last_) return MeansOfPixels(context, x.dim(0), x.dim(1), plane, from, to);
      }
      context.ParallelFor(planes, Op::kCost * static_cast<double>(plane) + 5, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = Op::template kRow<T>(from + i * plane, plane, p_);
      });
    });
  }

 private:
  bool is_last_;
  double p_ = 0;
};

}  // namespace

void RegisterGlobalPooling(KernelRegistry& registry) {
  const std::vector<TypeConstraint> floats = {{"T", SetOf(FloatTypes{})}};
  KernelRegistration average = Registration("GlobalAveragePool", 1, 22, floats);
  average.layout_support = [](const KernelInfo&) { return LayoutSupport::kInput; };
  registry.RegisterKernelFn(std::move(average), MakeKernel<GlobalPool<MeanOp>>);
  registry.RegisterKernelFn(Registration("GlobalLpPool", 1, 22, floats), MakeKernel<GlobalPool<NormOp>>);
  registry.RegisterKernelFn(Registration("GlobalMaxPool", 1, 22, floats), MakeKernel<GlobalPool<MaxOp>>);
}

}  // namespace light
