// SPDX-License-Identifier: Apache-2.0
// ReduceMax, ReduceMean, ReduceSum.
#include <limits>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

// What elements of T are added up in. Integers wrap in the end, whatever their width in between.
template <class T>
using SumType =
    std::conditional_t<kIsSmallFloat<T>, float, std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>>;

struct SumOp {
  static constexpr auto kRow = &simd::SimdTable::reduce_sum;
  static constexpr auto kLine = &simd::SimdTable::add;
  template <class T>
  using Acc = SumType<T>;
  template <class T>
  static Acc<T> Initial() {
    return 0;
  }
  template <class A>
  static A Combine(A a, A b) {
    return a + b;
  }
  template <class T>
  static T Finish(Acc<T> sum, int64_t) {
    return T(sum);
  }
};

struct MeanOp : SumOp {
  template <class T>
  static T Finish(Acc<T> sum, int64_t count) {
    if constexpr (std::is_integral_v<T>) {
      if (count == 0) FailArgument("axes: the mean of no integers does not exist, got an extent of 0");
      if constexpr (std::is_signed_v<T>)
        return static_cast<T>(static_cast<int64_t>(sum) / count);
      else
        return static_cast<T>(sum / static_cast<uint64_t>(count));
    } else {
      return T(sum / static_cast<Acc<T>>(count));
    }
  }
};

struct MaxOp {
  static constexpr auto kRow = &simd::SimdTable::reduce_max;
  static constexpr auto kLine = &simd::SimdTable::max;
  template <class T>
  using Acc = ComputeType<T>;
  template <class T>
  static Acc<T> Initial() {
    if constexpr (std::numeric_limits<Acc<T>>::has_infinity)
      return -std::numeric_limits<Acc<T>>::infinity();
    else
      return std::numeric_limits<Acc<T>>::lowest();
  }
  template <class A>
  static A Combine(A a, A b) {
    return a > b || a != a ? a : b;
  }  // a NaN wins
  template <class T>
  static T Finish(Acc<T> value, int64_t) {
    return T(value);
  }
};

/// A reduction by loops: over what is kept, over what is reduced, and along the innermost line, which is one or the
/// other.
struct ReducePlan {
  Dims out;
  Dims kept, kept_strides;
  Dims reduced, reduced_strides;
  int64_t line = 1;
  bool line_reduced = false;
  int64_t kept_count = 1;     ///< without the line
  int64_t reduced_count = 1;  ///< without the line
};

ReducePlan MakePlan(const Dims& dims, const Dims& is_reduced, bool keep_dims) {
  const std::size_t rank = dims.rank();
  ReducePlan plan;
  plan.out.Resize(rank);
  std::size_t out_rank = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!is_reduced[d])
      plan.out[out_rank++] = dims[d];
    else if (keep_dims)
      plan.out[out_rank++] = 1;
  }
  plan.out.Resize(out_rank);

  // Axes from the inside out; neighbours of one kind are merged. The first group is the line.
  bool have_line = false, last_reduced = false;
  int64_t pitch = 1;
  Dims* extents[] = {&plan.kept, &plan.reduced};
  Dims* strides[] = {&plan.kept_strides, &plan.reduced_strides};
  bool last_is_line = false;
  for (std::size_t d = rank; d-- > 0; pitch *= dims[d]) {
    const int64_t extent = dims[d];
    if (extent == 1) continue;
    const bool reduce = is_reduced[d] != 0;
    const bool same = have_line && reduce == last_reduced;
    if (!have_line || (same && last_is_line)) {
      plan.line *= extent;
      plan.line_reduced = reduce;
      have_line = last_is_line = true;
    } else {
      Dims& e = *extents[reduce];
      Dims& s = *strides[reduce];
      if (same) {
        e[e.rank() - 1] *= extent;
      } else {
        e.Resize(e.rank() + 1);
        s.Resize(s.rank() + 1);
        e[e.rank() - 1] = extent;
        s[s.rank() - 1] = pitch;
      }
      last_is_line = false;
      (reduce ? plan.reduced_count : plan.kept_count) *= extent;
    }
    last_reduced = reduce;
  }
  return plan;
}

// Offset of combination `index`; the groups are stored from the inside out.
int64_t Offset(const Dims& extents, const Dims& strides, int64_t index) {
  int64_t offset = 0;
  for (std::size_t d = 0; d < extents.rank(); ++d) {
    offset += index % extents[d] * strides[d];
    index /= extents[d];
  }
  return offset;
}

template <class Op, class T>
typename Op::template Acc<T> ReduceRow(const T* x, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    return (Simd().*Op::kRow)(x, static_cast<std::size_t>(n));
  } else {
    using Acc = typename Op::template Acc<T>;
    Acc acc = Op::template Initial<T>();
    for (int64_t i = 0; i < n; ++i) acc = Op::Combine(static_cast<Acc>(x[i]), acc);
    return acc;
  }
}

