// SPDX-License-Identifier: Apache-2.0
#include "spare_blocks.h"

#include <algorithm>
#include <cstdlib>

namespace conversions {

SpareBlocks::~SpareBlocks() {
  for (std::size_t i = 0; i < count_; ++i) std::free(blocks_[i].data);
}

SpareBlocks::Block SpareBlocks::Take(std::size_t bytes) noexcept {
  if (bytes > kMostBytes) return {};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  const std::size_t most = bytes + bytes / 8;
  std::size_t best = count_;
  for (std::size_t i = 0; i < count_; ++i) {
    const bool fits = blocks_[i].bytes >= bytes && blocks_[i].bytes <= most;
    // Of equal ones the last: its pages are the likeliest in a cache.
    if (fits && (best == count_ || blocks_[i].bytes <= blocks_[best].bytes)) best = i;
  }
  if (best == count_) return {};
  const Block found = blocks_[best];
  std::copy(blocks_.begin() + best + 1, blocks_.begin() + count_, blocks_.begin() + best);
  --count_;
  bytes_ -= found.bytes;
  return found;
}

void SpareBlocks::Keep(Block block) noexcept {
  std::array<Block, 17> freed;
  std::size_t freed_count = 0;
  const auto free_later = [&](Block one) { freed[freed_count++] = one; };
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || block.bytes > kMostBytes) {
      free_later(block);
    } else {
      std::size_t oldest = 0;
      for (; oldest < count_ && (count_ - oldest == blocks_.size() || bytes_ + block.bytes > kMostBytes); ++oldest) {
        bytes_ -= blocks_[oldest].bytes;
        free_later(blocks_[oldest]);
      }
      std::copy(blocks_.begin() + oldest, blocks_.begin() + count_, blocks_.begin());
      count_ -= oldest;
      blocks_[count_++] = block;
      bytes_ += block.bytes;
    }
  }
  for (std::size_t i = 0; i < freed_count; ++i) std::free(freed[i].data);
}

}  // namespace conversions
