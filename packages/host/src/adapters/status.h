// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "adapters/kinds.h"
#include "light/error.h"

namespace ort_host {

/// Behind OrtStatus: a code and a message. Lives until ReleaseStatus.
class StatusAdapter final : public AdapterBase {
 public:
  StatusAdapter(OrtErrorCode code, std::string message)
      : AdapterBase(kStatusKind), code_(code), message_(std::move(message)) {}

  OrtErrorCode code() const noexcept { return code_; }
  const char* message() const noexcept { return message_.c_str(); }

 private:
  OrtErrorCode code_;
  std::string message_;
};

/// Makes a status that the receiver releases; the message is copied, at most ort_abi::kMaxMessage bytes of it. Null
/// counts as an empty message. Out of memory gives one static status, never null.
OrtStatus* MakeStatus(OrtErrorCode code, const char* message) noexcept;

/// Releases a status of ours; null and the static one are left alone.
void ReleaseStatusHandle(OrtStatus* status) noexcept;

/// How the host reads the statuses that callbacks return: the policy of ort_abi::Call and ort_abi::CallFunction.
struct HostStatus {
  static OrtErrorCode Code(const OrtStatus* status) noexcept;
  static const char* Message(const OrtStatus* status) noexcept;
  static void Release(OrtStatus* status) noexcept;
};

/// The code of the ABI for an error of the runtime: the foreign code if it carries one.
OrtErrorCode ToOrtCode(const light::Error& error) noexcept;

/// The error of the runtime that carries a code of the ABI, kept as its foreign code.
light::Error ToLightError(int code, const std::string& message);

}  // namespace ort_host

ORT_HOST_HANDLE(OrtStatus, StatusAdapter, kStatusKind, "status");
