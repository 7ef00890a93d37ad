// SPDX-License-Identifier: Apache-2.0
#include "bridge/semantic_version.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ort_host {
namespace {

bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }
bool IsWordCharacter(char c) noexcept {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

/// Digits without a leading zero.
bool IsNumber(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit) && (text.size() == 1 || text.front() != '0');
}

bool IsNumberOf32Bits(std::string_view text) noexcept {
  uint32_t value = 0;
  return IsNumber(text) && std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
}

/// The text up to the separator, which is taken off with it.
std::string_view TakeUpTo(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

/// Identifiers between dots, none empty; those of a pre-release have no leading zero if they are numbers.
bool AreIdentifiers(std::string_view text, bool is_pre_release) noexcept {
  while (true) {
    const bool is_last = text.find('.') == std::string_view::npos;
    const std::string_view word = TakeUpTo(text, '.');
    if (word.empty() || !std::all_of(word.begin(), word.end(), IsWordCharacter)) return false;
    if (is_pre_release && std::all_of(word.begin(), word.end(), IsDigit) && !IsNumber(word)) return false;
    if (is_last) return true;
  }
}

}  // namespace

bool IsSemanticVersion(std::string_view text) noexcept {
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    if (!AreIdentifiers(text.substr(plus + 1), false)) return false;
    text = text.substr(0, plus);
  }
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    if (!AreIdentifiers(text.substr(dash + 1), true)) return false;
    text = text.substr(0, dash);
  }
  if (std::count(text.begin(), text.end(), '.') != 2) return false;
  const std::string_view major = TakeUpTo(text, '.');
  const std::string_view minor = TakeUpTo(text, '.');
  return IsNumberOf32Bits(major) && IsNumberOf32Bits(minor) && IsNumberOf32Bits(text);
}

}  // namespace ort_host
