// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "adapters/findings.h"

namespace ort_host::checked {

/// Turns checked mode on for the whole process. Call it before the first adapter exists (before the first library is
/// loaded); afterwards it does nothing for adapters that exist. Never turned off.
void Enable() noexcept;
bool enabled() noexcept;

/// The slot that this thread is in, for findings.
void EnterSlot(const char* slot) noexcept;
/// Keeps released memory for a while, poisoned behind its first `tag` bytes; `free` frees it then.
void Bury(void* memory, std::size_t size, std::size_t tag, void (*free)(void*)) noexcept;

/// While it lives, what this thread hands to a library belongs to a session or a registration, known by an address.
class Owner {
 public:
  explicit Owner(const void* address) noexcept;
  ~Owner();
  Owner(const Owner&) = delete;

 private:
  const void* outer_;
};
/// The session ends: reports each of its handles that was not released as a `leak`, and empties the quarantine.
void EndSession(const void* owner) noexcept;
/// As EndSession for the statuses of a registration. Other handles a library may keep until it is unloaded.
void EndRegistration(const void* owner) noexcept;

/// The call that the handle is good for is over: its use is reported as `out_of_phase` from now on, and answered as
/// long as the handle lives.
void EndCall(const void* handle) noexcept;
/// True, and reported, if the handle is known as a released one. For handles that may be none of ours, and for slots
/// that cannot fail.
bool IsReleased(const void* handle, std::uint32_t kind) noexcept;

}  // namespace ort_host::checked
