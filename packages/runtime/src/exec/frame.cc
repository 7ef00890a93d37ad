// SPDX-License-Identifier: Apache-2.0
#include "exec/frame.h"

#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "light/error.h"

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
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) throw std::bad_alloc();
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  // The old block goes first: its content is not needed, and both together would double the peak.
  Free();
  if (budget != nullptr) budget->Charge(rounded, what);
  data_ = std::aligned_alloc(kAlignment, rounded);
  if (data_ == nullptr) {
    if (budget != nullptr) budget->Release(rounded);
    throw std::bad_alloc();
  }
  budget_ = budget;
  capacity_ = rounded;
}

void* ScratchArena::Take(std::size_t bytes, MemoryBudget* budget) {
  constexpr std::size_t kAlignment = conversions::kBufferAlignment;
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) throw std::bad_alloc();
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (used_ == 0 && overflow_.empty()) {
    wanted_ = wanted_ > rounded ? wanted_ : rounded;
    block_.Reserve(wanted_, budget, "scratch memory");
  }
  if (rounded <= block_.capacity() - used_) {
    void* taken = static_cast<char*>(block_.data()) + used_;
    used_ += rounded;
    return taken;
  }
  GrowingBuffer extra;
  extra.Reserve(rounded, budget, "scratch memory");
  overflow_.push_back(std::move(extra));
  return overflow_.back().data();
}

void ScratchArena::ResetSlow() noexcept {
  std::size_t total = used_;
  for (const GrowingBuffer& extra : overflow_) total += extra.capacity();
  wanted_ = wanted_ > total ? wanted_ : total;
  overflow_.clear();
  used_ = 0;
}

}  // namespace light
