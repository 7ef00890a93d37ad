// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "light/memory_budget.h"
#include "light/tensor.h"

namespace light {

/// Bytes of text that a string has beside itself: what does not fit into it.
inline std::size_t TextBytes(const std::string& string) noexcept {
  return string.capacity() > std::string().capacity() ? string.capacity() : 0;
}

std::size_t TextBytes(const Tensor& strings) noexcept;

/// Charges the text that strings are given, before it is taken. The threads of a step share one.
class TextMeter {
 public:
  explicit TextMeter(MemoryBudget& budget) noexcept : budget_(budget) {}
  ~TextMeter() { budget_.Release(charged_); }
  TextMeter(const TextMeter&) = delete;
  TextMeter& operator=(const TextMeter&) = delete;

  /// Throws Error (kFail) over the limit.
  void Charge(std::size_t bytes);
  /// What was charged; the caller releases it from here on.
  std::size_t HandOver() noexcept { return charged_.exchange(0); }

 private:
  MemoryBudget& budget_;
  std::atomic<std::size_t> charged_{0};
};

/// While it lives, strings that the calling thread copies by the functions below are charged to a meter, in pieces: one
/// addition to a shared counter for every string would cost more than many of the copies.
class TextScope {
 public:
  explicit TextScope(TextMeter& meter) noexcept : meter_(meter), outer_(current_) { current_ = this; }
  ~TextScope() { current_ = outer_; }
  TextScope(const TextScope&) = delete;
  TextScope& operator=(const TextScope&) = delete;

  /// The innermost scope of this thread; nullptr: nothing is charged.
  static TextScope* Current() noexcept;

  /// `to` is about to hold `size` bytes. Throws Error (kFail) over the limit.
  void Expect(const std::string& to, std::size_t size) {
    if (size <= to.capacity()) return;
    pending_ += size - TextBytes(to);
    if (pending_ >= kPiece) Settle();
  }
  /// Charges what is left; to be called when the work is done. Throws Error (kFail) over the limit.
  void Settle();

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  static thread_local TextScope* current_;

  TextMeter& meter_;
  TextScope* outer_;
  std::size_t pending_ = 0;
};

void CopyString(const std::string& from, std::string& to);
void CopyStrings(const std::string* from, int64_t n, std::string* to);
void FillStrings(std::string* to, int64_t n, const std::string& value);

}  // namespace light
