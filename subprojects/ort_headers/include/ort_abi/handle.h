// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <ort_abi/members.h>
#include <ort_abi/status_error.h>

namespace ort_abi {

// --- Handles that we give out
// -------------------------------------------------------------------------------------

/// What checked mode watches. Only `borrow` and `take` judge; the others keep the live set.
///
/// The hooks must outlive every adapter and be safe to call from any thread.
struct CheckedHooks {
  void (*born)(const void* handle, uint32_t kind) noexcept;
  void (*died)(const void* handle, uint32_t kind) noexcept;
  /// Called before the tag is read. Throws StatusError for a handle that is not alive.
  void (*borrow)(const void* handle, uint32_t kind, const char* name);
  void (*give)(const void* handle, uint32_t kind) noexcept;
  /// Returns false for a handle that must not be taken (unknown, released twice); `Take` then
  /// answers null.
  bool (*take)(const void* handle, uint32_t kind) noexcept;
};

/// Null in a normal run. Set it before the first adapter exists, or never.
/// Hidden, so that two libraries in one process never share it.
[[gnu::visibility("hidden")]] inline constinit const CheckedHooks* checked_hooks = nullptr;

/// The kind of an adapter that was destroyed.
inline constexpr uint32_t kDeadKind = 0xDEADA11Eu;

/// First base of each adapter: the handle is its address, the kind tag its first four bytes.
class AdapterHeader {
 public:
  explicit AdapterHeader(uint32_t kind) noexcept : kind_(kind) {
    if (checked_hooks != nullptr) [[unlikely]]
      checked_hooks->born(this, kind);
  }
  AdapterHeader(const AdapterHeader& other) noexcept : AdapterHeader(other.kind_) {}
  AdapterHeader& operator=(const AdapterHeader&) noexcept { return *this; }

  uint32_t kind() const noexcept { return kind_; }

 protected:
  ~AdapterHeader() {
    if (checked_hooks != nullptr) [[unlikely]]
      checked_hooks->died(this, kind_);
    *const_cast<volatile uint32_t*>(&kind_) = kDeadKind;  // volatile: the store must survive the object's end
  }

 private:
  uint32_t kind_;
};
static_assert(sizeof(AdapterHeader) == sizeof(uint32_t));

/// Links an ORT tag to our object: `using Adapter`, `kKind` (unique, not 0) and `kName`. The tag
/// itself stays undefined. `Adapter` derives from AdapterHeader, without virtual inheritance, and
/// passes `kKind` to it.
template <class OrtTag>
struct HandleTraits;

template <class OrtTag>
using AdapterOf = typename HandleTraits<std::remove_const_t<OrtTag>>::Adapter;

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowWrongKind(const char* name, uint32_t expected, uint32_t kind) {
  throw StatusError(ORT_INVALID_ARGUMENT, std::string(name) + " is no live handle of its type, kind " +
                                              std::to_string(expected) + " expected, got " + std::to_string(kind));
}

}  // namespace detail

/// Returns the adapter behind a handle that somebody else keeps alive.
/// Throws ORT_INVALID_ARGUMENT for null, for a handle of another kind and for a released one.
template <class OrtTag>
auto Borrow(OrtTag* handle, const char* name = HandleTraits<std::remove_const_t<OrtTag>>::kName)
    -> std::conditional_t<std::is_const_v<OrtTag>, const AdapterOf<OrtTag>, AdapterOf<OrtTag>>& {
  using Traits = HandleTraits<std::remove_const_t<OrtTag>>;
  using Adapter = typename Traits::Adapter;
  static_assert(std::is_base_of_v<AdapterHeader, Adapter>);
  Require(handle, name);
  if (checked_hooks != nullptr) [[unlikely]]
    checked_hooks->borrow(handle, Traits::kKind, name);
  // SAFETY: every handle we gave out is the address of an AdapterHeader; the tag tells the
  // adapter's type.
  auto* header = reinterpret_cast<AdapterHeader*>(const_cast<std::remove_const_t<OrtTag>*>(handle));
  if (header->kind() != Traits::kKind) [[unlikely]]
    detail::ThrowWrongKind(name, Traits::kKind, header->kind());
  return *static_cast<Adapter*>(header);
}

