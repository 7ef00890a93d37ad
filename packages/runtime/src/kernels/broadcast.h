// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "light/tensor.h"

namespace light {

/// Widens `out` so that input `i`, of extents `dims`, broadcasts to it. Throws Error (kInvalidArgument) if the two do
/// not fit each other; the message names the input.
void WidenExtents(Dims& out, const Dims& dims, std::size_t i);

/// How inputs of different extents are walked together, after ONNX's multidirectional broadcasting. Dimensions that
/// every input walks alike are merged, so that the innermost one is as long as it can be; in it an input advances by
/// 1 or stands still.
struct BroadcastPlan {
  static constexpr std::size_t kMaxInputs = 3;

  Dims out;                              ///< extents of the output
  int64_t total = 1;                     ///< elements of the output
  Dims extents;                          ///< merged; at least one
  std::array<Dims, kMaxInputs> strides;  ///< of each input along `extents`, in elements; 0 or as the input lies

  /// Throws Error (kInvalidArgument) if the extents do not fit each other; the message names the input.
  explicit BroadcastPlan(std::span<const Dims* const> inputs);

  bool advances(std::size_t input) const noexcept { return strides[input][extents.rank() - 1] != 0; }
};

/// Calls `run(position, length, offsets)` for pieces of [begin, end) of the output within the innermost dimension;
/// `offsets` are those of the inputs, in elements.
template <class Run>
void ForEachRun(const BroadcastPlan& plan, int64_t begin, int64_t end, Run&& run) {
  if (begin >= end) return;
  const std::size_t rank = plan.extents.rank(), last = rank - 1;
  Dims index;
  index.Resize(rank);
  std::array<int64_t, BroadcastPlan::kMaxInputs> offsets{};
  int64_t rest = begin;
  for (std::size_t d = rank; d-- > 0;) {
    index[d] = rest % plan.extents[d];
    rest /= plan.extents[d];
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] += index[d] * plan.strides[i][d];
  }
  for (int64_t position = begin; position < end;) {
    const int64_t length = std::min(plan.extents[last] - index[last], end - position);
    run(position, length, offsets);
    position += length;
    // To the start of the next innermost line.
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] -= index[last] * plan.strides[i][last];
    index[last] = 0;
    for (std::size_t d = last; d-- > 0;) {
      for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] += plan.strides[i][d];
      if (++index[d] < plan.extents[d]) break;
      for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] -= plan.extents[d] * plan.strides[i][d];
      index[d] = 0;
    }
  }
}

}  // namespace light
