// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ort_host::checked {

/// A rule of the interface that libraries break; docs/checked_mode.md lists them.
struct Rule {
  const char* name;     ///< stable
  const char* meaning;  ///< one sentence
};
std::span<const Rule> Rules() noexcept;

/// What a library did against a rule.
struct Finding {
  std::string rule;
  std::string slot;  ///< the slot or callback that it happened in; "" if it was in none
  std::string sentence;
};

/// Writes a finding to stderr and, in checked mode, keeps it. `rule` is the name of one of Rules().
void Report(const char* rule, const char* slot, const std::string& sentence) noexcept;
/// The findings so far, the oldest ones if there are too many to keep.
std::vector<Finding> Findings();

}  // namespace ort_host::checked
