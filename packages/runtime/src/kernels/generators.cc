// SPDX-License-Identifier: Apache-2.0
// Operators that make a tensor from a few numbers: ConstantOfShape, EyeLike, Range.
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/moved.h"

namespace light {
namespace {

class ConstantOfShape final : public KernelBase {
 public:
  explicit ConstantOfShape(const KernelInfo& info) {
    if (const Tensor* value = info.TensorAttribute("value")) {
      if (value->element_count() != 1)
        info.Fail(ErrorCode::kInvalidGraph, "attribute value: must have one element, got " + Describe(*value));
      value_ = *value;
    } else {
      value_ = Tensor::Allocate(ElementType::kFloat, {});
      *value_.Data<float>() = 0;
    }
  }

  void Run(RuntimeContext& context) override {
    const Dims dims = ReadIntegers(Required(context, 0, "input"), 0, "input");
    for (std::size_t d = 0; d < dims.rank(); ++d)
      if (dims[d] < 0)
        FailArgument(InputLabel(0, "input") + ": extents must not be negative, got " +
                     conversions::FormatExtents(dims));
    Tensor& out = context.Output(0, dims);
    WithMoved(value_.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T value = *value_.Data<T>();
      T* to = out.Data<T>();
      context.ParallelFor(out.element_count(), kMoveCost<T>,
                          [&](int64_t begin, int64_t end) { FillRun(to + begin, end - begin, value); });
    });
  }

 private:
  Tensor value_;
};

class EyeLike final : public KernelBase {
 public:
  explicit EyeLike(const KernelInfo& info) : diagonal_(info.Int("k", 0)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& input = Required(context, 0, "input");
    if (input.rank() != 2) FailArgument(InputLabel(0, "input") + ": must have rank 2, got " + Describe(input));
    const int64_t rows = input.dim(0), columns = input.dim(1);
    Tensor& out = context.Output(0, input.dims());
    WithType(NumberAndBoolTypes{}, out.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = out.Data<T>();
      std::fill_n(to, out.element_count(), T(0));
      const int64_t k = std::clamp(diagonal_, -rows, columns);
      for (int64_t row = std::max<int64_t>(0, -k); row < std::min(rows, columns - k); ++row)
        to[row * columns + row + k] = T(1);
    });
  }

 private:
  int64_t diagonal_;
};

template <class T>
int64_t RangeLength(T start, T limit, T delta) {
  if constexpr (std::is_integral_v<T>) {
    // Unsigned: the ends may be farther apart than int64 goes.
    const auto a = static_cast<uint64_t>(int64_t{start}), b = static_cast<uint64_t>(int64_t{limit});
    const auto step = static_cast<uint64_t>(int64_t{delta});
    if (delta > 0 ? limit <= start : limit >= start) return 0;
    const uint64_t length = delta > 0 ? (b - a - 1) / step + 1 : (a - b - 1) / (0 - step) + 1;
    return length <= INT64_MAX ? static_cast<int64_t>(length) : -1;
  } else {
    const double length = std::ceil((double{limit} - double{start}) / double{delta});
    return length <= 0 ? 0 : length < 0x1p53 ? static_cast<int64_t>(length) : -1;
  }
}

class RangeKernel final : public KernelBase {
 public:
  explicit RangeKernel(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor* inputs[] = {&Required(context, 0, "start"), &Required(context, 1, "limit"),
                              &Required(context, 2, "delta")};
    constexpr const char* kNames[] = {"start", "limit", "delta"};
    for (std::size_t i = 0; i < 3; ++i)
      if (inputs[i]->element_count() != 1)
        FailArgument(InputLabel(i, kNames[i]) + ": must have one element, got " + Describe(*inputs[i]));
    WithType(TypeList<float, double, Float16, Bfloat16, int16_t, int32_t, int64_t>{}, inputs[0]->type(),
             [&](auto tag) { Fill<typename decltype(tag)::type>(context, inputs); });
  }

 private:
  template <class T>
  static void Fill(RuntimeContext& context, const Tensor* const* inputs) {
    using C = ComputeType<T>;
    const C start(*inputs[0]->Data<T>()), limit(*inputs[1]->Data<T>()), delta(*inputs[2]->Data<T>());
    if (delta == 0) FailArgument(InputLabel(2, "delta") + ": must not be 0, got 0");
    const int64_t length[] = {RangeLength(start, limit, delta)};
    if (length[0] < 0)
      FailArgument("start, limit and delta: must give a number of elements that fits in memory, got " +
                   std::to_string(start) + ", " + std::to_string(limit) + ", " + std::to_string(delta));
    T* to = context.Output(0, length).template Data<T>();
    // Each element from its index, so that errors do not add up; integers wrap.
    using Wide = std::conditional_t<std::is_integral_v<C>, uint64_t, double>;
    const auto first = static_cast<Wide>(start), step = static_cast<Wide>(delta);
    context.ParallelFor(length[0], 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = T(static_cast<C>(first + static_cast<Wide>(i) * step));
    });
  }
};

std::string DeclinesRange(const KernelInfo& info) {
  const int64_t stash = info.Int("stash_type", 1);
  return stash == 1 ? "" : "stash_type other than 1 (float), got " + std::to_string(stash);
}

}  // namespace

void RegisterGenerators(KernelRegistry& registry) {
  const TypeSet numbers = SetOf(NumberAndBoolTypes{});
  registry.RegisterKernelFn(Registration("ConstantOfShape", 9, 25, {{"T2", WholeByteTensors()}}),
                            MakeKernel<ConstantOfShape>);
  registry.RegisterKernelFn(Registration("EyeLike", 9, 22, {{"T2", numbers}}), MakeKernel<EyeLike>);
  KernelRegistration range = Registration("Range", 11, 27, {});
  range.declines = DeclinesRange;
  registry.RegisterKernelFn(range, MakeKernel<RangeKernel>);
}

}  // namespace light
