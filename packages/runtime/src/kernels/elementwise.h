// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "light/kernel.h"

namespace light {

/// What a kernel reads of one input for a tile.
struct TileOperand {
  const float* data = nullptr;  ///< null if the node omits the input
  bool advances = true;         ///< false: one element for the whole tile
};

/// The kernel of a node that computes every element of its one float32 output from the same elements of its float32
/// inputs, as they broadcast. Several such nodes can run as one step that walks tiles.
class ElementwiseKernel : public KernelBase {
 public:
  /// Computes `n` elements as Run does. At least one of the first tile_inputs() operands advances; `y` may be the very
  /// address of either of the first two.
  virtual void MapTile(const TileOperand* operands, float* y, int64_t n) const = 0;
  /// How many of the inputs, from the first on, are walked; the others are scalars (tensors of rank 0). None: this
  /// node has rules of its own, and cannot be part of a larger step.
  virtual std::size_t tile_inputs() const noexcept = 0;
  /// Nanoseconds per element.
  virtual double tile_cost() const noexcept = 0;
};

}  // namespace light
