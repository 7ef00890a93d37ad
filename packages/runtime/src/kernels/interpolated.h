// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/scalar.h"

namespace light {

/// What elements of T are interpolated in.
template <class T>
using Interpolated =
    std::conditional_t<std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) > 2), double, float>;

/// Rounds half to even and saturates where T is an integer.
template <class T, class Acc>
T FromInterpolated(Acc value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return SaturatingCast<T>(std::nearbyint(value));
  } else {
    return T(value);
  }
}

}  // namespace light
