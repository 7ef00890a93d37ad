// SPDX-License-Identifier: Apache-2.0
#include "call_memory.h"

#include <algorithm>
#include <limits>

#include "conversions/out_of_memory.h"

namespace ort_plugin {

void* Arena::Take(std::size_t bytes) {
  constexpr std::size_t kAlignment = conversions::kBufferAlignment;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw conversions::OutOfMemory(bytes);
  const std::size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;  // never 0: each call has an address
  if (wanted_ == 0 && block_.bytes < target_) {
    block_ = {};  // first: both together would double the peak
    block_ = conversions::AllocateBuffer(target_);
  }
  wanted_ += rounded;
  if (rounded <= block_.bytes - used_) {
    void* taken = static_cast<char*>(block_.data) + used_;
    used_ += rounded;
    return taken;
  }
  overflow_.push_back(conversions::AllocateBuffer(rounded));
  return overflow_.back().data;
}

void Arena::Reset() noexcept {
  target_ = std::max(target_, wanted_);
  overflow_.clear();
  used_ = 0;
  wanted_ = 0;
}

std::shared_ptr<ArenaPool> ArenaPool::Shared() {
  // Never destroyed: kernels may be released by static destructors of the application.
  static std::mutex* mutex = new std::mutex;
  static std::weak_ptr<ArenaPool>* current = new std::weak_ptr<ArenaPool>;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<ArenaPool> pool = current->lock();
  if (pool == nullptr) *current = pool = std::make_shared<ArenaPool>();
  return pool;
}

std::unique_ptr<Arena> ArenaPool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto arena = std::move(idle_.back());
      idle_.pop_back();
      return arena;
    }
  }
  return std::make_unique<Arena>();
}

void ArenaPool::GiveBack(std::unique_ptr<Arena> arena) {
  arena->Reset();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(arena));
}

}  // namespace ort_plugin
