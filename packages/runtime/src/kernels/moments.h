// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/simd_dispatch.h"
#include "kernels/small_floats.h"
#include "light/tensor.h"

namespace light {

/// Sum of `f(x[i])` in double, whatever the element type. Several sums run side by side, so that one addition need not
/// wait for the last.
template <class T, class F>
double SumOf(const T* x, int64_t n, F f) {
  constexpr int64_t kLanes = 8;
  double sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += f(static_cast<double>(static_cast<ComputeType<T>>(x[i + lane])));
  double sum = 0;
  for (; i < n; ++i) sum += f(static_cast<double>(static_cast<ComputeType<T>>(x[i])));
  for (const double lane : sums) sum += lane;
  return sum;
}

template <class T>
double Sum(const T* x, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    return Simd().sum(x, static_cast<std::size_t>(n));
  } else if constexpr (kIsSmallFloat<T>) {
    double sum = 0;
    ForEachFloatBlock(x, n, [&](const float* block, std::size_t length) { sum += Simd().sum(block, length); });
    return sum;
  } else {
    return SumOf(x, n, [](double value) { return value; });
  }
}

/// Sum of the squared distances from `center`.
template <class T>
double SumOfSquares(const T* x, int64_t n, double center = 0) {
  if constexpr (std::is_same_v<T, float>) {
    return Simd().sum_of_squares(x, center, static_cast<std::size_t>(n));
  } else if constexpr (kIsSmallFloat<T>) {
    double sum = 0;
    ForEachFloatBlock(
        x, n, [&](const float* block, std::size_t length) { sum += Simd().sum_of_squares(block, center, length); });
    return sum;
  } else {
    return SumOf(x, n, [center](double value) { return (value - center) * (value - center); });
  }
}

/// Element `i` of a tensor of FloatTypes.
inline double ElementAsDouble(const Tensor& tensor, int64_t i) {
  return WithType(FloatTypes{}, tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return static_cast<double>(static_cast<ComputeType<T>>(tensor.Data<T>()[i]));
  });
}

/// Rounds one number per element to the type of a tensor of FloatTypes.
template <class C>
void Store(const C* from, Tensor& to) {
  WithType(FloatTypes{}, to.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < to.element_count(); ++i) to.Data<T>()[i] = T(static_cast<ComputeType<T>>(from[i]));
  });
}

}  // namespace light
