// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <ort_abi/callbacks.h>

#include "adapters/status.h"

namespace ort_host {

/// Runs `call`, which throws StatusError, and names the function if the library's words do not.
template <class Body>
auto Named(const char* name, Body&& call) {
  try {
    return call();
  } catch (const ort_abi::StatusError& error) {
    if (std::string_view(error.what()).find(name) != std::string_view::npos) throw;
    throw ort_abi::StatusError(error.code(), std::string(name) + ": " + error.what());
  }
}

/// Calls a callback of a factory; throws StatusError, which names it.
template <auto kMember, class... Args>
auto CallNamed(OrtEpFactory* factory, Args... args) {
  return Named(ort_abi::MemberInfo<kMember>::kLabel,
               [&] { return ort_abi::Call<kMember, HostStatus>(factory, args...); });
}

}  // namespace ort_host
