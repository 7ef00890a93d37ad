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

/// How many times each position of a map comes, if they are neighbours of one element each and all come as often; else
/// 0.
inline int64_t Repeats(std::span<const int64_t> map, int64_t block) {
  const auto n = static_cast<int64_t>(map.size());
  int64_t repeats = 1;
  while (repeats < n && map[static_cast<std::size_t>(repeats)] == map[0]) ++repeats;
  if (block != 1 || map[0] < 0 || repeats < 2 || n % repeats != 0) return 0;
  for (int64_t i = 0; i < n; ++i)
    if (map[static_cast<std::size_t>(i)] != map[0] + i / repeats) return 0;
  return repeats;
}

/// Each of `n` elements two times.
template <class T>
void CopyTwice(const T* from, int64_t n, T* to) {
  if constexpr (sizeof(T) == sizeof(uint32_t)) {
    for (int64_t i = 0; i < n; ++i) {  // of integers there are vectors, of bytes there are not
      uint32_t bits;
      std::memcpy(&bits, from + i, sizeof(bits));
      std::memcpy(to + 2 * i, &bits, sizeof(bits));
      std::memcpy(to + 2 * i + 1, &bits, sizeof(bits));
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[2 * i] = to[2 * i + 1] = from[i];
  }
}

template <class T>
void CopyMapped(RuntimeContext& context, const AxisMaps& axes, const T& constant, const T* from, T* to) {
  const std::size_t last = axes.dims.size() - 1;
  const int64_t length = axes.dims[last], block = axes.block, lines = Product(axes.dims, 0, last);
  const int64_t* last_map = axes.maps;
  for (std::size_t d = 0; d < last; ++d) last_map += axes.dims[d];
  // Each element so many times, as an image is enlarged; 0 if it is something else.
  const int64_t repeats = Repeats({last_map, static_cast<std::size_t>(length)}, block);
  context.ParallelFor(lines, kMoveCost<T> * static_cast<double>(length * block) + 5, [&](int64_t begin, int64_t end) {
    int64_t base = -1;
    for (int64_t line = begin; line < end; ++line) {
      T* out = to + line * length * block;
      [[maybe_unused]] const int64_t previous = base;
      int64_t rest = line;
      base = 0;
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
      const T* source_line = from + base;
      if constexpr (!std::is_same_v<T, std::string>) {
        if (base == previous) {
          CopyRun(out - length * block, length * block, out);
          continue;
        }
        if (repeats == 2) {
          CopyTwice(source_line + last_map[0], length / 2, out);
          continue;
        }
        if (repeats > 0) {
          for (int64_t i = 0; i < length; i += repeats) std::fill_n(out + i, repeats, source_line[last_map[i]]);
          continue;
        }
      }
      const auto copy = [&](int64_t first, int64_t behind) {
        if constexpr (!std::is_same_v<T, std::string>) {
          if (block == 1) {
            for (int64_t i = first; i < behind; ++i) out[i] = last_map[i] < 0 ? constant : source_line[last_map[i]];
            return;
          }
        }
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
