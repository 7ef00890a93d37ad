// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "check.h"
#include "light/parallel.h"

inline constexpr double kHeavy = 1e6;  // nanoseconds per unit: worth every thread

/// Checks that a loop runs on as many threads as the pool has: its body waits until all of them are in it.
inline void CheckUsesSeveralThreads(light::ParallelBackend& pool) {
  const int threads = pool.thread_count();
  std::atomic<int> inside{0};
  std::mutex mutex;
  std::set<std::thread::id> seen;
  pool.ParallelFor(threads, kHeavy, [&](int64_t begin, int64_t end) {
    CHECK(end - begin == 1);
    inside.fetch_add(1);
    while (inside.load() < threads) std::this_thread::yield();
    std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(static_cast<int>(seen.size()) == threads);
  CHECK(seen.count(std::this_thread::get_id()) == 1);
}
