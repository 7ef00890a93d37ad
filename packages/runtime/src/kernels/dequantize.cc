// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/quantization.h"
#include "kernels/scratch.h"
#include "kernels/small_types.h"

namespace light {
namespace {

using StoredTypes = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t>;
using RealTypes = TypeList<float, Float16, Bfloat16>;

// Differences and products in float, rounded once to the type of the output.
class DequantizeLinear final : public KernelBase {
 public:
  explicit DequantizeLinear(const KernelInfo& info)
      : axis_(info.Int("axis", 1)), block_size_(info.Int("block_size", 0)) {
    if (block_size_ < 0)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute block_size: must not be negative, got " + std::to_string(block_size_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "x");
    const Tensor& scale = Required(context, 1, "x_scale");
    const Tensor* zero = context.Input(2);
    const ScaleLayout layout(x, scale, "x_scale", zero, "x_zero_point", axis_, block_size_);
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    auto* factors = Scratch<float>(context, scale.element_count());
    for (int64_t i = 0; i < scale.element_count(); ++i) factors[i] = static_cast<float>(ElementAsDouble(scale, i));
    if (IsSmallType(x.type())) return DequantizeSmall(context, layout, x, factors, zero, y);
    WithType(StoredTypes{}, x.type(), [&](auto tag) {
      using Q = typename decltype(tag)::type;
      WithType(RealTypes{}, y.type(), [&](auto out_tag) {
        using Y = typename decltype(out_tag)::type;
        Dequantize(context, layout, x, factors, zero ? zero->Data<Q>() : nullptr, y.Data<Y>());
      });
    });
  }

 private:
  template <class Q, class Y>
  static void Dequantize(RuntimeContext& context, const ScaleLayout& layout, const Tensor& x, const float* scale,
                         const Q* zeros, Y* y) {
    using Wide = std::conditional_t<sizeof(Q) == 4, int64_t, int32_t>;
    const Q* from = x.Data<Q>();
    context.ParallelFor(x.element_count(), 0.5, [&](int64_t begin, int64_t end) {
      layout.ForEachLine(begin, end, [&](int64_t position, int64_t length, int64_t first, int64_t step) {
        const auto one = [&](int64_t i, Wide zero, float factor) {
          y[position + i] = Y(static_cast<float>(static_cast<Wide>(from[position + i]) - zero) * factor);
        };
        if (step == 0) {
          const Wide zero = zeros ? zeros[first] : 0;
          const float factor = scale[first];
          for (int64_t i = 0; i < length; ++i) one(i, zero, factor);
        } else {
          for (int64_t i = 0; i < length; ++i) one(i, zeros ? zeros[first + i] : 0, scale[first + i]);
        }
      });
    });
  }

  // Of numbers of at most 8 bits that no C++ type holds.
  static void DequantizeSmall(RuntimeContext& context, const ScaleLayout& layout, const Tensor& x, const float* scale,
                              const Tensor* zero, Tensor& y) {
    const SmallValues values(x.type());
    auto* codes = Scratch<uint8_t>(context, x.element_count());
    ReadCodes(x, 0, x.element_count(), codes);
    const int64_t zero_count = zero ? zero->element_count() : 0;
    auto* zeros = Scratch<uint8_t>(context, zero_count);
    if (zero) ReadCodes(*zero, 0, zero_count, zeros);
    WithType(RealTypes{}, y.type(), [&](auto tag) {
      using Y = typename decltype(tag)::type;
      Y* to = y.Data<Y>();
      context.ParallelFor(x.element_count(), 1, [&](int64_t begin, int64_t end) {
        layout.ForEachLine(begin, end, [&](int64_t position, int64_t length, int64_t first, int64_t step) {
          for (int64_t i = 0; i < length; ++i) {
            const int64_t index = first + i * step;
            const float value = values[codes[position + i]];
            to[position + i] = Y((zero ? value - values[zeros[index]] : value) * scale[index]);
          }
        });
      });
    });
  }

  int64_t axis_, block_size_;
};

}  // namespace

void RegisterDequantize(KernelRegistry& registry) {
  const TypeSet reals = SetOf(RealTypes{});
  TypeSet stored = SetOf(StoredTypes{});
  stored.tensors |= SmallTypes().tensors;
  registry.RegisterKernelFn(Registration("DequantizeLinear", 10, 28, {{"x", stored}, {"x_scale", reals}, {"y", reals}}),
                            MakeKernel<DequantizeLinear>);
}

}  // namespace light