/// Returns a handle to an adapter that stays ours; it is valid while the adapter lives.
template <class OrtTag>
const OrtTag* Lend(const AdapterOf<OrtTag>& adapter) noexcept {
  return reinterpret_cast<const OrtTag*>(static_cast<const AdapterHeader*>(&adapter));
}
template <class OrtTag>
OrtTag* Lend(AdapterOf<OrtTag>& adapter) noexcept {
  return reinterpret_cast<OrtTag*>(static_cast<AdapterHeader*>(&adapter));
}

/// Gives the adapter away; it comes back through `Take`. Null stays null.
template <class OrtTag>
OrtTag* Give(std::unique_ptr<AdapterOf<OrtTag>> adapter) noexcept {
  if (adapter == nullptr) return nullptr;
  OrtTag* handle = Lend<OrtTag>(*adapter);
  if (checked_hooks != nullptr) [[unlikely]]
    checked_hooks->give(handle, HandleTraits<OrtTag>::kKind);
  adapter.release();
  return handle;
}

/// Takes the adapter back. Null, and a handle that checked mode refuses, answer null: nothing is
/// released then. A handle of another kind is never destroyed as this one: it answers null too.
template <class OrtTag>
std::unique_ptr<AdapterOf<OrtTag>> Take(OrtTag* handle) noexcept {
  if (handle == nullptr) return nullptr;
  if (checked_hooks != nullptr && !checked_hooks->take(handle, HandleTraits<OrtTag>::kKind)) [[unlikely]]
    return nullptr;
  auto* header = reinterpret_cast<AdapterHeader*>(handle);
  if (header->kind() != HandleTraits<OrtTag>::kKind) [[unlikely]]
    return nullptr;
  return std::unique_ptr<AdapterOf<OrtTag>>(static_cast<AdapterOf<OrtTag>*>(header));
}

// --- Handles that we receive
// --------------------------------------------------------------------------------------

/// Calls the release slot that belongs to the handle's type.
template <class OrtTag>
struct HandleDeleter {
  const typename ReleaseSlot<OrtTag>::Table* table = nullptr;

  void operator()(OrtTag* handle) const noexcept { (table->*ReleaseSlot<OrtTag>::kSlot)(handle); }
};

/// A handle that we own; it must not outlive the table that releases it.
template <class OrtTag>
using OwnedHandle = std::unique_ptr<OrtTag, HandleDeleter<OrtTag>>;

/// Takes ownership of a handle received from `table`'s side.
template <class OrtTag>
OwnedHandle<OrtTag> Own(const typename ReleaseSlot<OrtTag>::Table& table, OrtTag* handle) noexcept {
  return OwnedHandle<OrtTag>(handle, HandleDeleter<OrtTag>{&table});
}

/// Throws the status of a slot of `api` as StatusError, released exactly once; null does nothing.
inline void ThrowIfError(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) [[likely]]
    return;
  OwnedHandle<OrtStatus> owned = Own(api, status);
  throw StatusError(api.GetErrorCode(status), api.GetErrorMessage(status));
}

/// Owns what a slot writes: `Receive<OrtValue>(api, api, [&](OrtValue** out) { return
/// api.CreateX(..., out); })`. Throws the slot's status.
template <class OrtTag, class Body>
OwnedHandle<OrtTag> Receive(const OrtApi& api, const typename ReleaseSlot<OrtTag>::Table& table, Body&& body) {
  OrtTag* handle = nullptr;
  ThrowIfError(api, body(&handle));
  return Own(table, handle);
}

}  // namespace ort_abi
