// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/binary.h"
#include "kernels/families.h"

namespace light {
namespace {

// The quotient is truncated: the result has the sign of the dividend.
struct TruncatedModOp {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) FailArgument("input 1 (B): an integer cannot be divided by zero, got 0");
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;  // the processor would trap for the lowest value
      }
      return static_cast<T>(a % b);
    }
  }
};

// The quotient is rounded down: the result has the sign of the divisor.
struct FloorModOp {
  template <class T>
  static T Apply(T a, T b) {
    const T rest = TruncatedModOp::Apply(a, b);
    if constexpr (std::is_floating_point_v<T>) {
      if (rest == 0) return std::copysign(rest, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    } else if constexpr (std::is_signed_v<T>) {
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    } else {
      return rest;
    }
  }
};

std::unique_ptr<KernelBase> MakeMod(const KernelInfo& info) {
  const int64_t fmod = info.Int("fmod", 0);
  if (fmod != 0 && fmod != 1)
    info.Fail(ErrorCode::kInvalidGraph, "attribute 'fmod' must be 0 or 1, got " + std::to_string(fmod));
  const ElementType type = info.InputElement(0);
  const bool integral =
      WithType(NumberTypes{}, type, [](auto tag) { return std::is_integral_v<typename decltype(tag)::type>; });
  if (fmod == 0 && !integral && info.since_version() < 28)
    info.Fail(
        ErrorCode::kInvalidGraph,
        std::string("attribute 'fmod' must be 1 for floats before version 28, got 0 for ") + conversions::Name(type));
  return fmod ? MakeBinaryKernel<TruncatedModOp>(info, NumberTypes{}, 8)
              : MakeBinaryKernel<FloorModOp>(info, NumberTypes{}, 8);
}

}  // namespace

void RegisterMod(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Mod", 10, 28, {{"T", SetOf(NumberTypes{})}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registry.RegisterKernelFn(registration, MakeMod);
}

}  // namespace light
