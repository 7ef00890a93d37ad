// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin.
#include <type_traits>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"

namespace light {
namespace {

// Whether `x` is further out than `best`. A NaN is further out than every number, as it is for numpy.
template <bool kMax, class C>
bool Beyond(C x, C best) {
  return (kMax ? x > best : x < best) || (x != x && best == best);
}

/// Along the middle axis of [outer, n, inner]; of equal elements the first, or the last.
template <bool kMax, bool kLast, class T>
void ArgReduce(RuntimeContext& context, int64_t n, int64_t inner, const Tensor& data, Tensor& out) {
  using C = ComputeType<T>;
  constexpr int64_t kBlock = 256;
  const T* from = data.Data<T>();
  int64_t* to = out.Data<int64_t>();
  // Columns side by side are walked together, a block of them at a time, so that memory is read in order.
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  const int64_t units = out.element_count() / inner * blocks;
  const double cost = static_cast<double>(n) * static_cast<double>(std::min(inner, kBlock));
  context.ParallelFor(units, cost, [&](int64_t begin, int64_t end) {
    C best[kBlock];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t outer = unit / blocks, first = unit % blocks * kBlock;
      const int64_t width = std::min(kBlock, inner - first);
      const T* x = from + outer * n * inner + first;
      int64_t* index = to + outer * inner + first;
      for (int64_t j = 0; j < width; ++j) best[j] = static_cast<C>(x[j]);
      std::fill_n(index, width, 0);
      for (int64_t i = 1; i < n; ++i) {
        x += inner;
        for (int64_t j = 0; j < width; ++j) {
          const C value = static_cast<C>(x[j]);
          if (kLast ? !Beyond<kMax>(best[j], value) : Beyond<kMax>(value, best[j])) {
            best[j] = value;
            index[j] = i;
          }
        }
      }
    }
  });
}

using ArgReduceFn = void (*)(RuntimeContext&, int64_t n, int64_t inner, const Tensor&, Tensor&);

class ArgReduceKernel final : public KernelBase {
 public:
  ArgReduceKernel(const KernelInfo& info, ArgReduceFn reduce)
      : reduce_(reduce), axis_(info.Int("axis", 0)), keep_dims_(info.Int("keepdims", 1) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, data.rank()));
    Dims extents = data.dims();
    if (keep_dims_) {
      extents[axis] = 1;
    } else {
      std::copy(extents.data() + axis + 1, extents.data() + extents.rank(), extents.data() + axis);
      extents.Resize(extents.rank() - 1);
    }
    Tensor& out = context.Output(0, extents);
    if (out.element_count() == 0) return;
    if (data.dim(axis) == 0)
      FailArgument("input 0 (data): axis " + std::to_string(axis) + " must have elements, got " + Describe(data));
    reduce_(context, data.dim(axis), Product(data.dims(), axis + 1, data.rank()), data, out);
  }

 private:
  ArgReduceFn reduce_;
  int64_t axis_;
  bool keep_dims_;
};

template <bool kMax>
std::unique_ptr<KernelBase> Make(const KernelInfo& info) {
  const bool last = info.Int("select_last_index", 0) != 0;
  return WithType(NumberTypes{}, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
    using T = typename decltype(tag)::type;
    return std::make_unique<ArgReduceKernel>(info, last ? ArgReduce<kMax, true, T> : ArgReduce<kMax, false, T>);
  });
}

}  // namespace

void RegisterArgReduce(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("ArgMax", 1, 13, {{"T", SetOf(NumberTypes{})}}), Make<true>);
  registry.RegisterKernelFn(Registration("ArgMin", 1, 13, {{"T", SetOf(NumberTypes{})}}), Make<false>);
}

}  // namespace light
