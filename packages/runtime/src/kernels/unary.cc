// SPDX-License-Identifier: Apache-2.0
// Abs, Erf, Exp, Log, Neg, Reciprocal, Relu, Sigmoid, Sign, Sqrt, Tanh.
#include <bit>
#include <cmath>

#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

using simd::SimdTable;

// Each operation: its function of the vector library, and its meaning for one element of any other type.
struct AbsOp {
  static constexpr auto kSimd = &SimdTable::abs;
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else if constexpr (std::is_unsigned_v<T>)
      return x;
    else
      return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
  }
};
struct NegOp {
  static constexpr auto kSimd = &SimdTable::neg;
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  }
};
struct ReluOp {
  static constexpr auto kSimd = &SimdTable::relu;
  static constexpr double kCost = 0.3;
  template <class T>
  static T Apply(T x) {
    if constexpr (std::is_same_v<T, double>)  // by the bits: a branch would be mispredicted half of the time
      return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & (uint64_t{x < 0} - 1));
    else
      return x < T{0} ? T{0} : x;
  }
};
struct SqrtOp {
  static constexpr auto kSimd = &SimdTable::sqrt;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::sqrt(x);
  }
};
struct ExpOp {
  static constexpr auto kSimd = &SimdTable::exp;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::exp(x);
  }
};
struct LogOp {
  static constexpr auto kSimd = &SimdTable::log;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::log(x);
  }
};
struct ErfOp {
  static constexpr auto kSimd = &SimdTable::erf;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::erf(static_cast<double>(x)));  // truncated, as a cast of the result would
    else
      return std::erf(x);
  }
};
struct TanhOp {
  static constexpr auto kSimd = &SimdTable::tanh;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    return std::tanh(x);
  }
};
struct SigmoidOp {
  static constexpr auto kSimd = &SimdTable::sigmoid;
  static constexpr double kCost = 1;
  template <class T>
  static T Apply(T x) {
    const T e = std::exp(-std::abs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
  }
};

struct ReciprocalOp {
  static constexpr auto kSimd = &SimdTable::reciprocal;
  static constexpr double kCost = 0.4;
  template <class T>
  static T Apply(T x) {
    return 1 / x;
  }
};
struct SignOp {
  static constexpr auto kSimd = &SimdTable::sign;
  static constexpr double kCost = 0.4;
  template <class T>
  static T Apply(T x) {
    return x != x ? x : static_cast<T>((x > T{0}) - (x < T{0}));
  }
};

}  // namespace

void RegisterUnary(KernelRegistry& registry) {
  RegisterUnaryKernel<AbsOp>(registry, "Abs", "X", 1, 13, NumberTypes{});
  RegisterUnaryKernel<NegOp>(registry, "Neg", "X", 1, 13, SignedTypes{});
  RegisterUnaryKernel<ReluOp>(registry, "Relu", "X", 1, 14, SignedTypes{});
  RegisterUnaryKernel<SqrtOp>(registry, "Sqrt", "X", 1, 13, FloatTypes{});
  RegisterUnaryKernel<ExpOp>(registry, "Exp", "input", 1, 13, FloatTypes{});
  RegisterUnaryKernel<LogOp>(registry, "Log", "input", 1, 13, FloatTypes{});
  RegisterUnaryKernel<ErfOp>(registry, "Erf", "input", 9, 13, NumberTypes{});
  RegisterUnaryKernel<TanhOp>(registry, "Tanh", "input", 1, 13, FloatTypes{});
  RegisterUnaryKernel<SigmoidOp>(registry, "Sigmoid", "X", 1, 13, FloatTypes{});
  RegisterUnaryKernel<ReciprocalOp>(registry, "Reciprocal", "X", 1, 13, FloatTypes{});
  RegisterUnaryKernel<SignOp>(registry, "Sign", "input", 9, 13, NumberTypes{});
}

}  // namespace light
