// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace light {

/// Lets a caller end a run early, between two steps: nothing is torn out of its work. One object per run; bodies of
/// control flow share it. Polled by the thread that called Run.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;
  /// Throws Error to end the run.
  using CheckFn = void (*)(void* context);

  /// @param interval  least time between two calls of `check`
  Cancellation(CheckFn check, void* context, Clock::duration interval) noexcept
      : check_(check), context_(context), interval_(interval) {}

  /// Called before every run of a body.
  void Poll() {
    if (--until_look_ == 0) [[unlikely]]
      until_look_ = Look();
  }
  // The same for a loop over steps, which counts in a register.
  /// How many steps may pass before the next Look.
  int32_t stride() const noexcept { return stride_; }
  /// Looks at the clock, and calls `check` if it is time. Returns stride().
  int32_t Look();

 private:
  CheckFn check_;
  void* context_;
  Clock::duration interval_;
  // Reading the clock costs as much as a small step. So it is read at every step only while steps are slow. The first
  // step of all comes before any work: a run of one step never looks.
  int32_t stride_ = 2;
  int32_t until_look_ = 2;
  Clock::time_point last_look_{};
  Clock::time_point last_check_{};
};

}  // namespace light
