// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "conversions/buffer.h"
#include "light/kernel_info.h"

namespace light {

/// What a kernel makes of a constant and holds for as long as it lives.
class HeldWeights {
 public:
  HeldWeights() = default;
  ~HeldWeights();
  HeldWeights(const HeldWeights&) = delete;
  HeldWeights& operator=(const HeldWeights&) = delete;

  /// True if there is nothing, nor will be.
  bool empty() const noexcept { return later_ == nullptr && !is_allocated_; }
  /// Lets `make`, which calls Allocate, run now; or, if argument `i` of the node lies in a mapped file, at the first
  /// use: such a file is not read before that. What it takes is charged to the budget then: it may be far larger than
  /// the memory.
  void Make(const KernelInfo& info, std::size_t i, std::function<void()> make);
  /// Memory from AllocateWeights.
  void* Allocate(std::size_t bytes);
  const void* data() const {
    if (later_ != nullptr) [[unlikely]]
      later_->MakeOnce();
    return buffer_.data;
  }

 private:
  /// Making may throw, over the memory limit, and is tried again at the next use: ThreadSanitizer's call_once would
  /// wait for ever then.
  struct Later {
    void MakeOnce() {
      if (is_made.load(std::memory_order_acquire)) return;
      const std::lock_guard lock(mutex);
      if (is_made.load(std::memory_order_relaxed)) return;
      make();
      is_made.store(true, std::memory_order_release);
    }
    std::mutex mutex;
    std::atomic<bool> is_made{false};
    std::function<void()> make;
  };

  std::unique_ptr<Later> later_;
  conversions::OwnedBuffer buffer_;
  bool is_allocated_ = false;
  MemoryBudget* budget_ = nullptr;  // set if made later
  std::size_t charged_ = 0;
};

/// The budget that what is made of argument `i` is charged to: the run's if it is a constant in a mapped file, else
/// null.
MemoryBudget* BudgetOfMapped(const KernelInfo& info, std::size_t i);

}  // namespace light
