// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace light {

/// Which tensors of a kernel have their channels last in memory: float32 of the extents [batch, channels, height,
/// width] that lies as [batch, height, width, channels].
struct Layouts {
  bool input_last = false;   ///< the first input
  bool output_last = false;  ///< the result, and what an epilogue adds to it
  bool any() const noexcept { return input_last || output_last; }
};

/// What of that a kernel can do for a node.
enum class LayoutSupport : uint8_t {
  kNone,
  kEach,   ///< input and result, each as it comes
  kAlike,  ///< both or neither
  kInput,  ///< the input; the result has one element per channel, so that there is no difference
};

}  // namespace light
