// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

/// The tensor as [outer, n, inner], normalised along n.
struct Layout {
  int64_t outer;
  int64_t n;
  int64_t inner;
};

template <class T>
void Strided(RuntimeContext& context, const Layout& l, const T* x, T* y) {
  using C = ComputeType<T>;
  context.ParallelFor(l.outer * l.inner, 20 * static_cast<double>(l.n), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t base = unit / l.inner * l.n * l.inner + unit % l.inner;
      C largest = -std::numeric_limits<C>::infinity(), sum = 0;
      for (int64_t i = 0; i < l.n; ++i) largest = std::max(largest, static_cast<C>(x[base + i * l.inner]));
      for (int64_t i = 0; i < l.n; ++i) sum += std::exp(static_cast<C>(x[base + i * l.inner]) - largest);
      for (int64_t i = 0; i < l.n; ++i) {
        const int64_t at = base + i * l.inner;
        y[at] = T(std::exp(static_cast<C>(x[at]) - largest) / sum);
      }
    }
  });
}

void Rows(RuntimeContext& context, const Layout& l, const float* x, float* y) {
  const simd::SimdTable& simd = Simd();
  context.ParallelFor(l.outer, 0.6 * static_cast<double>(l.n) + 10, [&](int64_t begin, int64_t end) {
    simd.softmax(x + begin * l.n, y + begin * l.n, static_cast<std::size_t>(end - begin),
                 static_cast<std::size_t>(l.n));
  });
}

// Whole lines of `inner` elements at once.
void Lines(RuntimeContext& context, const Layout& l, const float* x, float* y) {
  constexpr int64_t kBlock = 256;
  const simd::SimdTable& simd = Simd();
  const int64_t blocks = (l.inner + kBlock - 1) / kBlock;
  context.ParallelFor(l.outer * blocks, static_cast<double>(l.n * std::min(kBlock, l.inner)),
                      [&](int64_t begin, int64_t end) {
                        float largest[kBlock], sum[kBlock];
                        for (int64_t unit = begin; unit < end; ++unit) {
                          const int64_t first = unit % blocks * kBlock;
                          const auto width = static_cast<std::size_t>(std::min(kBlock, l.inner - first));
                          const int64_t base = unit / blocks * l.n * l.inner + first;
                          std::fill_n(largest, width, -std::numeric_limits<float>::infinity());
                          std::fill_n(sum, width, 0.f);
                          for (int64_t i = 0; i < l.n; ++i) simd.max(x + base + i * l.inner, largest, largest, width);
                          for (int64_t i = 0; i < l.n; ++i) {
                            float* line = y + base + i * l.inner;
                            simd.sub(x + base + i * l.inner, largest, line, width);
                            simd.exp(line, line, width);
                            simd.add(line, sum, sum, width);
                          }
                          for (int64_t i = 0; i < l.n; ++i)
                            simd.div(y + base + i * l.inner, sum, y + base + i * l.inner, width);
                        }
                      });
}

class Softmax final : public KernelBase {
 public:
  explicit Softmax(const KernelInfo& info)
      : coerced_(info.since_version() < 13), axis_(info.Int("axis", coerced_ ? 1 : -1)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    Tensor& y = context.Output(0, x.dims());
    const Dims& dims = x.dims();
    if (dims.rank() == 0 && !coerced_) {
      // One element alone; every axis is out of range, and the result is 1 whichever is meant.
      WithType(FloatTypes{}, x.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Strided<T>(context, {1, 1, 1}, x.Data<T>(), y.Data<T>());
      });
      return;
    }
    // Before version 13 the input is seen as a matrix: the axes before `axis` by all the others.
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, dims.rank(), coerced_ ? 1 : 0));
    if (x.element_count() == 0) return;
    const Layout layout = coerced_ ? Layout{Product(dims, 0, axis), Product(dims, axis, dims.rank()), 1}
                                   : Layout{Product(dims, 0, axis), dims[axis], Product(dims, axis + 1, dims.rank())};
    if (x.type() == ElementType::kFloat)
      return (layout.inner == 1 ? Rows : Lines)(context, layout, x.Data<float>(), y.Data<float>());
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Strided<T>(context, layout, x.Data<T>(), y.Data<T>());
    });
  }

 private:
  bool coerced_;
  int64_t axis_;
};

}  // namespace

void RegisterSoftmax(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Softmax", 1, 13, {{"T", SetOf(FloatTypes{})}});
  registry.RegisterKernelFn(registration, MakeKernel<Softmax>);
}

}  // namespace light
