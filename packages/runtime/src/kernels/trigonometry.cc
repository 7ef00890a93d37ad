// SPDX-License-Identifier: Apache-2.0
// Acos, Acosh, Asin, Asinh, Atan, Atanh, Cos, Cosh, Sin, Sinh, Tan.
#include <math.h>

#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

/// A function of the C library.
template <float (*kFloat)(float), double (*kDouble)(double)>
struct LibraryOp {
  static constexpr double kCost = 10;
  static float Apply(float x) { return kFloat(x); }
  static double Apply(double x) { return kDouble(x); }
};

template <float (*kFloat)(float), double (*kDouble)(double)>
void Register(KernelRegistry& registry, const char* op_type, int since) {
  RegisterUnaryKernel<LibraryOp<kFloat, kDouble>>(registry, op_type, "input", since, 22, FloatTypes{});
}

}  // namespace

void RegisterTrigonometry(KernelRegistry& registry) {
  Register<acosf, acos>(registry, "Acos", 7);
  Register<acoshf, acosh>(registry, "Acosh", 9);
  Register<asinf, asin>(registry, "Asin", 7);
  Register<asinhf, asinh>(registry, "Asinh", 9);
  Register<atanf, atan>(registry, "Atan", 7);
  Register<atanhf, atanh>(registry, "Atanh", 9);
  Register<cosf, cos>(registry, "Cos", 7);
  Register<coshf, cosh>(registry, "Cosh", 9);
  Register<sinf, sin>(registry, "Sin", 7);
  Register<sinhf, sinh>(registry, "Sinh", 9);
  Register<tanf, tan>(registry, "Tan", 7);
}

}  // namespace light
