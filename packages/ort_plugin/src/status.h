// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include <ort_abi/status_error.h>

#include "light/error.h"

namespace ort_plugin {

/// A status of `api`: two hosts in one process each have a table of their own. Terminates the process if not even a
/// short one can be made, because null would mean success.
[[gnu::cold]] OrtStatus* MakeStatus(const OrtApi& api, OrtErrorCode code, const char* message) noexcept;

OrtErrorCode ToOrtCode(light::ErrorCode code) noexcept;

namespace detail {
/// The status of the exception that is being handled. Unwinding that ends a thread passes through.
[[gnu::cold, gnu::noinline]] OrtStatus* StatusOfException(const OrtApi& api, const char* where);
}  // namespace detail

/// Runs the body of a function that the host calls; nothing else here catches at that boundary. The body returns void
/// or a status of its own; what it throws becomes a status that starts with `where`, unless that is "".
template <class Body>
[[gnu::no_sanitize("null")]] OrtStatus* Guard(const OrtApi& api, const char* where, Body&& body) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return nullptr;
    } else {
      return body();
    }
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return detail::StatusOfException(api, where);
  }
}

}  // namespace ort_plugin
