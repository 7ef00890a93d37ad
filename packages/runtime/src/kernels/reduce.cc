// SPDX-License-Identifier: Apache-2.0
// ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum.
#include <limits>

#include "kernels/families.h"
#include "kernels/reduction.h"
#include "kernels/scalar.h"

namespace light {
namespace {

// What elements of T are added up in. Integers wrap in the end, whatever their width in between.
template <class T>
using SumType =
    std::conditional_t<kIsSmallFloat<T>, float, std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>>;

/// What sums have in common, in an accumulator of type A<T>.
template <template <class> class A>
struct Summed {
  static constexpr auto kRow = &simd::SimdTable::reduce_sum;
  static constexpr auto kRows = &simd::SimdTable::reduce_sum_rows;
  static constexpr auto kLine = &simd::SimdTable::add;
  template <class T>
  using Acc = A<T>;
  template <class T>
  static Acc<T> Initial() {
    return 0;
  }
  template <class T>
  static Acc<T> Map(ComputeType<T> x) {
    return static_cast<Acc<T>>(x);
  }
  template <class S>
  static S Combine(S a, S b) {
    return a + b;
  }
};

struct SumOp : Summed<SumType> {
  template <class T>
  static T Finish(Acc<T> sum, int64_t) {
    return T(sum);
  }
};

__extension__ typedef __int128 Int128;
template <class T>
using MeanSumType =
    std::conditional_t<std::is_integral_v<T>, std::conditional_t<sizeof(T) == 8, Int128, int64_t>, SumType<T>>;

/// The mean lies between the elements, so the sum of integers must not wrap. That of nothing is 0.
struct MeanOp : Summed<MeanSumType> {
  template <class T>
  static T Finish(Acc<T> sum, int64_t count) {
    return count == 0 ? T(Acc<T>{0}) : static_cast<T>(sum / static_cast<Acc<T>>(count));
  }
};

/// The largest element, or the smallest.
template <bool kLargest>
struct ExtremeOp {
  static constexpr auto kRow = kLargest ? &simd::SimdTable::reduce_max : &simd::SimdTable::reduce_min;
  static constexpr auto kLine = kLargest ? &simd::SimdTable::max : &simd::SimdTable::min;
  template <class T>
  using Acc = ComputeType<T>;
  template <class T>
  static Acc<T> Initial() {
    using Limits = std::numeric_limits<Acc<T>>;
    if constexpr (Limits::has_infinity)
      return kLargest ? -Limits::infinity() : Limits::infinity();
    else
      return kLargest ? Limits::lowest() : Limits::max();
  }
  template <class T>
  static Acc<T> Map(Acc<T> x) {
    return x;
  }
  template <class A>
  static A Combine(A a, A b) {
    return kLargest ? Larger(a, b) : Smaller(a, b);
  }
  template <class T>
  static T Finish(Acc<T> value, int64_t) {
    return T(value);
  }
};

struct ProdOp {
  /// An integer that stops at the largest magnitude.
  struct Signed {
    uint64_t magnitude;
    bool is_negative;
  };
  // Of floats in double: a product may leave the type's range and come back.
  template <class T>
  using Acc = std::conditional_t<std::is_integral_v<T>, Signed, double>;
  template <class T>
  static Acc<T> Initial() {
    return Map<T>(1);
  }
  template <class T>
  static Acc<T> Map(ComputeType<T> x) {
    if constexpr (std::is_integral_v<T>)
      return {Magnitude(x), x < 0};
    else
      return static_cast<double>(x);
  }
  static double Combine(double a, double b) { return a * b; }
  static Signed Combine(Signed a, Signed b) {
    uint64_t product;
    if (__builtin_mul_overflow(a.magnitude, b.magnitude, &product)) product = UINT64_MAX;
    return {product, a.is_negative != b.is_negative};
  }
  template <class T>
  static T Finish(Acc<T> product, int64_t) {
    if constexpr (std::is_integral_v<T>) {
      if (!product.is_negative) return NearestOf<T>(product.magnitude);
      constexpr auto kLowest = Magnitude(std::numeric_limits<T>::min());
      return static_cast<T>(0 - std::min(product.magnitude, kLowest));
    } else {
      return T(static_cast<ComputeType<T>>(product));
    }
  }
};

using ExtremeTypes =
    TypeList<float, double, Float16, Bfloat16, int32_t, int64_t, uint32_t, uint64_t, int8_t, uint8_t, bool>;

}  // namespace

void RegisterReduce(KernelRegistry& registry) {
  RegisterReduceKernel<ExtremeOp<true>>(registry, "ReduceMax", 20, 18, ExtremeTypes{});
  RegisterReduceKernel<MeanOp>(registry, "ReduceMean", 18, 18, MatrixTypes{});
  RegisterReduceKernel<ExtremeOp<false>>(registry, "ReduceMin", 20, 18, ExtremeTypes{});
  RegisterReduceKernel<ProdOp>(registry, "ReduceProd", 18, 18, MatrixTypes{});
  RegisterReduceKernel<SumOp>(registry, "ReduceSum", 13, 13, MatrixTypes{});
}

}  // namespace light
