// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace light {

// Arithmetic of one element, with the cases that the language leaves undefined decided.

// Integers wrap; the detour through an unsigned type of at least 32 bits keeps that defined.
template <class T>
using Wrapping = std::make_unsigned_t<std::common_type_t<T, int32_t>>;

template <class T>
T WrappingAdd(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <class T>
T WrappingSubtract(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}

template <class T>
T WrappingMultiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

/// The larger; a NaN in either wins.
template <class T>
T Larger(T a, T b) {
  const T larger = a > b ? a : b;  // b if either is a NaN; one instruction, where a single condition is a branch
  return a != a ? a : larger;
}

/// The smaller; a NaN in either wins.
template <class T>
T Smaller(T a, T b) {
  const T smaller = a < b ? a : b;
  return a != a ? a : smaller;
}

/// A float as an integer: truncated, saturated beyond the type, and 0 for a NaN.
template <class To, class From>
To SaturatingCast(From value) {
  static_assert(std::is_floating_point_v<From> && std::is_integral_v<To>);
  // Both limits are exact here: the upper one is taken plus one, a power of two.
  constexpr From kAbove = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
  constexpr From kLowest = static_cast<From>(std::numeric_limits<To>::min());
  if (value >= kAbove) return std::numeric_limits<To>::max();
  if (value > kLowest) return static_cast<To>(value);
  return value == value ? std::numeric_limits<To>::min() : To{0};
}

}  // namespace light
