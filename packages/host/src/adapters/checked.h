// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ort_host::checked {

/// Turns checked mode on for the whole process. Call it before the first adapter exists (before the first library is
/// loaded); afterwards it does nothing for adapters that exist. Never turned off.
void Enable() noexcept;
bool enabled() noexcept;

/// The slot that this thread is in, for findings.
void EnterSlot(const char* slot) noexcept;
/// Keeps the memory of a released adapter for a while, poisoned.
void Bury(void* memory, std::size_t size) noexcept;

/// A rule that a library broke.
struct Finding {
  /// double_release, release_of_borrowed, use_after_release, wrong_kind, leak, overrun, input_written.
  std::string rule;
  std::string detail;  ///< the handle's type, the slots involved
};
/// Notes a finding and writes it to stderr.
void Report(const char* rule, const std::string& detail) noexcept;
std::vector<Finding> Findings();

/// The number of the next handle; what was given out before it is older.
std::size_t Mark() noexcept;
/// A session ends: reports each handle given out since `mark` and not released as `leak`, and empties the quarantine.
void EndSession(std::size_t mark) noexcept;

}  // namespace ort_host::checked
