// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

#include "light/parallel.h"

namespace ort_plugin {

/// Loops on the host's threads, through the context of one call: there is no second pool.
class ContextThreads final : public light::ParallelBackend {
 public:
  /// @param threads  most threads that work on a loop
  ContextThreads(const OrtApi& api, const OrtKernelContext* context, int threads) noexcept
      : api_(api), context_(context), threads_(threads) {}

  void ParallelFor(int64_t total, double cost_per_unit, light::RangeFn body) override {
    constexpr double kWorthNs = 8000;  // a shorter loop costs less than handing it over
    if (total <= 0) return;
    if (threads_ == 1 || static_cast<double>(total) * cost_per_unit < kWorthNs) return body(0, total);
    ParallelForSlow(total, cost_per_unit, body);
  }
  int thread_count() const noexcept override { return threads_; }

 private:
  void ParallelForSlow(int64_t total, double cost_per_unit, light::RangeFn body);

  const OrtApi& api_;
  const OrtKernelContext* context_;
  int threads_;
};

/// What `threads` = 0 asks for: as many as this process may run on. The host's pool may have fewer.
int DefaultThreadCount() noexcept;

}  // namespace ort_plugin
