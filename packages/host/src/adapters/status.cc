// SPDX-License-Identifier: Apache-2.0
#include "adapters/status.h"

#include <cstring>
#include <new>

#include <ort_abi/barrier.h>

#include "adapters/checked.h"

namespace ort_host {
namespace {

/// Made before memory runs out: the first status makes it.
OrtStatus* OutOfMemory() noexcept {
  alignas(StatusAdapter) static std::byte storage[sizeof(StatusAdapter)];
  static StatusAdapter* const status = new (storage) StatusAdapter(ORT_RUNTIME_EXCEPTION, "out of memory");
  return ort_abi::Lend<OrtStatus>(*status);
}

const StatusAdapter& Read(const OrtStatus* status) noexcept {
  return *static_cast<const StatusAdapter*>(reinterpret_cast<const ort_abi::AdapterHeader*>(status));
}

/// False for what is no live status. Libraries return all sorts of pointers, and there is no status to tell them with.
bool IsStatus(const OrtStatus* status, bool is_reported) noexcept {
  if (checked::enabled()) [[unlikely]]
    return checked::IsUsable(status, kStatusKind, is_reported);
  return reinterpret_cast<const ort_abi::AdapterHeader*>(status)->kind() == kStatusKind;
}

}  // namespace

OrtStatus* MakeStatus(OrtErrorCode code, const char* message) noexcept {
  OrtStatus* const fallback = OutOfMemory();
  if (message == nullptr) message = "";
  try {
    return ort_abi::Give<OrtStatus>(
        std::make_unique<StatusAdapter>(code, std::string(message, strnlen(message, ort_abi::kMaxMessage))));
  } catch (const std::bad_alloc&) {
    return fallback;
  }
}

void ReleaseStatusHandle(OrtStatus* status) noexcept {
  if (status == OutOfMemory()) return;
  ort_abi::Take(status);
}

OrtErrorCode HostStatus::Code(const OrtStatus* status) noexcept {
  return IsStatus(status, true) ? Read(status).code() : ORT_FAIL;
}
const char* HostStatus::Message(const OrtStatus* status) noexcept {
  return IsStatus(status, false) ? Read(status).message() : "what it returned is no status, or was released before";
}
void HostStatus::Release(OrtStatus* status) noexcept {
  if (IsStatus(status, false)) ReleaseStatusHandle(status);
}

OrtErrorCode ToOrtCode(const light::Error& error) noexcept {
  if (error.foreign_code() != 0) return static_cast<OrtErrorCode>(error.foreign_code());
  switch (error.code()) {
    case light::ErrorCode::kFail:
      return ORT_FAIL;
    case light::ErrorCode::kInvalidArgument:
      return ORT_INVALID_ARGUMENT;
    case light::ErrorCode::kNoSuchFile:
      return ORT_NO_SUCHFILE;
    case light::ErrorCode::kInvalidProtobuf:
      return ORT_INVALID_PROTOBUF;
    case light::ErrorCode::kInvalidGraph:
      return ORT_INVALID_GRAPH;
    case light::ErrorCode::kNotImplemented:
      return ORT_NOT_IMPLEMENTED;
    case light::ErrorCode::kEpFail:
      return ORT_EP_FAIL;
    case light::ErrorCode::kRuntimeException:
      return ORT_RUNTIME_EXCEPTION;
  }
  return ORT_FAIL;
}

light::Error ToLightError(int code, const std::string& message) {
  return light::Error(light::ErrorCode::kFail, message, code == ORT_OK ? ORT_FAIL : code);
}

}  // namespace ort_host
