// SPDX-License-Identifier: Apache-2.0
// Hardmax, LogSoftmax, Softmax.
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

/// One line along the axis at a time, by steps of `inner`.
template <bool kLog, class T>
void Strided(RuntimeContext& context, const Layout& l, const T* x, T* y) {
  using C = ComputeType<T>;
  context.ParallelFor(l.outer * l.inner, 20 * static_cast<double>(l.n), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t base = unit / l.inner * l.n * l.inner + unit % l.inner;
      C largest = -std::numeric_limits<C>::infinity(), sum = 0;
      for (int64_t i = 0; i < l.n; ++i) largest = std::max(largest, static_cast<C>(x[base + i * l.inner]));
      for (int64_t i = 0; i < l.n; ++i) sum += std::exp(static_cast<C>(x[base + i * l.inner]) - largest);
      const C log_sum = std::log(sum);
      for (int64_t i = 0; i < l.n; ++i) {
        const int64_t at = base + i * l.inner;
        const C shifted = static_cast<C>(x[at]) - largest;
        y[at] = T(kLog ? shifted - log_sum : std::exp(shifted) / sum);
      }
    }
  });
}

template <bool kLog>
void Rows(RuntimeContext& context, const Layout& l, const float* x, float* y) {
  const simd::SimdTable& simd = Simd();
  context.ParallelFor(l.outer, 0.6 * static_cast<double>(l.n) + 10, [&](int64_t begin, int64_t end) {
    const auto n = static_cast<std::size_t>(l.n);
    if constexpr (!kLog) {
      simd.softmax(x + begin * l.n, y + begin * l.n, static_cast<std::size_t>(end - begin), n);
    } else {
      for (int64_t row = begin; row < end; ++row) {
        const float* in = x + row * l.n;
        float* out = y + row * l.n;
        const float largest = simd.reduce_max(in, n);
        simd.sub_scalar(in, &largest, out, n);
        simd.exp(out, out, n);
        const float log_sum = std::log(simd.reduce_sum(out, n));
        simd.sub_scalar(in, &largest, out, n);
        simd.sub_scalar(out, &log_sum, out, n);
      }
    }
  });
}

// Whole lines of `inner` elements at once.
template <bool kLog>
void Lines(RuntimeContext& context, const Layout& l, const float* x, float* y) {
  constexpr int64_t kBlock = 256;
  const simd::SimdTable& simd = Simd();
  const int64_t blocks = (l.inner + kBlock - 1) / kBlock;
  const double cost = static_cast<double>(l.n * std::min(kBlock, l.inner));
  context.ParallelFor(l.outer * blocks, cost, [&](int64_t begin, int64_t end) {
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
      if constexpr (kLog) simd.log(sum, sum, width);
      for (int64_t i = 0; i < l.n; ++i) {
        float* line = y + base + i * l.inner;
        if constexpr (kLog) {
          simd.sub(x + base + i * l.inner, largest, line, width);
          simd.sub(line, sum, line, width);
        } else {
          simd.div(line, sum, line, width);
        }
      }
    }
  });
}

template <bool kLog>
struct SoftmaxOp {
  template <class T>
  static void Compute(RuntimeContext& context, const Layout& layout, const T* x, T* y) {
    if constexpr (std::is_same_v<T, float>) {
      (layout.inner == 1 ? Rows<kLog> : Lines<kLog>)(context, layout, x, y);
    } else {
      Strided<kLog>(context, layout, x, y);
    }
  }
};

/// 1 where the first of the largest is, else 0.
struct HardmaxOp {
  template <class T>
  static void Compute(RuntimeContext& context, const Layout& l, const T* x, T* y) {
    using C = ComputeType<T>;
    context.ParallelFor(l.outer * l.inner, static_cast<double>(l.n), [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t base = unit / l.inner * l.n * l.inner + unit % l.inner;
        int64_t largest = 0;
        for (int64_t i = 0; i < l.n; ++i) {
          const C value = static_cast<C>(x[base + i * l.inner]), best = static_cast<C>(x[base + largest * l.inner]);
          if (value > best || (value != value && best == best)) largest = i;
          y[base + i * l.inner] = T(C{0});
        }
        y[base + largest * l.inner] = T(C{1});
      }
    });
  }
};

template <class Op>
class SoftmaxKernel final : public KernelBase {
 public:
  explicit SoftmaxKernel(const KernelInfo& info)
      : coerced_(info.since_version() < 13), axis_(info.Int("axis", coerced_ ? 1 : -1)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    Tensor& y = context.Output(0, x.dims());
    const Dims& dims = x.dims();
    Layout layout{1, 1, 1};  // of one element alone: every axis is out of range, and the result is the same whichever
    if (dims.rank() > 0 || coerced_) {
      // Before version 13 the input is seen as a matrix: the axes before `axis` by all the others.
      const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, dims.rank(), coerced_ ? 1 : 0));
      if (x.element_count() == 0) return;
      layout = coerced_ ? Layout{Product(dims, 0, axis), Product(dims, axis, dims.rank()), 1}
                        : Layout{Product(dims, 0, axis), dims[axis], Product(dims, axis + 1, dims.rank())};
    }
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Op::Compute(context, layout, x.Data<T>(), y.Data<T>());
    });
  }

 private:
  bool coerced_;
  int64_t axis_;
};

template <class Op>
void Register(KernelRegistry& registry, const char* op_type) {
  registry.RegisterKernelFn(Registration(op_type, 1, 13, {{"T", SetOf(FloatTypes{})}}), MakeKernel<SoftmaxKernel<Op>>);
}

}  // namespace

void RegisterSoftmax(KernelRegistry& registry) {
  Register<HardmaxOp>(registry, "Hardmax");
  Register<SoftmaxOp<true>>(registry, "LogSoftmax");
  Register<SoftmaxOp<false>>(registry, "Softmax");
}

}  // namespace light
