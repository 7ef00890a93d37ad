// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "light/function_ref.h"

namespace light {

using RangeFn = FunctionRef<void(int64_t begin, int64_t end)>;

/// How a run spreads loops over threads: our pool, the calling thread alone, or the pool of whoever hosts us.
class ParallelBackend {
 public:
  virtual ~ParallelBackend() = default;
  /// Calls `body` on ranges that together cover [0, total) once, on any threads, and returns when all are done. An
  /// exception in a body is thrown here after the others have finished.
  /// @param cost_per_unit  rough nanoseconds of work per index; small loops stay on the calling thread
  virtual void ParallelFor(int64_t total, double cost_per_unit, RangeFn body) = 0;
  /// Most threads that a loop can use, the caller included.
  virtual int thread_count() const noexcept = 0;
  /// Says that foreign code, which may bring threads of its own, runs next: idle workers stop spinning.
  virtual void Quiesce() noexcept {}
};

/// Everything on the calling thread.
class SerialBackend final : public ParallelBackend {
 public:
  void ParallelFor(int64_t total, double, RangeFn body) override {
    if (total > 0) body(0, total);
  }
  int thread_count() const noexcept override { return 1; }
};

/// Returns the process's pool of that size (the caller counts as one). Pools of equal size are shared and live as long
/// as somebody holds them; workers start at the first loop that is worth it. 0 asks for one thread per physical core.
/// One loop at a time uses the workers: a loop that finds them busy runs on its caller. In a forked child a pool
/// starts anew and never joins its parent's threads.
std::shared_ptr<ParallelBackend> AcquirePool(int threads);

}  // namespace light
