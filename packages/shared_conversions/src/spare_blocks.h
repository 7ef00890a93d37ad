// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace conversions {

/// Large blocks that were freed, for whoever wants about as much next. The system clears every page of a fresh block,
/// which takes longer than many a kernel that fills it; and the C library gives large blocks back at once.
///
/// A call that finds the lock held does without: nobody waits here, nor does a forked child whose parent held it.
class SpareBlocks {
 public:
  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  SpareBlocks() = default;
  SpareBlocks(const SpareBlocks&) = delete;
  ~SpareBlocks();

  /// A block of at least `bytes` and little more, or none.
  Block Take(std::size_t bytes) noexcept;
  /// Keeps a block from AllocateBytes, or frees it; what was kept for long is freed for it.
  void Keep(Block block) noexcept;

  /// What all kept blocks take at most, and one of them.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

 private:
  std::mutex mutex_;
  std::array<Block, 16> blocks_;  // the oldest one first
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace conversions
