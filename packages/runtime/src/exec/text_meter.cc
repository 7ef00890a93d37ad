// SPDX-License-Identifier: Apache-2.0
#include "exec/text_meter.h"

#include <algorithm>

namespace light {

thread_local TextScope* TextScope::current_ = nullptr;

std::size_t TextBytes(const Tensor& strings) noexcept {
  std::size_t bytes = 0;
  for (const std::string& string : strings.Span<std::string>()) bytes += TextBytes(string);
  return bytes;
}

TextScope* TextScope::Current() noexcept { return current_; }

void TextMeter::Charge(std::size_t bytes) {
  budget_.Charge(bytes, "text of strings");
  charged_ += bytes;
}

void TextScope::Settle() {
  if (pending_ == 0) return;
  meter_.Charge(pending_);
  pending_ = 0;
}

void CopyString(const std::string& from, std::string& to) {
  if (TextScope* scope = TextScope::Current()) scope->Expect(to, from.size());
  to = from;
}

void CopyStrings(const std::string* from, int64_t n, std::string* to) {
  TextScope* const scope = TextScope::Current();
  if (scope == nullptr) {
    std::copy_n(from, n, to);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    scope->Expect(to[i], from[i].size());
    to[i] = from[i];
  }
}

void FillStrings(std::string* to, int64_t n, const std::string& value) {
  TextScope* const scope = TextScope::Current();
  for (int64_t i = 0; i < n; ++i) {
    if (scope != nullptr) scope->Expect(to[i], value.size());
    to[i] = value;
  }
}

}  // namespace light
