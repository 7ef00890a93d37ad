// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"

namespace ort_host::abi {
namespace {

OrtStatus* ORT_API_CALL CreateStatus(OrtErrorCode code, const char* message) noexcept {
  const checked::InSlot in_slot("CreateStatus");
  return MakeStatus(code, message);
}

OrtErrorCode ORT_API_CALL GetErrorCode(const OrtStatus* status) noexcept {
  const checked::InSlot in_slot("GetErrorCode");
  return status != nullptr ? HostStatus::Code(status) : ORT_OK;
}

const char* ORT_API_CALL GetErrorMessage(const OrtStatus* status) noexcept {
  const checked::InSlot in_slot("GetErrorMessage");
  if (status == nullptr) return "";
  if (checked::enabled()) checked::IsUsable(status, kStatusKind, true);
  return HostStatus::Message(status);
}

void ORT_API_CALL ReleaseStatus(OrtStatus* status) noexcept {
  const checked::InSlot in_slot("ReleaseStatus");
  ReleaseStatusHandle(status);
}

}  // namespace

void FillStatus(OrtApi& table) noexcept {
  table.CreateStatus = CreateStatus;
  table.GetErrorCode = GetErrorCode;
  table.GetErrorMessage = GetErrorMessage;
  table.ReleaseStatus = ReleaseStatus;
}

}  // namespace ort_host::abi
