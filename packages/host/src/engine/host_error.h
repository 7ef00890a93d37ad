// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace ort_host {

/// What leaves the host: an error code of the ABI (OrtErrorCode, kept as a plug-in gave it) and a message.
class HostError : public std::runtime_error {
 public:
  HostError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// OrtErrorCode; a code that the ABI does not list is passed through.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// Rethrows the exception in flight as HostError: light::Error and status errors keep their code, std::bad_alloc and
/// other exceptions become ORT_RUNTIME_EXCEPTION and ORT_FAIL.
[[noreturn]] void RethrowAsHostError();

}  // namespace ort_host