template <class Op, class T>
void ReduceLines(RuntimeContext& context, const ReducePlan& plan, int64_t count, const T* from, T* to) {
  const double cost = 0.3 * static_cast<double>(plan.line * plan.reduced_count) + 5;
  context.ParallelFor(plan.kept_count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const T* x = from + Offset(plan.kept, plan.kept_strides, o);
      auto acc = ReduceRow<Op, T>(x, plan.line);
      for (int64_t r = 1; r < plan.reduced_count; ++r)
        acc = Op::Combine(ReduceRow<Op, T>(x + Offset(plan.reduced, plan.reduced_strides, r), plan.line), acc);
      to[o] = Op::template Finish<T>(acc, count);
    }
  });
}

template <class Op, class T>
void ReduceAcrossLines(RuntimeContext& context, const ReducePlan& plan, int64_t count, const T* from, T* to) {
  using Acc = typename Op::template Acc<T>;
  constexpr int64_t kBlock = 512;
  const int64_t blocks = (plan.line + kBlock - 1) / kBlock;
  const double cost = 0.3 * static_cast<double>(std::min(kBlock, plan.line) * plan.reduced_count) + 5;
  context.ParallelFor(plan.kept_count * blocks, cost, [&](int64_t begin, int64_t end) {
    Acc acc[kBlock];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t o = unit / blocks, first = unit % blocks * kBlock;
      const int64_t n = std::min(kBlock, plan.line - first);
      const T* x = from + Offset(plan.kept, plan.kept_strides, o) + first;
      for (int64_t i = 0; i < n; ++i) acc[i] = Op::template Initial<T>();
      for (int64_t r = 0; r < plan.reduced_count; ++r) {
        const T* line = x + Offset(plan.reduced, plan.reduced_strides, r);
        if constexpr (std::is_same_v<T, float>) {
          (Simd().*Op::kLine)(line, acc, acc, static_cast<std::size_t>(n));
        } else {
          for (int64_t i = 0; i < n; ++i) acc[i] = Op::Combine(static_cast<Acc>(line[i]), acc[i]);
        }
      }
      T* out = to + o * plan.line + first;
      for (int64_t i = 0; i < n; ++i) out[i] = Op::template Finish<T>(acc[i], count);
    }
  });
}

template <class Op, class T>
void Reduce(RuntimeContext& context, const ReducePlan& plan, const Tensor& data, Tensor& out) {
  const int64_t results = out.element_count();
  if (results == 0) return;
  const int64_t count = data.element_count() / results;
  if (count == 0) {
    const T empty = Op::template Finish<T>(Op::template Initial<T>(), 0);
    std::fill_n(out.Data<T>(), results, empty);
  } else if (plan.line_reduced || plan.line == 1) {
    ReduceLines<Op, T>(context, plan, count, data.Data<T>(), out.Data<T>());
  } else {
    ReduceAcrossLines<Op, T>(context, plan, count, data.Data<T>(), out.Data<T>());
  }
}

using ReduceFn = void (*)(RuntimeContext&, const ReducePlan&, const Tensor&, Tensor&);

class ReduceKernel final : public KernelBase {
 public:
  ReduceKernel(const KernelInfo& info, ReduceFn reduce, int axes_input_since)
      : reduce_(reduce),
        keep_dims_(info.Int("keepdims", 1) != 0),
        noop_(info.Int("noop_with_empty_axes", 0) != 0),
        from_attribute_(info.since_version() < axes_input_since) {
    if (from_attribute_) axes_.Assign(info.Ints("axes"));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    Dims axes = axes_;
    if (!from_attribute_) {
      if (const Tensor* input = context.Input(1)) axes = ReadIntegers(*input, 1, "axes");
    }
    if (axes.rank() == 0 && noop_) return CopyElements(data, context.Output(0, data.dims()));
    Dims is_reduced;
    is_reduced.Resize(data.rank());
    std::fill_n(is_reduced.data(), data.rank(), axes.rank() == 0 ? 1 : 0);
    for (std::size_t i = 0; i < axes.rank(); ++i)
      is_reduced[static_cast<std::size_t>(NormalizeAxis(axes[i], data.rank()))] = 1;
    const ReducePlan plan = MakePlan(data.dims(), is_reduced, keep_dims_);
    reduce_(context, plan, data, context.Output(0, plan.out));
  }

 private:
  ReduceFn reduce_;
  bool keep_dims_;
  bool noop_;
  bool from_attribute_;
  Dims axes_;
};

template <class Op, class Types>
void Register(KernelRegistry& registry, const char* op_type, int until, int axes_input_since, Types types) {
  registry.RegisterKernelFn(
      Registration(op_type, 1, until, {{"T", SetOf(types)}}), [types, axes_input_since](const KernelInfo& info) {
        return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
          return std::make_unique<ReduceKernel>(info, Reduce<Op, typename decltype(tag)::type>, axes_input_since);
        });
      });
}

using SumTypes = TypeList<float, double, Float16, Bfloat16, int32_t, int64_t, uint32_t, uint64_t>;
using MaxTypes =
    TypeList<float, double, Float16, Bfloat16, int32_t, int64_t, uint32_t, uint64_t, int8_t, uint8_t, bool>;

}  // namespace

void RegisterReduce(KernelRegistry& registry) {
  Register<SumOp>(registry, "ReduceSum", 13, 13, SumTypes{});
  Register<MeanOp>(registry, "ReduceMean", 18, 18, SumTypes{});
  Register<MaxOp>(registry, "ReduceMax", 20, 18, MaxTypes{});
}

}  // namespace light
