// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike from and to numbers of at most 8 bits that no C++ type holds.
#include <memory>
#include <optional>

#include "kernels/arguments.h"
#include "kernels/casts.h"
#include "kernels/element.h"
#include "kernels/odd_rounding.h"
#include "kernels/small_types.h"

namespace light {
namespace {

constexpr int64_t kBlock = 256;

class SmallCast final : public KernelBase {
 public:
  explicit SmallCast(const KernelInfo& info) {
    SmallRounding rounding;
    rounding.saturate = info.Int("saturate", 1) != 0;
    const std::string mode = info.String("round_mode", "up");
    if (mode != "up" && mode != "down" && mode != "nearest")
      info.Fail(ErrorCode::kInvalidGraph, "attribute round_mode: must be up, down or nearest, got " + mode);
    rounding.mode = mode == "up"     ? SmallRounding::Mode::kUp
                    : mode == "down" ? SmallRounding::Mode::kDown
                                     : SmallRounding::Mode::kNearest;
    const ElementType from = info.InputElement(0), to = info.OutputElement(0);
    if (IsSmallType(from)) values_ = std::make_unique<SmallValues>(from);
    if (IsSmallType(to)) encoder_.emplace(to, rounding);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    Tensor& y = context.Output(0, x.dims());
    const int64_t count = x.element_count();
    context.ParallelFor((count + kBlock - 1) / kBlock, 5. * kBlock, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * kBlock, n = std::min(kBlock, count - first);
        if (values_)
          FromCodes(x, first, n, y);
        else
          WithType(NumberAndBoolTypes{}, x.type(),
                   [&](auto tag) { ToCodes(x.Data<typename decltype(tag)::type>() + first, first, n, y); });
      }
    });
  }

 private:
  void FromCodes(const Tensor& x, int64_t first, int64_t n, Tensor& y) const {
    uint8_t codes[kBlock];
    ReadCodes(x, first, n, codes);
    if (encoder_) {
      for (int64_t i = 0; i < n; ++i) codes[i] = (*encoder_)(static_cast<double>((*values_)[codes[i]]));
      return WriteCodes(codes, first, n, y);
    }
    WithType(NumberAndBoolTypes{}, y.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < n; ++i) {
        const float value = (*values_)[codes[i]];
        T& to = y.Data<T>()[first + i];
        if constexpr (std::is_same_v<T, bool>)
          to = value != 0;
        else if constexpr (std::is_unsigned_v<T>)  // of a negative number the low bits
          to = value < 0 ? static_cast<T>(SaturatingCast<int64_t>(value)) : SaturatingCast<T>(value);
        else if constexpr (std::is_integral_v<T>)
          to = SaturatingCast<T>(value);
        else
          to = T(value);
      }
    });
  }

  template <class T>
  void ToCodes(const T* from, int64_t first, int64_t n, Tensor& y) const {
    uint8_t codes[kBlock];
    if constexpr (std::is_integral_v<T>) {
      if (IsSmallInteger(y.type())) {  // the low bits of an integer
        for (int64_t i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(from[i]);
        return WriteCodes(codes, first, n, y);
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>)
        codes[i] = (*encoder_)(OddDouble(from[i]));
      else
        codes[i] = (*encoder_)(static_cast<double>(static_cast<ComputeType<T>>(from[i])));
    }
    WriteCodes(codes, first, n, y);
  }

  std::unique_ptr<SmallValues> values_;  // of the input, if it is of such numbers
  std::optional<SmallEncoder> encoder_;  // of the output, if it is
};

}  // namespace

void RegisterSmallCast(KernelRegistry& registry) {
  const TypeSet numbers = SetOf(NumberAndBoolTypes{}), small = SmallTypes();
  TypeSet all = numbers;
  all.tensors |= small.tensors;
  // Two registrations, so that neither takes what has no such numbers at all.
  const std::vector<TypeConstraint> from{{"T1", small}, {"T2", all}}, to{{"T1", numbers}, {"T2", small}};
  for (const auto& constraints : {from, to}) {
    registry.RegisterKernelFn(Registration("Cast", 19, 28, constraints), MakeKernel<SmallCast>);
    registry.RegisterKernelFn(Registration("CastLike", 19, 25, constraints), MakeKernel<SmallCast>);
  }
}

}  // namespace light
