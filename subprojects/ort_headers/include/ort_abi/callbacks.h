// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include <ort_abi/members.h>
#include <ort_abi/status_error.h>

namespace ort_abi {

/// Reads and releases the statuses that callbacks return.
template <class Policy>
concept StatusPolicy = requires(const OrtStatus* status, OrtStatus* owned) {
  { Policy::Code(status) } noexcept -> std::same_as<OrtErrorCode>;
  { Policy::Message(status) } noexcept -> std::convertible_to<const char*>;
  { Policy::Release(owned) } noexcept;
};

/// Throws ORT_INVALID_ARGUMENT naming the struct if its version field is 0. Not for structs with an
/// unreliable field.
template <class Struct>
void RequireVersion(const Struct* object) {
  using Info = StructInfo<std::remove_const_t<Struct>>;
  static_assert(Info::kGated, "the version field of this struct holds garbage in real libraries");
  Require(object, Info::kName);
  if (Info::Version(object) == 0) [[unlikely]] {
    throw StatusError(ORT_INVALID_ARGUMENT,
                      std::string(Info::kName) + ": " + Info::kVersionField + " must be an API version, got 0");
  }
}

/// Tells whether a plugin's struct is new enough to have the member, then whether the member is
/// set. A struct built against older headers ends earlier: nothing behind its end is read.
template <auto kMember>
bool Has(const typename MemberInfo<kMember>::Struct* object) noexcept {
  using Info = MemberInfo<kMember>;
  if constexpr (Info::kGated) {
    if (StructInfo<typename Info::Struct>::Version(object) < Info::kSince) return false;
  }
  return object->*kMember != nullptr;
}

namespace detail {

template <class Pointer>
struct CallbackType;
template <class R, class... A>
struct CallbackType<R(ORT_API_CALL*)(A...)> {
  static constexpr size_t kArity = sizeof...(A);
};
template <class R, class... A>
struct CallbackType<R(ORT_API_CALL*)(A...) noexcept> : CallbackType<R(ORT_API_CALL*)(A...)> {};

template <StatusPolicy Policy>
[[noreturn, gnu::cold, gnu::noinline]] void ThrowStatus(OrtStatus* status) {
  struct Owner {
    OrtStatus* status;
    ~Owner() { Policy::Release(status); }
  } owner{status};
  const char* message = Policy::Message(status);
  throw StatusError(Policy::Code(status), message == nullptr ? "" : message);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowThrown(const char* name, const char* what) {
  throw StatusError(ORT_RUNTIME_EXCEPTION, std::string(name) + ": the callback threw, got " +
                                               (what != nullptr ? what : "an exception without a message"));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowMissing(const char* name) {
  throw StatusError(ORT_FAIL, std::string(name) + ": a required callback is missing, got null");
}

}  // namespace detail

namespace detail {

/// Unwinding that ends the thread binds no object to its handler's reference, hence no null check
/// of the sanitizer.
template <class Function, class... Args>
[[gnu::no_sanitize("null")]] auto CallGuarded(const char* name, Function* function, Args&&... args)
    -> std::invoke_result_t<Function*, Args...> {
  try {
    return function(std::forward<Args>(args)...);
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    ThrowThrown(name, error.what());
  } catch (...) {
    ThrowThrown(name, "an exception that is no std::exception");
  }
}

}  // namespace detail

/// Calls a plugin's function under a catch-all and returns its result; a status result becomes
/// void.
///
/// Throws StatusError: with code and message of a returned status, which is released exactly once,
/// or with ORT_RUNTIME_EXCEPTION for anything that the function threw. Unwinding that ends the
/// thread passes through.
template <StatusPolicy Policy, class Function, class... Args>
auto CallFunction(const char* name, Function* function, Args&&... args) {
  using Result = std::invoke_result_t<Function*, Args...>;
  if constexpr (std::is_same_v<Result, OrtStatus*>) {
    OrtStatus* status = detail::CallGuarded(name, function, std::forward<Args>(args)...);
    if (status != nullptr) [[unlikely]]
      detail::ThrowStatus<Policy>(status);
  } else {
    return detail::CallGuarded(name, function, std::forward<Args>(args)...);
  }
}

/// Calls a plugin's callback as `CallFunction` does. Throws ORT_FAIL naming struct and member if it
/// is missing.
///
/// The struct itself is passed first unless the callback has no parameter for it
/// (OrtCustomOp::KernelCompute and its like).
template <auto kMember, StatusPolicy Policy, class Object, class... Args>
auto Call(Object* object, Args&&... args) {
  using Info = MemberInfo<kMember>;
  if (!Has<kMember>(object)) [[unlikely]]
    detail::ThrowMissing(Info::kLabel);
  auto function = object->*kMember;
  if constexpr (detail::CallbackType<decltype(function)>::kArity == sizeof...(Args)) {
    return CallFunction<Policy>(Info::kLabel, function, std::forward<Args>(args)...);
  } else {
    return CallFunction<Policy>(Info::kLabel, function, object, std::forward<Args>(args)...);
  }
}

}  // namespace ort_abi
