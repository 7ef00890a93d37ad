// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/simd_dispatch.h"

namespace light {

using QuantizedTypes = TypeList<int8_t, uint8_t, int16_t, uint16_t>;
using ByteTypes = TypeList<int8_t, uint8_t>;

/// A required input of one element, a scalar in whatever rank.
const Tensor& SingleElement(RuntimeContext& context, std::size_t i, const char* name);

/// The range of a zero point of one element, of int8 or uint8.
inline simd::QuantizedRange ByteRange(const Tensor& zero) {
  if (zero.type() == ElementType::kInt8) return {-128, 127, zero.Data<int8_t>()[0]};
  return {0, 255, zero.Data<uint8_t>()[0]};
}

/// `quotient` rounded half to even, moved by the zero point and kept within Q. A NaN becomes the lowest of Q.
template <class Q, class F>
Q RoundToQuantized(F quotient, int32_t zero) {
  // Adding this leaves no bits for a fraction; what is rounded has at most 18 bits before the point.
  constexpr F kRound = std::is_same_v<F, float> ? F(12582912.f) : F(6755399441055744.);
  const F low = static_cast<F>(std::numeric_limits<Q>::min() - zero);
  const F high = static_cast<F>(std::numeric_limits<Q>::max() - zero);
  const F clamped = std::min(std::max(low, quotient), high);  // in this order a NaN is not larger than the lowest
  return static_cast<Q>(static_cast<int32_t>((clamped + kRound) - kRound) + zero);
}

/// Which scale (and zero point) an element of X has: one for all, one per index of an axis, or one per block along an
/// axis. X is seen as [outer, extent, inner].
struct ScaleLayout {
  int64_t extent = 1, inner = 1, block = 1, blocks = 1;
  bool blocked = false;

  /// Throws Error if the scale, input 1, and the zero point, input 2, do not fit X.
  ScaleLayout(const Tensor& x, const Tensor& scale, const char* scale_name, const Tensor* zero, const char* zero_name,
              int64_t axis, int64_t block_size);

  /// Calls `line(position, length, scale, step)` for pieces of [begin, end): element position + i has the scale number
  /// scale + i * step.
  template <class Line>
  void ForEachLine(int64_t begin, int64_t end, Line&& line) const {
    for (int64_t position = begin; position < end;) {
      const int64_t index = position / inner, at = position % inner;
      const int64_t length = std::min(inner - at, end - position);
      if (blocked)
        line(position, length, (index / extent * blocks + index % extent / block) * inner + at, int64_t{1});
      else
        line(position, length, index % extent, int64_t{0});
      position += length;
    }
  }
};

}  // namespace light
