// SPDX-License-Identifier: Apache-2.0
// CumProd, CumSum.
#include <algorithm>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/input_axes.h"
#include "kernels/scalar.h"

namespace light {
namespace {

struct ProdOp {
  static constexpr int kInitial = 1;
  template <class C>
  static C Combine(C a, C b) {
    return WrappingMultiply(a, b);
  }
};
struct SumOp {
  static constexpr int kInitial = 0;
  template <class C>
  static C Combine(C a, C b) {
    return WrappingAdd(a, b);
  }
};

/// Along the middle axis of [outer, n, inner].
struct Layout {
  int64_t outer;
  int64_t n;
  int64_t inner;
  bool exclusive;
  bool reverse;
};

template <class Op, class T>
void Accumulate(RuntimeContext& context, const Layout& l, const T* x, T* y) {
  using C = ComputeType<T>;
  constexpr int64_t kBlock = 256;
  // Columns side by side are walked together, a block of them at a time, so that memory is read in order.
  const int64_t blocks = (l.inner + kBlock - 1) / kBlock;
  const double cost = static_cast<double>(l.n) * static_cast<double>(std::min(l.inner, kBlock));
  context.ParallelFor(l.outer * blocks, cost, [&](int64_t begin, int64_t end) {
    C total[kBlock];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % blocks * kBlock, width = std::min(kBlock, l.inner - first);
      const int64_t base = unit / blocks * l.n * l.inner + first;
      std::fill_n(total, width, static_cast<C>(Op::kInitial));
      for (int64_t i = 0; i < l.n; ++i) {
        const int64_t at = base + (l.reverse ? l.n - 1 - i : i) * l.inner;
        if (l.exclusive) {
          for (int64_t j = 0; j < width; ++j) {
            const C next = Op::Combine(total[j], static_cast<C>(x[at + j]));
            y[at + j] = T(total[j]);
            total[j] = next;
          }
        } else {
          for (int64_t j = 0; j < width; ++j) {
            total[j] = Op::Combine(total[j], static_cast<C>(x[at + j]));
            y[at + j] = T(total[j]);
          }
        }
      }
    }
  });
}

template <class Op, class T>
class CumulativeKernel final : public KernelBase {
 public:
  explicit CumulativeKernel(const KernelInfo& info)
      : exclusive_(info.Int("exclusive", 0) != 0), reverse_(info.Int("reverse", 0) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "x");
    const Tensor& axis_input = Required(context, 1, "axis");
    const Dims axes = ReadIntegers(axis_input, 1, "axis");
    if (axes.rank() != 1) FailArgument(InputLabel(1, "axis") + ": must be one number, got " + Describe(axis_input));
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axes[0], x.rank(), "input 1 (axis)"));
    Tensor& y = context.Output(0, x.dims());
    if (x.element_count() == 0) return;
    const Layout layout{Product(x.dims(), 0, axis), x.dim(axis), Product(x.dims(), axis + 1, x.rank()), exclusive_,
                        reverse_};
    Accumulate<Op>(context, layout, x.Data<T>(), y.template Data<T>());
  }

 private:
  bool exclusive_;
  bool reverse_;
};

template <class Op>
void Register(KernelRegistry& registry, const char* op_type, int since, int until) {
  KernelRegistration registration = Registration(op_type, since, until, {{"T", SetOf(MatrixTypes{})}});
  registration.may_inplace = {{0, 0}};
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) {
    return WithType(MatrixTypes{}, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      return std::make_unique<CumulativeKernel<Op, typename decltype(tag)::type>>(info);
    });
  });
}

}  // namespace

void RegisterCumulative(KernelRegistry& registry) {
  Register<ProdOp>(registry, "CumProd", 26, 26);
  Register<SumOp>(registry, "CumSum", 11, 14);
}

}  // namespace light
