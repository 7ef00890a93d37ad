// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "adapters/kinds.h"

namespace ort_host {

/// Behind OrtLogger: writes lines to stderr, from any thread, without the GIL. Lives as long as its session.
class LoggerAdapter final : public AdapterBase {
 public:
  /// @param severity  -1 follows the default logger
  LoggerAdapter(int severity, std::string id) : AdapterBase(kLoggerKind), severity_(severity), id_(std::move(id)) {}

  int severity() const noexcept;
  const std::string& id() const noexcept { return id_; }

  /// Writes one line if the severity reaches the logger's. `message` is literal; null strings are left out.
  void Log(int severity, const char* message, const char* file = nullptr, int line = 0,
           const char* function = nullptr) const noexcept;

 private:
  int severity_;
  std::string id_;
};

/// The logger of what belongs to no session. Never destroyed.
const LoggerAdapter& DefaultLogger() noexcept;
/// 0 verbose ... 4 fatal; of the default logger and of sessions without a severity of their own.
void SetDefaultSeverity(int severity) noexcept;
int DefaultSeverity() noexcept;
/// Writes one line through the default logger.
void LogLine(int severity, const std::string& message) noexcept;
/// Writes one line whatever the default severity is: for refusals that a library cannot be told.
void LogAlways(const char* message) noexcept;

}  // namespace ort_host

ORT_HOST_HANDLE(OrtLogger, LoggerAdapter, kLoggerKind, "logger");
