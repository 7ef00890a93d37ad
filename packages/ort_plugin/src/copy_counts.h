// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ort_plugin {

/// How often, since the library was loaded, elements were copied between the host's memory and ours beyond what the
/// operator itself does. The custom operator CopyCounts tells it.
struct CopyCounts {
  std::atomic<int64_t> inputs{0};        ///< not aligned for their type, or strings
  std::atomic<int64_t> outputs{0};       ///< not aligned for their type, strings, or made by the kernel elsewhere
  std::atomic<int64_t> output_views{0};  ///< an output that could have been its input under other extents
};

inline constinit CopyCounts g_copy_counts;

inline void Count(std::atomic<int64_t>& counter) noexcept { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace ort_plugin
