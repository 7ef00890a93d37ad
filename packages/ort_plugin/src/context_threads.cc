// SPDX-License-Identifier: Apache-2.0
#include "context_threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include <ort_abi/handle.h>

namespace ort_plugin {
namespace {

constexpr double kMinPieceNs = 2000;     // a piece must outweigh its claim and a cold cache
constexpr int64_t kPiecesPerThread = 3;  // enough to even out a thread that is late
constexpr int64_t kMostShares = 64;

/// A loop that was handed over: shares of some pieces each, and a runner per thread. A runner claims the pieces of its
/// own share, which are the same in every run, so that it finds their weights in its cache; then those of the others:
/// nobody waits for one that is late. The host's threads know no exceptions: the first one waits here.
struct Loop {
  light::RangeFn body;
  int64_t total;
  int64_t pieces;
  int64_t shares;
  std::array<std::atomic<int64_t>, kMostShares> claimed{};
  std::mutex mutex;
  std::exception_ptr error;

  /// Where part `i` of `n` units begins that are cut into `parts`: the first ones take one more.
  static int64_t Begin(int64_t n, int64_t parts, int64_t i) { return n / parts * i + std::min(i, n % parts); }

  void RunShare(int64_t share) {
    const int64_t first = Begin(pieces, shares, share), count = Begin(pieces, shares, share + 1) - first;
    for (int64_t i; (i = claimed[static_cast<std::size_t>(share)].fetch_add(1, std::memory_order_relaxed)) < count;)
      body(Begin(total, pieces, first + i), Begin(total, pieces, first + i + 1));
  }
  static void Run(void* data, std::size_t runner) {
    auto& loop = *static_cast<Loop*>(data);
    try {
      for (int64_t i = 0; i < loop.shares; ++i) loop.RunShare((static_cast<int64_t>(runner) + i) % loop.shares);
    } catch (...) {
      const std::lock_guard lock(loop.mutex);
      if (loop.error == nullptr) loop.error = std::current_exception();
    }
  }
};

}  // namespace

void ContextThreads::ParallelForSlow(int64_t total, double cost_per_unit, light::RangeFn body) {
  const double worth = static_cast<double>(total) * cost_per_unit / kMinPieceNs;
  const int64_t pieces = std::min({total, kPiecesPerThread * threads_, static_cast<int64_t>(std::min(worth, 1e6))});
  if (pieces < 2) return body(0, total);
  const int64_t runners = std::min<int64_t>(pieces, threads_);
  Loop loop{body, total, pieces, std::min(runners, kMostShares), {}, {}, nullptr};
  const auto count = static_cast<std::size_t>(runners);
  ort_abi::ThrowIfError(api_, api_.KernelContext_ParallelFor(context_, Loop::Run, count, count, &loop));
  if (loop.error != nullptr) std::rethrow_exception(loop.error);
}

int DefaultThreadCount() noexcept { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 1024); }

}  // namespace ort_plugin
