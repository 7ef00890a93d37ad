// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <thread>

#include "light/runtime_context.h"

namespace light {

/// One piece of scratch memory per thread of a loop.
class ThreadScratch {
 public:
  ThreadScratch(RuntimeContext& context, std::size_t floats) : count_(context.parallel().thread_count()) {
    pitch_ = (floats + 15) / 16 * 16;
    data_ = static_cast<float*>(context.TemporaryBuffer(pitch_ * static_cast<std::size_t>(count_) * sizeof(float)));
    taken_ = static_cast<std::atomic<bool>*>(
        context.TemporaryBuffer(static_cast<std::size_t>(count_) * sizeof(std::atomic<bool>)));
    for (int i = 0; i < count_; ++i) new (&taken_[i]) std::atomic<bool>(false);
  }
  class Lease {
   public:
    explicit Lease(ThreadScratch& scratch) : scratch_(scratch) {
      while (scratch_.taken_[slot_].exchange(true, std::memory_order_acquire)) {
        if (++slot_ == scratch_.count_) {
          slot_ = 0;
          std::this_thread::yield();
        }
      }
    }
    Lease(const Lease&) = delete;
    ~Lease() { scratch_.taken_[slot_].store(false, std::memory_order_release); }
    float* data() const { return scratch_.data_ + static_cast<std::size_t>(slot_) * scratch_.pitch_; }

   private:
    ThreadScratch& scratch_;
    int slot_ = 0;
  };

 private:
  int count_;
  std::size_t pitch_;
  float* data_;
  std::atomic<bool>* taken_;
};

}  // namespace light
