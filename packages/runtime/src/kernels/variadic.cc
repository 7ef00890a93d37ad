// SPDX-License-Identifier: Apache-2.0
// Max, Mean, Min, Sum.
#include <algorithm>
#include <cstring>

#include "conversions/checked_size.h"
#include "conversions/shape.h"
#include "kernels/binary.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/scalar.h"
#include "kernels/small_floats.h"

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

/// The loops of one operation and element type T, which combine in C = ComputeType<T>.
struct VariadicLoops {
  BinaryLoops first;  ///< of two inputs
  BinaryLoops next;   ///< of what is combined so far and one more input
  /// y = combined / divisor for `n` elements, where they may be one; nullptr: what is combined is the result.
  void (*finish)(const void* combined, void* y, int64_t n, std::size_t divisor) = nullptr;
  bool is_mean;

  bool needs_scratch() const noexcept { return first.y_size != first.b_size; }
};

template <class T>
void Finish(const void* combined, void* y, int64_t n, std::size_t divisor) {
  using C = ComputeType<T>;
  const auto* from = static_cast<const C*>(combined);
  auto* to = static_cast<T*>(y);
  if constexpr (kIsSmallFloat<T>) {
    const auto by = static_cast<float>(divisor);
    float block[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      const int64_t length = std::min(kFloatBlock, n - i);
      Simd().div_scalar(from + i, &by, block, static_cast<std::size_t>(length));
      NarrowElements(block, length, to + i);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i] / static_cast<C>(divisor);
  }
}

template <class Op, class T>
VariadicLoops VariadicLoopsOf() {
  using C = ComputeType<T>;
  constexpr bool kIsMean = std::is_same_v<Op, MeanOp>;
  return {LoopsFor<Op, T, T, C>(0.5), LoopsFor<Op, C, T, C>(0.5),
          kIsMean || !std::is_same_v<C, T> ? &Finish<T> : nullptr, kIsMean};
}

const Tensor& Input(RuntimeContext& context, std::size_t i) { return Required(context, i, "data_0"); }

/// The first of `n` elements of `size` bytes becomes all of them.
void Repeat(char* y, std::size_t size, int64_t n) {
  for (int64_t i = 1; i < n; ++i) std::memcpy(y + static_cast<std::size_t>(i) * size, y, size);
}

/// y = Op(a, b), where y has `extents` and may be a.
void Combine(RuntimeContext& context, const BinaryLoops& loops, const Dims& extents, const Dims& a_dims, const void* a,
             const Tensor& b, void* y) {
  const Dims* inputs[] = {&a_dims, &b.dims(), &extents};
  const BroadcastPlan plan(inputs);
  const BinaryLoops::Fn loop = !plan.advances(0)  ? loops.scalar_left
                               : plan.advances(1) ? loops.both
                                                  : loops.scalar_right;
  const char* left = static_cast<const char*>(a);
  const char* right = static_cast<const char*>(b.data());
  char* out = static_cast<char*>(y);
  context.ParallelFor(plan.total, loops.cost, [&](int64_t begin, int64_t end) {
    ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
      const char* from_left = left + static_cast<std::size_t>(offsets[0]) * loops.a_size;
      const char* from_right = right + static_cast<std::size_t>(offsets[1]) * loops.b_size;
      char* to = out + static_cast<std::size_t>(position) * loops.y_size;
      if (!plan.advances(0) && !plan.advances(1)) {  // a later input brings the extents
        loops.both(from_left, from_right, to, 1);
        Repeat(to, loops.y_size, length);
      } else {
        loop(from_left, from_right, to, length);
      }
    });
  });
}

/// Combines the first two inputs, and then the result with one input after the other. 16-bit floats are combined in
/// float, in scratch memory. Tiles are floats.
class VariadicKernel final : public ElementwiseKernel {
 public:
  VariadicKernel(const KernelInfo& info, const VariadicLoops& loops)
      : loops_(loops),
        broadcasts_(info.since_version() >= 8),
        is_float_(info.InputElement(0) == ElementType::kFloat),
        input_count_(info.input_count()) {}

  void Run(RuntimeContext& context) override {
    const Dims extents = Extents(context);
    Tensor& output = context.Output(0, extents);
    if (input_count_ == 1) {
      if (output.data() != Input(context, 0).data()) CopyElements(Input(context, 0), output);
      return;
    }
    char* y = static_cast<char*>(output.data());
    char* combined = y;
    if (loops_.needs_scratch()) {
      const auto bytes = conversions::CheckedByteSize(ElementType::kFloat, output.element_count());
      if (!bytes) FailArgument("output 0: must fit in memory as floats, got " + conversions::FormatExtents(extents));
      combined = static_cast<char*>(context.TemporaryBuffer(*bytes));
    }
    const Tensor& first = Input(context, 0);
    Combine(context, loops_.first, extents, first.dims(), first.data(), Input(context, 1), combined);
    for (std::size_t i = 2; i < input_count_; ++i)
      Combine(context, loops_.next, extents, extents, combined, Input(context, i), combined);
    if (loops_.finish == nullptr) return;
    context.ParallelFor(output.element_count(), 0.3, [&](int64_t begin, int64_t end) {
      const auto at = static_cast<std::size_t>(begin);
      loops_.finish(combined + at * loops_.first.y_size, y + at * loops_.first.a_size, end - begin, divisor());
    });
  }

  void MapTile(const TileOperand* operands, float* y, int64_t n) const override {
    CombineTile(operands[0], operands[1], y, n);
    for (std::size_t i = 2; i < input_count_; ++i) CombineTile({y, true}, operands[i], y, n);
    if (loops_.finish != nullptr) loops_.finish(y, y, n, divisor());
  }
  std::size_t tile_inputs() const noexcept override {
    return is_float_ && broadcasts_ && input_count_ > 1 ? input_count_ : 0;
  }
  double tile_cost() const noexcept override { return 0.4 * static_cast<double>(input_count_); }

 private:
  Dims Extents(RuntimeContext& context) const {
    Dims extents = Input(context, 0).dims();
    for (std::size_t i = 1; i < input_count_; ++i) {
      const Dims& dims = Input(context, i).dims();
      if (!broadcasts_ && !dims.Equals(extents))
        FailArgument(InputLabel(i, "data_0") + ": before version 8 the extents must be " +
                     conversions::FormatExtents(extents) + ", got " + conversions::FormatExtents(dims));
      WidenExtents(extents, dims, i);
    }
    return extents;
  }
  std::size_t divisor() const noexcept { return loops_.is_mean ? input_count_ : 1; }

  /// y = Op(a, b), where y may be a.
  void CombineTile(const TileOperand& a, const TileOperand& b, float* y, int64_t n) const {
    const BinaryLoops& loops = loops_.first;
    if (a.advances || b.advances)
      return (!a.advances ? loops.scalar_left : b.advances ? loops.both : loops.scalar_right)(a.data, b.data, y, n);
    loops.both(a.data, b.data, y, 1);  // a later input brings the extents
    std::fill_n(y + 1, n - 1, y[0]);
  }

  VariadicLoops loops_;
  bool broadcasts_;
  bool is_float_;
  std::size_t input_count_;
};

template <class Op, class Types>
void Register(KernelRegistry& registry, const char* op_type, Types types) {
  KernelRegistration registration = Registration(op_type, 1, 13, {{"T", SetOf(types)}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [types](const KernelInfo& info) {
    return WithType(types, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      return std::make_unique<VariadicKernel>(info, VariadicLoopsOf<Op, typename decltype(tag)::type>());
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
