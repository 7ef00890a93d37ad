// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace light {

/// Objects that wait for their next use. Safe from any thread; where one use follows the other, no lock is taken.
template <class T>
class Spares {
 public:
  Spares() = default;
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;
  ~Spares() { delete first_.load(); }

  /// Null if there is none.
  std::unique_ptr<T> Take() {
    if (T* const first = first_.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(first);
    if (!has_more_.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(mutex_);
    if (more_.empty()) return nullptr;
    auto spare = std::move(more_.back());
    more_.pop_back();
    return spare;
  }
  void GiveBack(std::unique_ptr<T> spare) noexcept {
    T* none = nullptr;
    if (first_.compare_exchange_strong(none, spare.get(), std::memory_order_release, std::memory_order_relaxed)) {
      spare.release();
      return;
    }
    const std::lock_guard lock(mutex_);
    try {
      more_.push_back(std::move(spare));
      has_more_.store(true, std::memory_order_release);
    } catch (const std::bad_alloc&) {  // then it ends here
    }
  }

 private:
  std::atomic<T*> first_{nullptr};
  std::atomic<bool> has_more_{false};  // more_ was in use once
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> more_;  // of uses at the same time
};

}  // namespace light
