// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ort_host {

/// The memory of shape infos, which come and go while a node computes. A thread keeps the last few that it released and
/// takes the next ones from them, without a lock; it may release what another thread has made. What it keeps is freed
/// when it ends.
class ShapeInfoMemory {
 public:
  static void* Take(std::size_t size) {
    Block* block = kept_.first;
    if (block == nullptr) [[unlikely]]
      return ::operator new(size);
    kept_.first = block->next;
    --kept_.count;
    return block;
  }

  /// `memory` is of one size, whoever calls; its first eight bytes stay as they are, so that a dead tag can be read.
  static void Keep(void* memory) noexcept {
    if (kept_.count >= kMost || !kept_.is_watched) [[unlikely]] {
      if (kept_.count >= kMost || !WatchThreadEnd()) return ::operator delete(memory);
    }
    auto* block = static_cast<Block*>(memory);
    block->next = kept_.first;
    kept_.first = block;
    ++kept_.count;
  }

 private:
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t kMost = 0;  // each one is seen to end
#else
  static constexpr std::size_t kMost = 16;
#endif
  struct Block {
    void* tag;
    Block* next;
  };
  /// Trivial, so that it works from the first to the last moment of a thread.
  struct Kept {
    Block* first;
    std::size_t count;
    bool is_watched;
  };

  /// False if this thread's end cannot be learnt: it keeps nothing then.
  static bool WatchThreadEnd() noexcept;
  static void Free(void*) noexcept;

  // Read by an offset, without a call into the loader: this is on the path of every node.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Kept kept_ = {};
};

}  // namespace ort_host
