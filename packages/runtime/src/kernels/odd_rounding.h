// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

namespace light {

// Rounding to nearest twice, first to a longer and then to a shorter float, may miss what rounding once gives: the
// first may end half way between two of the shorter ones. Here the first step cuts off instead, and makes the last bit
// odd if anything was lost; what is at least two bits shorter is then rounded as if from the value itself.

/// An integer as such a double.
template <std::integral T>
double OddDouble(T value) noexcept {
  if constexpr (sizeof(T) < sizeof(int64_t)) {
    return static_cast<double>(value);  // exact
  } else {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude < uint64_t{1} << 53) return static_cast<double>(value);
    const uint64_t lost = magnitude & 0x7ff;
    const double high = static_cast<double>((magnitude >> 11) | (lost ? 1 : 0)) * 2048;
    return negative ? -high : high;
  }
}

/// A number as such a float.
inline float OddFloat(double value) noexcept {
  const auto near = static_cast<float>(value);
  const auto back = static_cast<double>(near);
  if (back == value || std::isnan(value)) return near;
  auto bits = std::bit_cast<uint32_t>(near);
  if (std::abs(back) > std::abs(value)) --bits;  // from an infinity to the greatest float, too
  return std::bit_cast<float>(bits | 1);
}
template <std::integral T>
float OddFloat(T value) noexcept {
  return OddFloat(OddDouble(value));
}

}  // namespace light
