// SPDX-License-Identifier: Apache-2.0
#include "adapters/logger.h"

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

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

bool IsControl(const char* at) noexcept {
  const auto byte = static_cast<unsigned char>(*at);
  // The control characters of Latin-1 are 0xC2 0x80 to 0xC2 0x9F in UTF-8.
  return (byte < 0x20 && byte != '\t') || byte == 0x7F || (byte == 0xC2 && (at[1] & 0xE0) == 0x80);
}

bool HasControls(const char* text) noexcept {
  for (; *text != '\0'; ++text) {
    if (IsControl(text)) return true;
  }
  return false;
}

/// Text on one line that does nothing to a terminal: it comes from models and libraries, and may hold false lines.
std::string Escaped(const char* text) {
  std::string result;
  for (; *text != '\0'; ++text) {
    if (*text == '\n') {
      result += "\\n";
    } else if (IsControl(text)) {
      if (static_cast<unsigned char>(*text) == 0xC2) ++text;
      char code[8];
      std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned char>(*text));
      result += code;
    } else {
      result += *text;
    }
  }
  return result;
}

/// One system call, so that lines of several threads do not mix.
void WriteLine(const char* head, const char* message, const char* tail) noexcept {
  std::array<std::string, 3> escaped;
  std::size_t i = 0;
  for (const char** part : {&head, &message, &tail}) {
    if (!HasControls(*part)) continue;
    try {
      escaped[i] = Escaped(*part);
      *part = escaped[i++].c_str();
    } catch (const std::bad_alloc&) {
      *part = "(no memory for a line with control characters)";
    }
  }
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
