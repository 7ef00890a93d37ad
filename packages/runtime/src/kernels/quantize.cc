// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear and QuantizeLinear.
#include <cmath>
#include <limits>

#include "kernels/families.h"
#include "kernels/quantization.h"
#include "kernels/scratch.h"
#include "kernels/small_types.h"

namespace light {
namespace {

using SourceTypes = TypeList<float, Float16, Bfloat16, int32_t>;
using PrecisionTypes = TypeList<float, Float16, Bfloat16, double>;

/// What a number of type P is held in.
template <class P>
using Held = std::conditional_t<std::is_same_v<P, double>, double, float>;

template <class P, class T>
Held<P> RoundTo(T value) {
  if constexpr (kIsSmallFloat<P>) {
    return static_cast<float>(P(static_cast<float>(value)));
  } else {
    return static_cast<P>(static_cast<ComputeType<T>>(value));
  }
}

/// x / scale, both rounded to the precision P first, and the quotient too.
template <class P, class T>
void Divide(const T* x, int64_t n, const Held<P>* scale, int64_t step, Held<P>* quotients) {
  for (int64_t i = 0; i < n; ++i) quotients[i] = RoundTo<P>(RoundTo<P>(x[i]) / scale[i * step]);
}

/// Divides the elements from `at` on.
template <class H>
using DivideFn = void (*)(const void* x, int64_t at, int64_t n, const H* scale, int64_t step, H* quotients);

template <class P>
DivideFn<Held<P>> FindDivide(ElementType type) {
  DivideFn<Held<P>> found = nullptr;
  WithType(SourceTypes{}, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    found = [](const void* x, int64_t at, int64_t n, const Held<P>* scale, int64_t step, Held<P>* quotients) {
      Divide<P>(static_cast<const T*>(x) + at, n, scale, step, quotients);
    };
  });
  return found;
}

/// What is quantized, by what.
template <class H>
struct Dividend {
  const Tensor& x;
  const H* scale;
  DivideFn<H> divide;
  bool is_plain;  ///< float32, divided in float32
};

class QuantizeLinear final : public KernelBase {
 public:
  explicit QuantizeLinear(const KernelInfo& info)
      : axis_(info.Int("axis", 1)), block_size_(info.Int("block_size", 0)), precision_(Precision(info)) {
    rounding_.saturate = info.Int("saturate", 1) != 0;
    rounding_.clamp_integers = true;
    if (block_size_ < 0)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute block_size: must not be negative, got " + std::to_string(block_size_));
  }

  static std::string Declines(const KernelInfo& info) {
    switch (Precision(info)) {
      case ElementType::kFloat:
      case ElementType::kFloat16:
      case ElementType::kBfloat16:
      case ElementType::kDouble:
        return "";
      default:
        return std::string("a division in ") + conversions::Name(Precision(info)) + " is not supported";
    }
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "x");
    const Tensor& scale = Required(context, 1, "y_scale");
    const Tensor* zero = context.Input(2);
    const ScaleLayout layout(x, scale, "y_scale", zero, "y_zero_point", axis_, block_size_);
    Tensor& y = context.Output(0, x.dims());
    if (y.element_count() == 0) return;
    WithType(PrecisionTypes{}, precision_, [&](auto tag) {
      using P = typename decltype(tag)::type;
      auto* divisors = Scratch<Held<P>>(context, scale.element_count());
      WithType(SourceTypes{}, scale.type(), [&](auto scale_tag) {
        using S = typename decltype(scale_tag)::type;
        for (int64_t i = 0; i < scale.element_count(); ++i) divisors[i] = RoundTo<P>(scale.Data<S>()[i]);
      });
      const Dividend<Held<P>> dividend = {x, divisors, FindDivide<P>(x.type()),
                                          std::is_same_v<P, float> && x.type() == ElementType::kFloat};
      if (IsSmallType(y.type())) return QuantizeSmall(context, layout, dividend, zero, y);
      WithType(QuantizedTypes{}, y.type(), [&](auto out_tag) {
        Quantize(context, layout, dividend, zero, y.Data<typename decltype(out_tag)::type>());
      });
    });
  }

 private:
  // That of the scale unless the attribute says otherwise. Integers divide exactly.
  static ElementType Precision(const KernelInfo& info) {
    const int64_t asked = info.Int("precision", 0);
    if (asked != 0) return static_cast<ElementType>(asked);
    return info.InputElement(1) == ElementType::kInt32 ? ElementType::kDouble : info.InputElement(1);
  }

  static constexpr int64_t kBlock = 256;

  template <class H, class Q>
  static void Quantize(RuntimeContext& context, const ScaleLayout& layout, const Dividend<H>& dividend,
                       const Tensor* zero, Q* y) {
    const Q* zeros = zero ? zero->Data<Q>() : nullptr;
    context.ParallelFor(dividend.x.element_count(), 1, [&](int64_t begin, int64_t end) {
      H quotients[kBlock];
      layout.ForEachLine(begin, end, [&](int64_t position, int64_t length, int64_t first, int64_t step) {
        if constexpr (std::is_same_v<H, float> && sizeof(Q) == 1) {
          if (step == 0 && dividend.is_plain) {
            const simd::QuantizedRange range = {std::numeric_limits<Q>::min(), std::numeric_limits<Q>::max(),
                                                zeros ? zeros[first] : 0};
            return Simd().quantize(dividend.x.template Data<float>() + position, dividend.scale[first], &range,
                                   reinterpret_cast<uint8_t*>(y + position), static_cast<std::size_t>(length));
          }
        }
        for (int64_t at = 0; at < length; at += kBlock) {
          const int64_t n = std::min(kBlock, length - at), index = first + at * step;
          dividend.divide(dividend.x.data(), position + at, n, dividend.scale + index, step, quotients);
          Q* to = y + position + at;
          if (step == 0) {
            const int32_t offset = zeros ? zeros[index] : 0;
            for (int64_t i = 0; i < n; ++i) to[i] = RoundToQuantized<Q>(quotients[i], offset);
          } else {
            for (int64_t i = 0; i < n; ++i) to[i] = RoundToQuantized<Q>(quotients[i], zeros ? zeros[index + i] : 0);
          }
        }
      });
    });
  }

