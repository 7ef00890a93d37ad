// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/binary.h"
#include "kernels/families.h"
#include "kernels/scalar.h"

namespace light {
namespace {

// Integer base and exponent: exact, wrapping. A negative exponent gives what is left of the fraction.
template <class T>
T IntegerPower(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 ? -1 : 1;
    return 0;
  }
  auto factor = static_cast<std::make_unsigned_t<T>>(base);
  std::make_unsigned_t<T> result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

struct PowOp {
  template <class A, class B>
  static A Apply(A base, B exponent) {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
      if constexpr (std::is_same_v<B, uint64_t>) {
        // Beyond int64 only the parity and the base's being 0 or +-1 matter, up to wrapping; halve and square.
        if (exponent > static_cast<uint64_t>(INT64_MAX))
          return static_cast<A>(IntegerPower<A>(IntegerPower<A>(base, static_cast<int64_t>(exponent >> 1)), 2) *
                                (exponent & 1 ? base : A{1}));
      }
      return IntegerPower<A>(base, static_cast<int64_t>(exponent));
    } else if constexpr (std::is_same_v<A, float> && !std::is_same_v<B, double>) {
      const auto e = static_cast<float>(exponent);
      if (e == 2.f) return base * base;
      if (e == 3.f) return base * base * base;
      if (e == 0.5f && base > 0.f) return std::sqrt(base);  // the root of -0 is -0, this power of it is 0
      return std::pow(base, e);
    } else {
      const double power = std::pow(static_cast<double>(base), static_cast<double>(exponent));
      if constexpr (std::is_integral_v<A>)
        return SaturatingCast<A>(power);
      else
        return static_cast<A>(power);
    }
  }
};

/// Of one exponent for all, whole powers by products.
void ScalarPowers(const void* base, const void* exponent, void* y, int64_t n) {
  const auto* x = static_cast<const float*>(base);
  const float e = *static_cast<const float*>(exponent);
  auto* to = static_cast<float*>(y);
  if (e != 2.f && e != 3.f) return GenericLoops<PowOp, float, float, float>::ScalarRight(base, exponent, y, n);
  constexpr int64_t kBlock = 512;
  float squares[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const auto length = static_cast<std::size_t>(std::min(kBlock, n - i));
    if (e == 2.f) {
      Simd().mul(x + i, x + i, to + i, length);
    } else {
      Simd().mul(x + i, x + i, squares, length);
      Simd().mul(squares, x + i, to + i, length);
    }
  }
}

using BaseTypes = TypeList<float, double, Float16, Bfloat16, int32_t, int64_t>;

}  // namespace

void RegisterPow(KernelRegistry& registry) {
  KernelRegistration registration =
      Registration("Pow", 1, 15, {{"T", SetOf(BaseTypes{})}, {"T1", SetOf(NumberTypes{})}});
  registration.may_inplace = {{0, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) {
    return WithType(BaseTypes{}, info.InputElement(0), [&](auto base) {
      return WithType(NumberTypes{}, info.InputElement(1), [&](auto exponent) -> std::unique_ptr<KernelBase> {
        using A = typename decltype(base)::type;
        using B = typename decltype(exponent)::type;
        BinaryLoops loops = LoopsFor<PowOp, A, B, A>(15);
        if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float>)
          loops.scalar_right = ScalarPowers;
        else if constexpr (std::is_same_v<ComputeType<A>, float> && std::is_same_v<ComputeType<B>, float>)
          loops.scalar_right = BlockLoop<ScalarPowers, A, B, A, true, false>;
        return std::make_unique<BinaryKernel>(info, loops);
      });
    });
  });
}

}  // namespace light
