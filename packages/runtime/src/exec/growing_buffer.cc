// SPDX-License-Identifier: Apache-2.0
#include "exec/growing_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "conversions/buffer.h"
#include "conversions/out_of_memory.h"

namespace light {

GrowingBuffer& GrowingBuffer::operator=(GrowingBuffer&& other) noexcept {
  if (this != &other) {
    Free();
    data_ = std::exchange(other.data_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
    budget_ = std::exchange(other.budget_, nullptr);
  }
  return *this;
}

void GrowingBuffer::Free() noexcept {
  std::free(data_);
  if (budget_ != nullptr) budget_->Release(capacity_);
  data_ = nullptr;
  capacity_ = 0;
}

void GrowingBuffer::Grow(std::size_t bytes, MemoryBudget* budget, const char* what) {
  constexpr std::size_t kAlignment = conversions::kBufferAlignment;
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) throw conversions::OutOfMemory(bytes);
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  // The old block goes first: its content is not needed, and both together would double the peak.
  Free();
  if (budget != nullptr) budget->Charge(rounded, what);
  data_ = conversions::AllocateBytes(rounded);
  if (data_ == nullptr) {
    if (budget != nullptr) budget->Release(rounded);
    throw conversions::OutOfMemory(bytes);
  }
  budget_ = budget;
  capacity_ = rounded;
}

void GrowingBuffer::Extend(std::size_t kept, std::size_t bytes, MemoryBudget* budget, const char* what) {
  if (bytes <= capacity_) return;
  GrowingBuffer larger;
  larger.Grow(std::max(bytes, capacity_ + capacity_ / 2), budget, what);
  if (kept > 0) std::memcpy(larger.data_, data_, kept);
  *this = std::move(larger);
}

}  // namespace light
