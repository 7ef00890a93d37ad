// SPDX-License-Identifier: Apache-2.0
// Add, Div, Mul, Sub.
#include "kernels/binary.h"
#include "kernels/families.h"
#include "kernels/scalar.h"

namespace light {
namespace {

using simd::SimdTable;

struct AddOp {
  static constexpr bool kCommutes = true;
  static constexpr auto kBoth = &SimdTable::add;
  static constexpr auto kScalarRight = &SimdTable::add_scalar;
  template <class T>
  static T Apply(T a, T b) {
    return WrappingAdd(a, b);
  }
};
struct SubOp {
  static constexpr auto kBoth = &SimdTable::sub;
  static constexpr auto kScalarRight = &SimdTable::sub_scalar;
  static constexpr auto kScalarLeft = &SimdTable::scalar_sub;
  template <class T>
  static T Apply(T a, T b) {
    return WrappingSubtract(a, b);
  }
};
struct MulOp {
  static constexpr bool kCommutes = true;
  static constexpr auto kBoth = &SimdTable::mul;
  static constexpr auto kScalarRight = &SimdTable::mul_scalar;
  template <class T>
  static T Apply(T a, T b) {
    return WrappingMultiply(a, b);
  }
};
struct DivOp {
  static constexpr auto kBoth = &SimdTable::div;
  static constexpr auto kScalarRight = &SimdTable::div_scalar;
  static constexpr auto kScalarLeft = &SimdTable::scalar_div;
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) FailArgument("input 1 (B): an integer cannot be divided by zero");
      if constexpr (std::is_signed_v<T>) {
        // The lowest value by -1 wraps; the processor would trap.
        if (b == -1) return WrappingSubtract(T{0}, a);
      }
      return static_cast<T>(a / b);
    }
  }
};

template <class Op>
void Register(KernelRegistry& registry, const char* op_type) {
  KernelRegistration registration = Registration(op_type, 1, 14, {{"T", SetOf(NumberTypes{})}});
  registration.may_inplace = {{0, 0}, {1, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) {
    return WithType(NumberTypes{}, info.InputElement(0), [&](auto tag) -> std::unique_ptr<KernelBase> {
      using T = typename decltype(tag)::type;
      return std::make_unique<BinaryKernel>(info, LoopsFor<Op, T, T, T>(std::is_same_v<Op, DivOp> ? 3 : 0.5));
    });
  });
}

}  // namespace

void RegisterArithmetic(KernelRegistry& registry) {
  Register<AddOp>(registry, "Add");
  Register<SubOp>(registry, "Sub");
  Register<MulOp>(registry, "Mul");
  Register<DivOp>(registry, "Div");
}

}  // namespace light
