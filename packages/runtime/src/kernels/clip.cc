// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/families.h"
#include "kernels/scalar.h"
#include "kernels/unary.h"

namespace light {
namespace {

// The finite limits of T, as numbers of what T is computed in.
template <class T>
std::pair<ComputeType<T>, ComputeType<T>> Limits() {
  if constexpr (std::is_same_v<T, Float16>) {
    return {-65504.f, 65504.f};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return {-0x1.fep127f, 0x1.fep127f};
  } else {
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  }
}

/// The smaller of max and of the larger of min and the element: where min is above max, max.
template <class T>
class Clip final : public std::conditional_t<std::is_same_v<T, float>, ElementwiseKernel, KernelBase> {
 public:
  explicit Clip(const KernelInfo& info) : from_inputs_(info.since_version() >= 11), input_count_(info.input_count()) {
    std::tie(low_, high_) = Limits<T>();
    if (from_inputs_) return;
    if constexpr (std::is_same_v<C, float> || std::is_same_v<C, double>) {
      if (info.HasAttribute("min")) low_ = static_cast<C>(info.Float("min", 0));
      if (info.HasAttribute("max")) high_ = static_cast<C>(info.Float("max", 0));
    }
  }

  void Run(RuntimeContext& context) override {
    const Tensor& input = Required(context, 0, "input");
    const C low = from_inputs_ ? Bound(context, 1, "min", low_) : low_;
    const C high = from_inputs_ ? Bound(context, 2, "max", high_) : high_;
    const T* x = input.Data<T>();
    T* y = context.Output(0, input.dims()).template Data<T>();
    context.ParallelFor(input.element_count(), 0.4, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) {
        Map(x + begin, low, high, y + begin, end - begin);
      } else if constexpr (kIsSmallFloat<T>) {
        MapFloatBlocks(x + begin, y + begin, end - begin,
                       [&](float* block, std::size_t n) { Map(block, low, high, block, static_cast<int64_t>(n)); });
      } else {
        for (int64_t i = begin; i < end; ++i) y[i] = Smaller(Larger(x[i], low), high);
      }
    });
  }

  // ElementwiseKernel, where it is the base. The bounds are scalars.
  void MapTile(const TileOperand* operands, float* y, int64_t n) const {
    const auto bound = [&](std::size_t i, float fallback) {
      return from_inputs_ && i < input_count_ && operands[i].data ? *operands[i].data : fallback;
    };
    if constexpr (std::is_same_v<T, float>) Map(operands[0].data, bound(1, low_), bound(2, high_), y, n);
  }
  std::size_t tile_inputs() const noexcept { return 1; }
  double tile_cost() const noexcept { return 0.4; }

 private:
  using C = ComputeType<T>;

  static void Map(const float* x, float low, float high, float* y, int64_t count) {
    for (int64_t i = 0; i < count; i += kFloatBlock) {
      const auto n = static_cast<std::size_t>(std::min(kFloatBlock, count - i));
      Simd().max_scalar(x + i, &low, y + i, n);
      Simd().min_scalar(y + i, &high, y + i, n);
    }
  }

  static C Bound(RuntimeContext& context, std::size_t i, std::string_view name, C fallback) {
    const Tensor* bound = context.Input(i);
    if (!bound) return fallback;
    // Exporters write vectors of one element, too.
    if (bound->rank() > 1 || bound->element_count() != 1)
      FailArgument(InputLabel(i, name) + ": must be a scalar, got " + Describe(*bound));
    return static_cast<C>(*bound->Data<T>());
  }

  bool from_inputs_;
  std::size_t input_count_;
  C low_;
  C high_;
};

}  // namespace

void RegisterClip(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Clip", 1, 13, {{"T", SetOf(NumberTypes{})}});
  registration.may_inplace = {{0, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) {
    return WithType(NumberTypes{}, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      return std::make_unique<Clip<typename decltype(tag)::type>>(info);
    });
  });
}

}  // namespace light
