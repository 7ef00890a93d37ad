// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/arguments.h"
#include "kernels/moved.h"
#include "light/runtime_context.h"

namespace light {

/// An output whose position is the input's axis by axis.
struct AxisMaps {
  std::span<const int64_t> dims;  ///< extents of the output, down to the last axis that is mapped; none is 0
  int64_t block;                  ///< elements behind each position of the last of them, the same in the input
  /// For each axis in turn an entry per position: the offset in the input that it adds, or -1 for the constant.
  const int64_t* maps;
  // Positions [run_begin, run_begin + run_length) of the last axis lie together in the input, too.
  int64_t run_begin = 0;
  int64_t run_length = 0;
};

template <class T>
void CopyMapped(RuntimeContext& context, const AxisMaps& axes, const T& constant, const T* from, T* to) {
  const std::size_t last = axes.dims.size() - 1;
  const int64_t length = axes.dims[last], block = axes.block, lines = Product(axes.dims, 0, last);
  const int64_t* last_map = axes.maps;
  for (std::size_t d = 0; d < last; ++d) last_map += axes.dims[d];
  context.ParallelFor(lines, kMoveCost<T> * static_cast<double>(length * block) + 5, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      T* out = to + line * length * block;
      int64_t base = 0, rest = line;
      const int64_t* map = last_map;
      for (std::size_t d = last; base >= 0 && d-- > 0;) {
        map -= axes.dims[d];
        const int64_t offset = map[rest % axes.dims[d]];
        base = offset < 0 ? -1 : base + offset;
        rest /= axes.dims[d];
      }
      if (base < 0) {
        FillRun(out, length * block, constant);
        continue;
      }
      const auto copy = [&](int64_t first, int64_t behind) {
        for (int64_t i = first; i < behind; ++i) {
          const T* source = from + base + last_map[i];
          if (last_map[i] < 0)
            FillRun(out + i * block, block, constant);
          else if (block == 1)
            CopyOne(*source, out[i]);
          else
            CopyRun(source, block, out + i * block);
        }
      };
      copy(0, axes.run_begin);
      if (axes.run_length > 0)
        CopyRun(from + base + last_map[axes.run_begin], axes.run_length * block, out + axes.run_begin * block);
      copy(axes.run_begin + axes.run_length, length);
    }
  });
}

}  // namespace light
