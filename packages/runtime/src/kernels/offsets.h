// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "light/runtime_context.h"

namespace light {

[[noreturn]] void FailIndex(int64_t index, std::size_t axis, int64_t extent);

/// An entry of input 1, `indices`, counted from the front. Throws Error if it is not in [-extent, extent - 1].
inline int64_t IndexFromFront(int64_t index, std::size_t axis, int64_t extent) {
  if (index < -extent || index >= extent) FailIndex(index, axis, extent);
  return index < 0 ? index + extent : index;
}

// Where the indices of GatherElements, GatherND and the Scatter operators point to, in elements of the data. Input 1 of
// the node is `indices`. The results are scratch of the context. Throw Error if an index or the shape of the indices
// does not fit.

/// Of every element of `indices`: its own coordinates, with the index in place of the one along `axis`.
std::span<const int64_t> ElementOffsets(RuntimeContext& context, const Tensor& data, const Tensor& indices,
                                        int64_t axis);

struct SliceOffsets {
  std::span<const int64_t> starts;  ///< of the slice that each tuple along the last axis of `indices` selects
  int64_t length = 0;               ///< elements of a slice
  Dims dims;                        ///< of all slices together: the batch and index axes, then those of a slice
};  // without starts if the slices have no elements

/// The first `batch` axes of data and indices go together.
SliceOffsets FindSlices(RuntimeContext& context, const Tensor& data, const Tensor& indices, int64_t batch);

}  // namespace light
