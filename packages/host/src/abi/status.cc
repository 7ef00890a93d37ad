// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"

namespace ort_host::abi {
namespace {

OrtStatus* ORT_API_CALL CreateStatus(OrtErrorCode code, const char* message) noexcept {
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    checked::EnterSlot("CreateStatus");
  return MakeStatus(code, message);
}

OrtErrorCode ORT_API_CALL GetErrorCode(const OrtStatus* status) noexcept {
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    checked::EnterSlot("GetErrorCode");
  return status != nullptr ? HostStatus::Code(status) : ORT_OK;
}

const char* ORT_API_CALL GetErrorMessage(const OrtStatus* status) noexcept {
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    checked::EnterSlot("GetErrorMessage");
  return status != nullptr ? HostStatus::Message(status) : "";
}

void ORT_API_CALL ReleaseStatus(OrtStatus* status) noexcept {
  if (ort_abi::checked_hooks != nullptr) [[unlikely]]
    checked::EnterSlot("ReleaseStatus");
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
