// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace light {

/// Integers in the order of floats: both zeros are equal, and a NaN is above every number.
inline uint32_t OrderOf(float value) {
  const auto bits = std::bit_cast<int32_t>(value + 0.f);  // a zero is positive
  const uint32_t order = static_cast<uint32_t>(bits) ^ (static_cast<uint32_t>(bits >> 31) | 0x80000000u);
  return value != value ? ~uint32_t{0} : order;
}

/// A float and where it is, in one integer: sorting is several times faster than by a comparison that looks it up.
/// Of equal floats the lower index comes first.
inline uint64_t KeyOf(uint32_t order, int64_t index) {
  return static_cast<uint64_t>(order) << 32 | static_cast<uint64_t>(index);
}
inline int64_t IndexOf(uint64_t key) { return static_cast<int64_t>(key & 0xffffffffu); }
inline constexpr int64_t kMostKeys = int64_t{1} << 32;

}  // namespace light
