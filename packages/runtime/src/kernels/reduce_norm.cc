// SPDX-License-Identifier: Apache-2.0
// ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp, ReduceSumSquare.
#include <cmath>
#include <limits>

#include "kernels/families.h"
#include "kernels/reduction.h"
#include "kernels/scalar.h"

namespace light {
namespace {

template <class T>
T FromDouble(double value) {
  if constexpr (std::is_integral_v<T>)
    return SaturatingCast<T>(value);
  else
    return T(static_cast<ComputeType<T>>(value));
}

/// A sum of what the derived operation maps elements to, which is never negative: of floats in double, of integers up
/// to the largest.
struct WideSum {
  template <class T>
  using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  template <class T>
  static Acc<T> Initial() {
    return 0;
  }
  static double Combine(double a, double b) { return a + b; }
  static uint64_t Combine(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
  }
  template <class T>
  static T Finish(Acc<T> sum, int64_t) {
    if constexpr (std::is_integral_v<T>)
      return NearestOf<T>(sum);
    else
      return T(static_cast<ComputeType<T>>(sum));
  }
};

struct L1Op : WideSum {
  static double Row(const float* x, int64_t n) { return Simd().sum_of_magnitudes(x, static_cast<std::size_t>(n)); }
  template <class T>
  static Acc<T> Map(ComputeType<T> x) {
    if constexpr (std::is_integral_v<T>)
      return Magnitude(x);
    else
      return std::abs(static_cast<double>(x));
  }
};

struct SumSquareOp : WideSum {
  static double Row(const float* x, int64_t n) { return Simd().sum_of_squares(x, 0, static_cast<std::size_t>(n)); }
  template <class T>
  static Acc<T> Map(ComputeType<T> x) {
    if constexpr (std::is_integral_v<T>) {
      uint64_t square;
      return __builtin_mul_overflow(Magnitude(x), Magnitude(x), &square) ? UINT64_MAX : square;
    } else {
      return static_cast<double>(x) * static_cast<double>(x);
    }
  }
};

/// A sum in double, whatever the elements are: its function is a fraction anyway.
struct DoubleSum {
  template <class T>
  using Acc = double;
  template <class T>
  static double Initial() {
    return 0;
  }
  static double Combine(double a, double b) { return a + b; }
};

struct L2Op : DoubleSum {
  static double Row(const float* x, int64_t n) { return Simd().sum_of_squares(x, 0, static_cast<std::size_t>(n)); }
  template <class T>
  static double Map(ComputeType<T> x) {
    return static_cast<double>(x) * static_cast<double>(x);
  }
  template <class T>
  static T Finish(double sum, int64_t) {
    return FromDouble<T>(std::sqrt(sum));
  }
};

struct LogSumOp : DoubleSum {
  static double Row(const float* x, int64_t n) { return Simd().sum(x, static_cast<std::size_t>(n)); }
  template <class T>
  static double Map(ComputeType<T> x) {
    return static_cast<double>(x);
  }
  template <class T>
  static T Finish(double sum, int64_t) {
    return FromDouble<T>(std::log(sum));
  }
};

/// The sum is kept relative to the largest exponent so far: exp of the elements themselves would overflow.
struct LogSumExpOp {
  template <class C>
  struct Scaled {
    C largest;
    double sum;  ///< of exp(x - largest)
  };
  template <class T>
  using Acc = Scaled<std::conditional_t<std::is_integral_v<T>, double, ComputeType<T>>>;
  template <class T>
  static Acc<T> Initial() {
    return {-std::numeric_limits<decltype(Acc<T>::largest)>::infinity(), 0};
  }
  template <class T>
  static Acc<T> Map(ComputeType<T> x) {
    return {static_cast<decltype(Acc<T>::largest)>(x), 1};
  }
  template <class C>
  static Scaled<C> Combine(Scaled<C> a, Scaled<C> b) {
    if (a.largest == b.largest) return {a.largest, a.sum + b.sum};  // also of infinities, whose difference is a NaN
    if (a.largest > b.largest) std::swap(a, b);
    return {b.largest, b.sum + a.sum * static_cast<double>(std::exp(a.largest - b.largest))};
  }
  static Scaled<float> Row(const float* x, int64_t n) {
    const float largest = Simd().reduce_max(x, static_cast<std::size_t>(n));
    Scaled<float> row = Initial<float>();
    if (!std::isfinite(largest)) {  // infinities have no difference
      for (int64_t i = 0; i < n; ++i) row = Combine(Map<float>(x[i]), row);
      return row;
    }
    constexpr int64_t kBlock = 512;
    float block[kBlock];
    row.largest = largest;
    for (int64_t i = 0; i < n; i += kBlock) {
      const auto length = static_cast<std::size_t>(std::min(kBlock, n - i));
      Simd().sub_scalar(x + i, &largest, block, length);
      Simd().exp(block, block, length);
      row.sum += Simd().sum(block, length);
    }
    return row;
  }
  template <class T>
  static T Finish(Acc<T> value, int64_t) {
    return FromDouble<T>(static_cast<double>(value.largest) + std::log(value.sum));
  }
};

}  // namespace

void RegisterReduceNorm(KernelRegistry& registry) {
  RegisterReduceKernel<L1Op>(registry, "ReduceL1", 18, 18, MatrixTypes{});
  RegisterReduceKernel<L2Op>(registry, "ReduceL2", 18, 18, MatrixTypes{});
  RegisterReduceKernel<LogSumOp>(registry, "ReduceLogSum", 28, 18, MatrixTypes{});
  RegisterReduceKernel<LogSumExpOp>(registry, "ReduceLogSumExp", 28, 18, MatrixTypes{});
  RegisterReduceKernel<SumSquareOp>(registry, "ReduceSumSquare", 18, 18, MatrixTypes{});
}

}  // namespace light
