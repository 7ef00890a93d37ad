// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace light {

// What the address sanitizer cannot know of memory that is divided and reused here. Without it nothing is done.

#if defined(__SANITIZE_ADDRESS__)
/// Bytes behind a piece of a block that nobody may touch.
inline constexpr std::size_t kGuardBytes = 64;

/// Of [data, data + capacity) the first `used` bytes may be touched.
inline void MarkUsed(const void* data, std::size_t used, std::size_t capacity) noexcept {
  if (capacity == 0) return;
  __asan_unpoison_memory_region(data, used);
  __asan_poison_memory_region(static_cast<const char*>(data) + used, capacity - used);
}
#else
inline constexpr std::size_t kGuardBytes = 0;
inline void MarkUsed(const void*, std::size_t, std::size_t) noexcept {}
#endif

}  // namespace light
