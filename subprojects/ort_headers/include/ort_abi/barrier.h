// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include <ort_abi/status_error.h>

namespace ort_abi {

/// Makes a status; copies the message. Never answers null for lack of memory if it can help it.
using StatusMaker = OrtStatus* (*)(OrtErrorCode code, const char* message);

/// Longest message of a status, as ORT cuts it.
inline constexpr size_t kMaxMessage = 4096;

namespace detail {

/// Makes a status "<slot>: <message>" without allocating here, since memory may be what is missing.
template <StatusMaker kMake>
[[gnu::cold, gnu::noinline]] OrtStatus* MakeNamed(const char* slot, OrtErrorCode code, const char* message) noexcept {
  char text[kMaxMessage];
  std::snprintf(text, sizeof(text), "%s: %s", slot, message);
  OrtStatus* status = kMake(code, text);
  if (status == nullptr) status = kMake(code, "out of memory");
  if (status == nullptr) std::terminate();  // null would tell the caller that all went well
  return status;
}

}  // namespace detail

/// The slot a body runs for; makes the statuses that the body returns for expected outcomes.
template <StatusMaker kMake>
class Slot {
 public:
  explicit constexpr Slot(const char* name) noexcept : name_(name) {}

  constexpr const char* name() const noexcept { return name_; }

  /// Returns a status "<slot>: <formatted>". Returning it costs a fraction of a throw.
  [[nodiscard, gnu::cold, gnu::format(printf, 3, 4)]] OrtStatus* Fail(OrtErrorCode code, const char* format,
                                                                      ...) const noexcept {
    char text[kMaxMessage];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return detail::MakeNamed<kMake>(name_, code, text);
  }

 private:
  const char* name_;
};

/// Runs the body of a status-returning C function; the one place that catches at a C boundary.
///
/// The body takes nothing or a `Slot<kMake>`, and returns void or `OrtStatus*`.
/// Returns the body's status, null if it returns void. A StatusError keeps its code, any other
/// std::exception becomes ORT_RUNTIME_EXCEPTION, anything else ORT_FAIL; the message starts with
/// the slot's name. Only the unwinding that ends a thread passes through; a caller that is noexcept
/// terminates then. (Such unwinding binds no object to its handler's reference, hence no null check
/// of the sanitizer here.)
template <StatusMaker kMake, class Body>
[[gnu::no_sanitize("null")]] OrtStatus* Guard(const char* slot, Body&& body) {
  try {
    if constexpr (std::is_invocable_v<Body, Slot<kMake>>) {
      if constexpr (std::is_void_v<std::invoke_result_t<Body, Slot<kMake>>>) {
        body(Slot<kMake>(slot));
        return nullptr;
      } else {
        return body(Slot<kMake>(slot));
      }
    } else if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return nullptr;
    } else {
      return body();
    }
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const StatusError& error) {
    return detail::MakeNamed<kMake>(slot, error.code(), error.what());
  } catch (const std::exception& error) {
    return detail::MakeNamed<kMake>(slot, ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return detail::MakeNamed<kMake>(slot, ORT_FAIL, "an exception that is no std::exception");
  }
}

}  // namespace ort_abi
