// SPDX-License-Identifier: Apache-2.0
#include "adapters/logger.h"

#include <sys/uio.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace ort_host {
namespace {

std::atomic<int> g_default_severity{ORT_LOGGING_LEVEL_WARNING};

const char* SeverityName(int severity) noexcept {
  switch (severity) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return "verbose";
    case ORT_LOGGING_LEVEL_INFO:
      return "info";
    case ORT_LOGGING_LEVEL_WARNING:
      return "warning";
    case ORT_LOGGING_LEVEL_ERROR:
      return "error";
    case ORT_LOGGING_LEVEL_FATAL:
      return "fatal";
    default:
      return "severity ";
  }
}

/// One system call, so that lines of several threads do not mix.
void WriteLine(const char* head, const char* message, const char* tail) noexcept {
  char newline = '\n';
  iovec parts[] = {{const_cast<char*>(head), std::strlen(head)},
                   {const_cast<char*>(message), std::strlen(message)},
                   {const_cast<char*>(tail), std::strlen(tail)},
                   {&newline, 1}};
  [[maybe_unused]] const ssize_t written = writev(2, parts, 4);
}

}  // namespace

int LoggerAdapter::severity() const noexcept { return severity_ >= 0 ? severity_ : DefaultSeverity(); }

void LoggerAdapter::Log(int severity, const char* message, const char* file, int line,
                        const char* function) const noexcept {
  if (severity < this->severity()) return;
  char number[16] = "";
  if (severity > ORT_LOGGING_LEVEL_FATAL || severity < 0) std::snprintf(number, sizeof(number), "%d", severity);
  char head[160];
  std::snprintf(head, sizeof(head), "onnx-light-ort-host [%s%s] %.64s%s", SeverityName(severity), number, id_.c_str(),
                id_.empty() ? "" : ": ");
  char tail[320] = "";
  if (file != nullptr || function != nullptr) {
    const char* slash = file != nullptr ? std::strrchr(file, '/') : nullptr;
    const char* base = slash != nullptr ? slash + 1 : file;
    std::snprintf(tail, sizeof(tail), " (%.120s:%d%s%.120s)", base != nullptr ? base : "?", line,
                  function != nullptr ? " " : "", function != nullptr ? function : "");
  }
  WriteLine(head, message != nullptr ? message : "", tail);
}

const LoggerAdapter& DefaultLogger() noexcept {
  static const LoggerAdapter& logger = *new LoggerAdapter(-1, "");
  return logger;
}

void SetDefaultSeverity(int severity) noexcept { g_default_severity.store(severity, std::memory_order_relaxed); }
int DefaultSeverity() noexcept { return g_default_severity.load(std::memory_order_relaxed); }

void LogLine(int severity, const std::string& message) noexcept { DefaultLogger().Log(severity, message.c_str()); }

void LogAlways(const char* message) noexcept { WriteLine("onnx-light-ort-host: ", message, ""); }

}  // namespace ort_host
