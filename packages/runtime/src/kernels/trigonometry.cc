// SPDX-License-Identifier: Apache-2.0
// Acos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Sin, Sinh, Tan.
#include <math.h>

#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

using simd::SimdTable;

/// A function of the vector library, and of the C library for float64.
template <simd::UnaryFn SimdTable::* kFunction, double (*kDouble)(double)>
struct LibraryOp {
  static constexpr auto kSimd = kFunction;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return static_cast<T>(kDouble(x));
  }
};

template <simd::UnaryFn SimdTable::* kFunction, double (*kDouble)(double)>
void Register(KernelRegistry& registry, const char* op_type, int since) {
  RegisterUnaryKernel<LibraryOp<kFunction, kDouble>>(registry, op_type, "input", since, 22, FloatTypes{});
}

}  // namespace

void RegisterTrigonometry(KernelRegistry& registry) {
  Register<&SimdTable::acos, ::acos>(registry, "Acos", 7);
  Register<&SimdTable::acosh, ::acosh>(registry, "Acosh", 9);
  Register<&SimdTable::asin, ::asin>(registry, "Asin", 7);
  Register<&SimdTable::asinh, ::asinh>(registry, "Asinh", 9);
  Register<&SimdTable::atan, ::atan>(registry, "Atan", 7);
  Register<&SimdTable::atanh, ::atanh>(registry, "Atanh", 9);
  Register<&SimdTable::cos, ::cos>(registry, "Cos", 7);
  Register<&SimdTable::cosh, ::cosh>(registry, "Cosh", 9);
  Register<&SimdTable::sin, ::sin>(registry, "Sin", 7);
  Register<&SimdTable::sinh, ::sinh>(registry, "Sinh", 9);
  Register<&SimdTable::tan, ::tan>(registry, "Tan", 7);
}

}  // namespace light
