// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <ort_abi/ort_c_api.h>

namespace ort_abi {

/// An error with the code that a status will carry; an ORT_OK code becomes ORT_FAIL.
class StatusError : public std::runtime_error {
 public:
  StatusError(OrtErrorCode code, const std::string& message)
      : std::runtime_error(message), code_(code == ORT_OK ? ORT_FAIL : code) {}

  OrtErrorCode code() const noexcept { return code_; }

 private:
  OrtErrorCode code_;
};

/// Throws "<name> is null"; out of line, so that the test before it stays small.
[[noreturn, gnu::cold, gnu::noinline]] inline void ThrowNull(const char* name) {
  throw StatusError(ORT_INVALID_ARGUMENT, std::string(name) + " is null");
}

/// Returns the pointer. Throws ORT_INVALID_ARGUMENT "<name> is null".
template <class T>
T* Require(T* pointer, const char* name) {
  if (pointer == nullptr) [[unlikely]]
    ThrowNull(name);
  return pointer;
}

}  // namespace ort_abi
