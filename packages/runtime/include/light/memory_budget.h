// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <string>

namespace light {

/// Counts the bytes that runs of a session hold, against a limit. Charged before memory is taken. Thread-safe.
class MemoryBudget {
 public:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
  explicit MemoryBudget(std::size_t limit = kUnlimited) : limit_(limit) {}

  /// Takes `bytes` from the budget, or returns false and takes nothing.
  bool TryCharge(std::size_t bytes) noexcept;
  /// As TryCharge; throws Error (kFail) with `what`, the bytes and the limit.
  void Charge(std::size_t bytes, const std::string& what);
  void Release(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  std::size_t limit() const noexcept { return limit_; }

 private:
  std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace light
