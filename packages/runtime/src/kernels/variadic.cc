// SPDX-License-Identifier: Apache-2.0
// Max, Mean, Min, Sum.
#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "kernels/binary.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/scalar.h"

namespace light {
namespace {

struct MaxOp {
  static constexpr auto kBoth = &simd::SimdTable::max;
  static constexpr auto kScalarRight = &simd::SimdTable::max_scalar;
  static constexpr bool kCommutes = true;
  template <class T>
  static T Apply(T a, T b) {
    return Larger(a, b);
  }
};
struct MinOp {
  static constexpr auto kBoth = &simd::SimdTable::min;
  static constexpr auto kScalarRight = &simd::SimdTable::min_scalar;
  static constexpr bool kCommutes = true;
  template <class T>
  static T Apply(T a, T b) {
    return Smaller(a, b);
  }
};
struct SumOp {
  static constexpr auto kBoth = &simd::SimdTable::add;
  static constexpr auto kScalarRight = &simd::SimdTable::add_scalar;
  static constexpr bool kCommutes = true;
  template <class T>
  static T Apply(T a, T b) {
    return a + b;
  }
};
/// A sum that is divided in the end.
struct MeanOp : SumOp {};

/// Combines the first two inputs, and then the result with one input after the other. 16-bit floats are combined in
/// float, in scratch memory if that takes more than one step.
template <class Op, class T>
class VariadicKernel final : public std::conditional_t<std::is_same_v<T, float>, ElementwiseKernel, KernelBase> {
 public:
  explicit VariadicKernel(const KernelInfo& info)
      : broadcasts_(info.since_version() >= 8), input_count_(info.input_count()) {}

  void Run(RuntimeContext& context) override {
    const std::size_t count = context.input_count();
    Dims extents = Input(context, 0).dims();
    for (std::size_t i = 1; i < count; ++i) {
      const Dims& dims = Input(context, i).dims();
      if (!broadcasts_ && !dims.Equals(extents))
        FailArgument(InputLabel(i, "data_0") + ": before version 8 the extents must be " +
                     conversions::FormatExtents(extents) + ", got " + conversions::FormatExtents(dims));
      WidenExtents(extents, dims, i);
    }
    Tensor& output = context.Output(0, extents);
    T* y = output.Data<T>();
    const int64_t total = output.element_count();
    if (count == 1) {
      if (output.data() != Input(context, 0).data()) CopyElements(Input(context, 0), output);
      return;
    }
    if constexpr (std::is_same_v<C, T>) {
      CombineAll(context, extents, y);
      if constexpr (kIsMean)
        context.ParallelFor(total, 0.3, [&](int64_t begin, int64_t end) { Divide(y, y, begin, end, count); });
    } else {
      const auto bytes = conversions::CheckedByteSize(ElementType::kFloat, total);
      if (!bytes) FailArgument("output 0: must fit in memory as floats, got " + conversions::FormatExtents(extents));
      C* sum = static_cast<C*>(context.TemporaryBuffer(*bytes));
      CombineAll(context, extents, sum);
      context.ParallelFor(total, 1,
                          [&](int64_t begin, int64_t end) { Divide(sum, y, begin, end, kIsMean ? count : 1); });
    }
  }

  // ElementwiseKernel, where it is the base.
  void MapTile(const TileOperand* operands, float* y, int64_t n) const {
    if constexpr (std::is_same_v<T, float>) {
      CombineTile(operands[0], operands[1], y, n);
      for (std::size_t i = 2; i < input_count_; ++i) CombineTile({y, true}, operands[i], y, n);
      if constexpr (kIsMean) Divide(y, y, 0, n, input_count_);
    }
  }
  std::size_t tile_inputs() const noexcept { return broadcasts_ && input_count_ > 1 ? input_count_ : 0; }
  double tile_cost() const noexcept { return 0.4 * static_cast<double>(input_count_); }

 private:
  using C = ComputeType<T>;
  static constexpr bool kIsMean = std::is_same_v<Op, MeanOp>;

  static const Tensor& Input(RuntimeContext& context, std::size_t i) { return Required(context, i, "data_0"); }

  static void Divide(const C* sum, T* y, int64_t begin, int64_t end, std::size_t count) {
    const C divisor = static_cast<C>(count);
    for (int64_t i = begin; i < end; ++i) y[i] = T(sum[i] / divisor);
  }

  static void CombineAll(RuntimeContext& context, const Dims& extents, C* y) {
    const Tensor& first = Input(context, 0);
    Combine(context, extents, first.dims(), first.Data<T>(), Input(context, 1), y);
    for (std::size_t i = 2; i < context.input_count(); ++i)
      Combine(context, extents, extents, static_cast<const C*>(y), Input(context, i), y);
  }

  /// y = Op(a, b), where y has `extents` and may be a.
  template <class A>
  static void Combine(RuntimeContext& context, const Dims& extents, const Dims& a_dims, const A* a, const Tensor& b,
                      C* y) {
    const Dims* inputs[] = {&a_dims, &b.dims(), &extents};
    const BroadcastPlan plan(inputs);
    const BinaryLoops loops = LoopsFor<Op, A, T, C>(std::is_same_v<C, T> ? 0.5 : 2);
    const BinaryLoops::Fn loop = !plan.advances(0)  ? loops.scalar_left
                                 : plan.advances(1) ? loops.both
                                                    : loops.scalar_right;
    const T* right = b.Data<T>();
    context.ParallelFor(plan.total, loops.cost, [&](int64_t begin, int64_t end) {
      ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
        if (!plan.advances(0) && !plan.advances(1)) {  // a later input brings the extents
          loops.both(a + offsets[0], right + offsets[1], y + position, 1);
          std::fill_n(y + position + 1, length - 1, y[position]);
        } else {
          loop(a + offsets[0], right + offsets[1], y + position, length);
        }
      });
    });
  }

  /// y = Op(a, b), where y may be a.
  static void CombineTile(const TileOperand& a, const TileOperand& b, float* y, int64_t n) {
    const BinaryLoops loops = LoopsFor<Op, float, float, float>(0);
    if (a.advances || b.advances)
      return (!a.advances ? loops.scalar_left : b.advances ? loops.both : loops.scalar_right)(a.data, b.data, y, n);
    loops.both(a.data, b.data, y, 1);  // a later input brings the extents
    std::fill_n(y + 1, n - 1, y[0]);
  }

  bool broadcasts_;
  std::size_t input_count_;
};

template <class Op, class Types>
void Register(KernelRegistry& registry, const char* op_type, Types types) {
  KernelRegistration registration = Registration(op_type, 1, 13, {{"T", SetOf(types)}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [types](const KernelInfo& info) {
    return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      return std::make_unique<VariadicKernel<Op, typename decltype(tag)::type>>(info);
    });
  });
}

}  // namespace

void RegisterVariadic(KernelRegistry& registry) {
  Register<MaxOp>(registry, "Max", NumberTypes{});
  Register<MeanOp>(registry, "Mean", FloatTypes{});
  Register<MinOp>(registry, "Min", NumberTypes{});
  Register<SumOp>(registry, "Sum", FloatTypes{});
}

}  // namespace light
