// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "adapters/kinds.h"

namespace ort_host {

/// Behind OrtLogger: writes lines to stderr, from any thread, without the GIL. Lives as long as its session.
class LoggerAdapter final : public AdapterHeader {
 public:
  LoggerAdapter(int severity, std::string id) : AdapterHeader(kLoggerKind), severity_(severity), id_(std::move(id)) {}

  int severity() const noexcept { return severity_; }
  const std::string& id() const noexcept { return id_; }
  bool Writes(int severity) const noexcept { return severity >= severity_; }

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
/// Writes one line at that severity through the default logger's rules.
void LogLine(int severity, const std::string& message) noexcept;

}  // namespace ort_host

ORT_HOST_HANDLE(OrtLogger, LoggerAdapter, kLoggerKind, "logger");
