// SPDX-License-Identifier: Apache-2.0
#include "context_threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include <ort_abi/handle.h>

namespace ort_plugin {
namespace {

constexpr double kMinPieceNs = 2000;  // a piece must outweigh its claim and a cold cache

/// A loop that was handed over, as a piece and a runner per thread. Runners claim pieces: nobody waits for one that is
/// late, and the caller, who comes first, has the same piece in every run and finds its weights in the cache. The
/// host's threads know no exceptions: the first one waits here.
struct Loop {
  light::RangeFn body;
  int64_t total;
  int64_t pieces;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;

  int64_t Begin(int64_t piece) const {
    return total / pieces * piece + std::min(piece, total % pieces);  // the first pieces take one more
  }
  static void Run(void* data, std::size_t) {
    auto& loop = *static_cast<Loop*>(data);
    try {
      for (int64_t i; (i = loop.next.fetch_add(1, std::memory_order_relaxed)) < loop.pieces;)
        loop.body(loop.Begin(i), loop.Begin(i + 1));
    } catch (...) {
      const std::lock_guard lock(loop.mutex);
      if (loop.error == nullptr) loop.error = std::current_exception();
    }
  }
};

}  // namespace

void ContextThreads::ParallelForSlow(int64_t total, double cost_per_unit, light::RangeFn body) {
  const double worth = static_cast<double>(total) * cost_per_unit / kMinPieceNs;
  const int64_t pieces = std::min({total, static_cast<int64_t>(threads_), static_cast<int64_t>(std::min(worth, 1e6))});
  if (pieces < 2) return body(0, total);
  Loop loop{body, total, pieces, {}, {}, nullptr};
  const auto runners = static_cast<std::size_t>(pieces);
  ort_abi::ThrowIfError(api_, api_.KernelContext_ParallelFor(context_, Loop::Run, runners, runners, &loop));
  if (loop.error != nullptr) std::rethrow_exception(loop.error);
}

int DefaultThreadCount() noexcept { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 1024); }

}  // namespace ort_plugin
