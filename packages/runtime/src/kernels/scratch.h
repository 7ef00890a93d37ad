// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kernels/arguments.h"
#include "light/runtime_context.h"

namespace light {

/// Scratch memory for `count` elements, until Run returns. Throws Error if that many do not fit in memory: an input
/// without elements may have any extents, and parts of them multiply to any number.
template <class T>
T* Scratch(RuntimeContext& context, int64_t count) {
  std::size_t bytes;
  if (count < 0 || __builtin_mul_overflow(static_cast<std::size_t>(count), sizeof(T), &bytes))
    FailArgument("scratch memory: a size must not be negative and must fit in memory, got " + std::to_string(count) +
                 " elements of " + std::to_string(sizeof(T)) + " bytes");
  return static_cast<T*>(context.TemporaryBuffer(bytes));
}

}  // namespace light
