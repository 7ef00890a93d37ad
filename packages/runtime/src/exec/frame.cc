// SPDX-License-Identifier: Apache-2.0
#include "exec/frame.h"

#include <limits>
#include <new>

#include "conversions/buffer.h"
#include "conversions/out_of_memory.h"
#include "exec/address_sanitizer.h"

namespace light {

void* ScratchArena::Take(std::size_t bytes, MemoryBudget* budget) {
  constexpr std::size_t kAlignment = conversions::kBufferAlignment;
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment - kGuardBytes) throw conversions::OutOfMemory(bytes);
  const std::size_t rounded = (bytes + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  if (used_ == 0 && overflow_.empty()) {
    wanted_ = wanted_ > rounded ? wanted_ : rounded;
    block_.Reserve(wanted_, budget, "scratch memory");
  }
  if (rounded <= block_.capacity() - used_) {
    void* taken = static_cast<char*>(block_.data()) + used_;
    used_ += rounded;
    MarkUsed(taken, bytes, rounded);
    return taken;
  }
  GrowingBuffer extra;
  extra.Reserve(rounded, budget, "scratch memory");
  MarkUsed(extra.data(), bytes, rounded);
  overflow_.push_back(std::move(extra));
  return overflow_.back().data();
}

void ScratchArena::ResetSlow() noexcept {
  std::size_t total = used_;
  for (const GrowingBuffer& extra : overflow_) total += extra.capacity();
  wanted_ = wanted_ > total ? wanted_ : total;
  overflow_.clear();
  used_ = 0;
  MarkUsed(block_.data(), 0, block_.capacity());
}

}  // namespace light