  // To numbers of at most 8 bits that no C++ type holds: integers rounded half to even, floats as Cast rounds them.
  template <class H>
  void QuantizeSmall(RuntimeContext& context, const ScaleLayout& layout, const Dividend<H>& dividend,
                     const Tensor* zero, Tensor& y) const {
    const SmallEncoder encode(y.type(), rounding_);
    const bool is_integer = IsSmallInteger(y.type());
    const int64_t count = y.element_count(), zero_count = zero ? zero->element_count() : 0;
    auto* codes = Scratch<uint8_t>(context, std::max(count, zero_count));
    auto* zeros = Scratch<float>(context, zero_count);
    if (zero) {
      const SmallValues values(y.type());
      ReadCodes(*zero, 0, zero_count, codes);
      for (int64_t i = 0; i < zero_count; ++i) zeros[i] = values[codes[i]];
    }
    context.ParallelFor(count, 6, [&](int64_t begin, int64_t end) {
      H quotients[kBlock];
      layout.ForEachLine(begin, end, [&](int64_t position, int64_t length, int64_t first, int64_t step) {
        for (int64_t at = 0; at < length; at += kBlock) {
          const int64_t n = std::min(kBlock, length - at), index = first + at * step;
          dividend.divide(dividend.x.data(), position + at, n, dividend.scale + index, step, quotients);
          for (int64_t i = 0; i < n; ++i) {
            double value = static_cast<double>(quotients[i]);
            if (is_integer) value = value == value ? std::nearbyint(value) : -std::numeric_limits<double>::infinity();
            if (zero) value += static_cast<double>(zeros[index + i * step]);
            codes[position + at + i] = encode(value);
          }
        }
      });
    });
    WriteCodes(codes, 0, count, y);
  }

  int64_t axis_, block_size_;
  ElementType precision_;
  SmallRounding rounding_;
};

class DynamicQuantizeLinear final : public KernelBase {
 public:
  explicit DynamicQuantizeLinear(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "x");
    Tensor& y = context.Output(0, x.dims());
    auto [low, high] = Range(context, x.Span<float>());
    // Without a range every scale maps 0 to 0; 1 divides.
    const float scale = low == high ? 1 : (high - low) / 255;
    const uint8_t zero = RoundToQuantized<uint8_t>(-low / scale, 0);
    const simd::QuantizedRange range = {0, 255, zero};
    context.ParallelFor(x.element_count(), 0.4, [&](int64_t begin, int64_t end) {
      Simd().quantize(x.Data<float>() + begin, scale, &range, y.Data<uint8_t>() + begin,
                      static_cast<std::size_t>(end - begin));
    });
    context.Output(1, {}).Data<float>()[0] = scale;
    context.Output(2, {}).Data<uint8_t>()[0] = zero;
  }

 private:
  /// The smallest and the largest number and 0; NaN are none.
  static std::pair<float, float> Range(RuntimeContext& context, std::span<const float> x) {
    constexpr int64_t kBlock = 4096;
    const auto n = static_cast<int64_t>(x.size()), blocks = (n + kBlock - 1) / kBlock;
    auto* extremes = Scratch<float>(context, 2 * blocks);
    context.ParallelFor(blocks, 0.1 * kBlock, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const auto part = x.subspan(static_cast<std::size_t>(block * kBlock),
                                    static_cast<std::size_t>(std::min(kBlock, n - block * kBlock)));
        float low = Simd().reduce_min(part.data(), part.size()), high = Simd().reduce_max(part.data(), part.size());
        if (low != low) {
          low = high = 0;
          for (const float value : part) {
            low = std::min(low, value);
            high = std::max(high, value);
          }
        }
        extremes[2 * block] = low;
        extremes[2 * block + 1] = high;
      }
    });
    float low = 0, high = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      low = std::min(low, extremes[2 * block]);
      high = std::max(high, extremes[2 * block + 1]);
    }
    return {low, high};
  }
};

}  // namespace

void RegisterQuantize(KernelRegistry& registry) {
  const TypeSet source = SetOf(SourceTypes{});
  TypeSet quantized = SetOf(QuantizedTypes{});
  quantized.tensors |= SmallTypes().tensors;
  KernelRegistration quantize =
      Registration("QuantizeLinear", 10, 28, {{"x", source}, {"y_scale", source}, {"y", quantized}});
  quantize.declines = QuantizeLinear::Declines;
  registry.RegisterKernelFn(quantize, MakeKernel<QuantizeLinear>);
  registry.RegisterKernelFn(Registration("DynamicQuantizeLinear", 11, 11, {}), MakeKernel<DynamicQuantizeLinear>);
}

}  // namespace light
