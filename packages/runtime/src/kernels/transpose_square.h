// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace light {

/// 16 bytes anywhere in memory. gcc 12 compiles std::memcpy to an element of an array of vectors as if the memory were
/// aligned like a vector, which ends the process where it is not.
typedef uint8_t UnalignedBytes __attribute__((vector_size(16), aligned(1), may_alias));

/// Elements of U in one vector of 16 bytes.
template <class U>
inline constexpr int64_t kSquare = 16 / sizeof(U);

/// Transposes a square of kSquare<U> rows, `U` an unsigned integer of 1 or 2 bytes: row by row the first half is
/// interleaved with the second, as often as it can be halved.
template <class U>
void TransposeSquare(const void* from, int64_t from_pitch, void* to, int64_t to_pitch) {
  typedef U Vector __attribute__((vector_size(16)));
  constexpr int64_t n = kSquare<U>;
  Vector rows[n], next[n], low, high;
#pragma GCC unroll 16
  for (int64_t i = 0; i < n; ++i) {
    low[i] = static_cast<U>(i / 2 + i % 2 * n);
    high[i] = static_cast<U>(n / 2 + i / 2 + i % 2 * n);
    rows[i] = reinterpret_cast<Vector>(*reinterpret_cast<const UnalignedBytes*>(
        static_cast<const char*>(from) + i * from_pitch * static_cast<int64_t>(sizeof(U))));
  }
#pragma GCC unroll 4
  for (int64_t width = 1; width < n; width *= 2) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < n / 2; ++i) {
      next[2 * i] = __builtin_shuffle(rows[i], rows[i + n / 2], low);
      next[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + n / 2], high);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < n; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<UnalignedBytes*>(static_cast<char*>(to) + i * to_pitch * static_cast<int64_t>(sizeof(U))) =
        reinterpret_cast<UnalignedBytes>(rows[i]);
}

}  // namespace light
