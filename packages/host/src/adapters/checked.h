// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <ort_abi/handle.h>

#include "adapters/findings.h"

namespace ort_host::checked {

/// Turns checked mode on for the whole process. Call it before the first adapter exists (before the first library is
/// loaded); afterwards it does nothing for adapters that exist. Never turned off.
void Enable() noexcept;
bool enabled() noexcept;

/// Names the slot or callback that this thread is in, for findings, and returns the one around it.
const char* EnterSlot(const char* slot) noexcept;
/// While it lives, this thread is in that slot or callback.
class InSlot {
 public:
  explicit InSlot(const char* slot) noexcept {
    if (ort_abi::checked_hooks != nullptr) [[unlikely]]
      outer_ = EnterSlot(slot);
  }
  ~InSlot() {
    if (outer_ != nullptr) [[unlikely]]
      EnterSlot(outer_);
  }
  InSlot(const InSlot&) = delete;

 private:
  const char* outer_ = nullptr;
};
/// Keeps released memory for a while, poisoned behind its first `tag` bytes; `free` frees it then. Without a tag it
/// held any number of adapters.
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
/// The session ends: reports each of its handles that was not released as a `leak`.
void EndSession(const void* owner) noexcept;
/// As EndSession for the statuses of a registration. Other handles a library may keep until it is unloaded.
void EndRegistration(const void* owner) noexcept;

/// Calls EndRegistration when it ends, however that is.
class RegistrationEnd {
 public:
  explicit RegistrationEnd(const void* owner) noexcept : owner_(owner) {}
  ~RegistrationEnd() { EndRegistration(owner_); }
  RegistrationEnd(const RegistrationEnd&) = delete;

 private:
  const void* owner_;
};

/// The handle is good for the call that follows.
void BeginCall(const void* handle) noexcept;
/// The call that the handle is good for is over: its use is reported as `out_of_phase` from now on, and answered as
/// long as the handle lives.
void EndCall(const void* handle) noexcept;
/// What the handle refers to has ended before it: it may be released still, and any other use is refused as
/// `out_of_phase`.
void Expire(const void* handle) noexcept;
/// For a handle that may be a library's own object: "" unless it is known as a released one, or as a living one of
/// another kind; reported then.
std::string JudgeForeign(const void* handle, std::uint32_t kind);
/// False if the handle is none of the kind that lives; reported then, if asked for. For slots that cannot fail.
bool IsUsable(const void* handle, std::uint32_t kind, bool is_reported) noexcept;

}  // namespace ort_host::checked
