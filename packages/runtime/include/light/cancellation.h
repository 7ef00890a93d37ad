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

  /// Called before every step and before every run of a body.
  void Poll() {
    if (--until_clock_ == 0) [[unlikely]]
      LookAtClock();
  }

 private:
  void LookAtClock();

  CheckFn check_;
  void* context_;
  Clock::duration interval_;
  // Reading the clock costs as much as a small step. So it is read at every step only while steps are slow. The first
  // poll of all comes before any work and is let pass.
  int32_t until_clock_ = 2;
  int32_t stride_ = 1;
  Clock::time_point last_look_{};
  Clock::time_point last_check_{};
};

}  // namespace light
