// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/simd_dispatch.h"

namespace light {

/// 16-bit floats as floats.
inline void WidenElements(const Float16* x, int64_t n, float* y) {
  static_assert(sizeof(Float16) == sizeof(uint16_t));
  Simd().from_half(reinterpret_cast<const uint16_t*>(x), y, static_cast<std::size_t>(n));
}
inline void WidenElements(const Bfloat16* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

/// Floats rounded to 16-bit ones.
inline void NarrowElements(const float* x, int64_t n, Float16* y) {
  Simd().to_half(x, reinterpret_cast<uint16_t*>(y), static_cast<std::size_t>(n));
}
inline void NarrowElements(const float* x, int64_t n, Bfloat16* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = Bfloat16(x[i]);
}

}  // namespace light
