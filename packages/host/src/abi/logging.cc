// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/logger.h"

namespace ort_host::abi {
namespace {

OrtStatus* ORT_API_CALL Logger_LogMessage(const OrtLogger* logger, OrtLoggingLevel log_severity_level,
                                          const char* message, const ORTCHAR_T* file_path, int line_number,
                                          const char* func_name) noexcept {
  return Guard("Logger_LogMessage",
               [&] { Borrow(logger).Log(log_severity_level, message, file_path, line_number, func_name); });
}

OrtStatus* ORT_API_CALL Logger_GetLoggingSeverityLevel(const OrtLogger* logger, OrtLoggingLevel* out) noexcept {
  return Guard("Logger_GetLoggingSeverityLevel",
               [&] { Out(out) = static_cast<OrtLoggingLevel>(Borrow(logger).severity()); });
}

}  // namespace

void FillLogging(OrtApi& table) noexcept {
  table.Logger_LogMessage = Logger_LogMessage;
  table.Logger_GetLoggingSeverityLevel = Logger_GetLoggingSeverityLevel;
}

}  // namespace ort_host::abi
