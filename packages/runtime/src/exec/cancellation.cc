// SPDX-License-Identifier: Apache-2.0
#include "light/cancellation.h"

#include <algorithm>
#include <ctime>

namespace light {
namespace {

constexpr int32_t kLargestStride = 32;
constexpr auto kSlow = std::chrono::milliseconds(1);  // for as many steps as were taken since the last look

/// As Clock::now(), in a quarter of the time: what the kernel wrote down at its last tick, some milliseconds ago.
Cancellation::Clock::time_point Now() noexcept {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return Cancellation::Clock::time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace

int32_t Cancellation::Look() {
  const Clock::time_point now = Now();
  const bool is_first = last_look_ == Clock::time_point{};
  if (is_first) last_check_ = now;
  stride_ = is_first || now - last_look_ >= kSlow ? 1 : std::min(2 * stride_, kLargestStride);
  last_look_ = now;
  if (now - last_check_ >= interval_) {
    last_check_ = now;
    check_(context_);
  }
  return stride_;
}

}  // namespace light
