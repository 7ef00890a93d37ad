// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"

namespace light {
namespace {

class Lrn final : public KernelBase {
 public:
  explicit Lrn(const KernelInfo& info)
      : size_(info.Int("size", 0)),
        alpha_(info.Float("alpha", 0.0001f)),
        beta_(info.Float("beta", 0.75f)),
        bias_(info.Float("bias", 1)) {
    if (size_ < 1)
      info.Fail(ErrorCode::kInvalidGraph, "attribute size: must be at least 1, got " + std::to_string(size_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if (x.rank() < 2) FailArgument("input 0 (X): must have batch and channels, got " + Describe(x));
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    const int64_t channels = x.dim(1), plane = Product(x.dims(), 2, x.rank());
    // The window of an even size has one more channel behind than before.
    const int64_t before = (size_ - 1) / 2, behind = size_ - 1 - before;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      constexpr int64_t kBlock = 256;
      const double cost = (static_cast<double>(std::min(size_, channels)) + 20) * static_cast<double>(plane);
      context.ParallelFor(x.dim(0) * channels, cost, [&](int64_t begin, int64_t end) {
        double squares[kBlock];
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t c = unit % channels;
          const int64_t first = c - std::min(before, c), last = c + std::min(behind, channels - 1 - c);
          for (int64_t block = 0; block < plane; block += kBlock) {
            const int64_t n = std::min(kBlock, plane - block);
            std::fill_n(squares, n, 0.);
            for (int64_t other = first; other <= last; ++other) {
              const T* from = x.Data<T>() + (unit - c + other) * plane + block;
              for (int64_t i = 0; i < n; ++i) {
                const auto value = static_cast<double>(static_cast<C>(from[i]));
                squares[i] += value * value;
              }
            }
            const T* from = x.Data<T>() + unit * plane + block;
            T* to = y.Data<T>() + unit * plane + block;
            for (int64_t i = 0; i < n; ++i)
              to[i] = T(static_cast<C>(static_cast<double>(static_cast<C>(from[i])) /
                                       std::pow(bias_ + alpha_ / static_cast<double>(size_) * squares[i], beta_)));
          }
        }
      });
    });
  }

 private:
  int64_t size_;
  double alpha_, beta_, bias_;
};

}  // namespace

void RegisterLrn(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("LRN", 1, 13, {{"T", SetOf(FloatTypes{})}}), MakeKernel<Lrn>);
}

}  // namespace light
