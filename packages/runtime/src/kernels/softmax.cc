// SPDX-License-Identifier: Apache-2.0
// Hardmax, LogSoftmax, Softmax.
#include <cmath>
#include <limits>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

/// The tensor as [outer, n, inner], normalised along n.
struct Layout {
  int64_t outer;
  int64_t n;
  int64_t inner;
};

/// One line along the axis at a time, by steps of `inner`.
template <bool kLog>
void Strided(RuntimeContext& context, const Layout& l, const double* x, double* y) {
  context.ParallelFor(l.outer * l.inner, 20 * static_cast<double>(l.n), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t base = unit / l.inner * l.n * l.inner + unit % l.inner;
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = 0; i < l.n; ++i) largest = std::max(largest, x[base + i * l.inner]);
      for (int64_t i = 0; i < l.n; ++i) {
        const double power = std::exp(x[base + i * l.inner] - largest);
        if constexpr (!kLog) y[base + i * l.inner] = power;
        sum += power;
      }
      const double log_sum = std::log(sum), factor = 1 / sum;
      for (int64_t i = 0; i < l.n; ++i) {
        const int64_t at = base + i * l.inner;
        y[at] = kLog ? x[at] - largest - log_sum : y[at] * factor;
      }
    }
  });
}

/// Rows of `n` floats one behind the other. `y` may be `x` unless kLog.
template <bool kLog>
void Rows(const float* x, float* y, std::size_t rows, std::size_t n) {
  const simd::SimdTable& simd = Simd();
  if constexpr (!kLog) {
    simd.softmax(x, y, rows, n);
  } else {
    for (std::size_t row = 0; row < rows; ++row) {
      const float* in = x + row * n;
      float* out = y + row * n;
      const float largest = simd.reduce_max(in, n);
      simd.sub_scalar(in, &largest, out, n);
      simd.exp(out, out, n);
      const float log_sum = std::log(simd.reduce_sum(out, n));
      simd.sub_scalar(in, &largest, out, n);
      simd.sub_scalar(out, &log_sum, out, n);
    }
  }
}

constexpr int64_t kLineBlock = 256;

/// `n` lines, `pitch` apart, of at most kLineBlock floats; each of their columns is normalised. `y` may be `x` unless
/// kLog.
template <bool kLog>
void Lines(const float* x, float* y, int64_t n, int64_t pitch, std::size_t width) {
  const simd::SimdTable& simd = Simd();
  float largest[kLineBlock], sum[kLineBlock];
  std::fill_n(largest, width, -std::numeric_limits<float>::infinity());
  std::fill_n(sum, width, 0.f);
  for (int64_t i = 0; i < n; ++i) simd.max(x + i * pitch, largest, largest, width);
  for (int64_t i = 0; i < n; ++i) {
    float* line = y + i * pitch;
    simd.sub(x + i * pitch, largest, line, width);
    simd.exp(line, line, width);
    simd.add(line, sum, sum, width);
  }
  if constexpr (kLog) simd.log(sum, sum, width);
  for (int64_t i = 0; i < n; ++i) {
    float* line = y + i * pitch;
    if constexpr (kLog) {
      simd.sub(x + i * pitch, largest, line, width);
      simd.sub(line, sum, line, width);
    } else {
      simd.div(line, sum, line, width);
    }
  }
}

/// Calls `run(base, width)` for the parts of at most `block` columns that the lines of `layout` have; `base` is the
/// offset of the first element.
template <class Run>
void ForEachBlock(const Layout& l, int64_t block, int64_t begin, int64_t end, Run run) {
  const int64_t blocks = (l.inner + block - 1) / block;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t first = unit % blocks * block;
    run(unit / blocks * l.n * l.inner + first, static_cast<std::size_t>(std::min(block, l.inner - first)));
  }
}

template <bool kLog>
void Floats(RuntimeContext& context, const Layout& l, const float* x, float* y) {
  if (l.inner == 1) {
    context.ParallelFor(l.outer, 0.6 * static_cast<double>(l.n) + 10, [&](int64_t begin, int64_t end) {
      Rows<kLog>(x + begin * l.n, y + begin * l.n, static_cast<std::size_t>(end - begin),
                 static_cast<std::size_t>(l.n));
    });
    return;
  }
  const double cost = static_cast<double>(l.n * std::min(kLineBlock, l.inner));
  context.ParallelFor(l.outer * ((l.inner + kLineBlock - 1) / kLineBlock), cost, [&](int64_t begin, int64_t end) {
    ForEachBlock(l, kLineBlock, begin, end,
                 [&](int64_t base, std::size_t width) { Lines<kLog>(x + base, y + base, l.n, l.inner, width); });
  });
}

/// 16-bit floats, as many rows or parts of lines at once as the nearest caches hold as floats.
template <bool kLog>
void SmallFloats(RuntimeContext& context, const Layout& l, SmallFloatFns fns, const uint16_t* x, uint16_t* y) {
  const auto n = static_cast<std::size_t>(l.n);
  if (l.inner == 1) {
    const int64_t rows = std::max<int64_t>(1, std::min(l.outer, 2 * kFloatBlock / l.n));
    const std::size_t size = static_cast<std::size_t>(rows) * n;
    ThreadScratch scratch(context, kLog ? 2 * size : size);
    context.ParallelFor(l.outer, 0.8 * static_cast<double>(l.n) + 10, [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      float* in = lease.data();
      float* out = kLog ? in + size : in;
      for (int64_t row = begin; row < end; row += rows) {
        const auto some = static_cast<std::size_t>(std::min(rows, end - row));
        fns.widen(x + row * l.n, in, some * n);
        Rows<kLog>(in, out, some, n);
        fns.narrow(out, y + row * l.n, some * n);
      }
    });
    return;
  }
  const int64_t block = std::min(l.inner, std::clamp<int64_t>(16 * kFloatBlock / l.n, 16, kLineBlock));
  const std::size_t size = static_cast<std::size_t>(block) * n;
  ThreadScratch scratch(context, kLog ? 2 * size : size);
  const double cost = 1.2 * static_cast<double>(l.n * block);
  context.ParallelFor(l.outer * ((l.inner + block - 1) / block), cost, [&](int64_t begin, int64_t end) {
    const ThreadScratch::Lease lease(scratch);
    float* in = lease.data();
    float* out = kLog ? in + size : in;
    ForEachBlock(l, block, begin, end, [&](int64_t base, std::size_t width) {
      for (int64_t i = 0; i < l.n; ++i) fns.widen(x + base + i * l.inner, in + i * block, width);
      Lines<kLog>(in, out, l.n, block, width);
      for (int64_t i = 0; i < l.n; ++i) fns.narrow(out + i * block, y + base + i * l.inner, width);
    });
  });
}

template <bool kLog>
struct SoftmaxOp {
  template <class T>
  static void Compute(RuntimeContext& context, const Layout& layout, const T* x, T* y) {
    if constexpr (std::is_same_v<T, float>) {
      Floats<kLog>(context, layout, x, y);
    } else if constexpr (kIsSmallFloat<T>) {
      SmallFloats<kLog>(context, layout, SmallFloatFnsOf(kElementOf<T>), reinterpret_cast<const uint16_t*>(x),
                        reinterpret_cast<uint16_t*>(y));
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
