// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "light/memory_budget.h"

namespace light {

/// Memory that grows and never shrinks, charged to a budget while it is held.
class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  GrowingBuffer(GrowingBuffer&& other) noexcept { *this = std::move(other); }
  GrowingBuffer& operator=(GrowingBuffer&& other) noexcept;
  ~GrowingBuffer() { Free(); }

  /// Makes room for `bytes`; what was there is lost if it has to grow. Throws Error (kFail) over the limit.
  void Reserve(std::size_t bytes, MemoryBudget* budget, const char* what) {
    if (bytes > capacity_) [[unlikely]]
      Grow(bytes, budget, what);
  }
  /// As Reserve, but the first `kept` bytes stay, and it grows by halves at least.
  void Extend(std::size_t kept, std::size_t bytes, MemoryBudget* budget, const char* what);
  void Free() noexcept;
  void* data() const noexcept { return data_; }
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  void Grow(std::size_t bytes, MemoryBudget* budget, const char* what);

  void* data_ = nullptr;
  std::size_t capacity_ = 0;
  MemoryBudget* budget_ = nullptr;
};

}  // namespace light
