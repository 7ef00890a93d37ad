// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/element.h"
#include "kernels/simd_dispatch.h"

namespace light {

/// Floats that stay in the nearest cache while several functions go over them.
inline constexpr int64_t kFloatBlock = 512;

/// How elements of one 16-bit type become floats and come back, so that code of no type can do it.
struct SmallFloatFns {
  void (*widen)(const uint16_t* x, float* y, std::size_t n) = nullptr;
  void (*narrow)(const float* x, uint16_t* y, std::size_t n) = nullptr;
};

/// Of other elements, which stay as they are, there are none.
inline SmallFloatFns SmallFloatFnsOf(ElementType type) {
  const simd::SimdTable& simd = Simd();
  if (type == ElementType::kFloat16) return {simd.from_half, simd.to_half};
  if (type == ElementType::kBfloat16) return {simd.from_bfloat, simd.to_bfloat};
  return {};
}

/// 16-bit floats as floats.
template <class T>
void WidenElements(const T* x, int64_t n, float* y) {
  static_assert(kIsSmallFloat<T> && sizeof(T) == sizeof(uint16_t));
  SmallFloatFnsOf(kElementOf<T>).widen(reinterpret_cast<const uint16_t*>(x), y, static_cast<std::size_t>(n));
}

/// Floats rounded to 16-bit ones.
template <class T>
void NarrowElements(const float* x, int64_t n, T* y) {
  static_assert(kIsSmallFloat<T> && sizeof(T) == sizeof(uint16_t));
  SmallFloatFnsOf(kElementOf<T>).narrow(x, reinterpret_cast<uint16_t*>(y), static_cast<std::size_t>(n));
}

/// Calls `use(block, length)` for one block of floats after the other.
template <class T, class Use>
void ForEachFloatBlock(const T* x, int64_t n, Use&& use) {
  float block[kFloatBlock];
  for (int64_t i = 0; i < n; i += kFloatBlock) {
    const int64_t length = std::min(kFloatBlock, n - i);
    WidenElements(x + i, length, block);
    use(block, static_cast<std::size_t>(length));
  }
}

/// The same where `map(block, length)` changes the floats; what they become is rounded to y.
template <class T, class Map>
void MapFloatBlocks(const T* x, T* y, int64_t n, Map&& map) {
  ForEachFloatBlock(x, n, [&](float* block, std::size_t length) {
    map(block, length);
    NarrowElements(block, static_cast<int64_t>(length), y);
    y += length;
  });
}

}  // namespace light
