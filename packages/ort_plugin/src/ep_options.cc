// SPDX-License-Identifier: Apache-2.0
#include "ep_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include <ort_abi/handle.h>

#include "api.h"
#include "operator_names.h"

namespace ort_plugin {
namespace {

using ort_abi::StatusError;

std::string Prefix() {
  std::string prefix = std::string("ep.") + kEpName + ".";
  std::transform(prefix.begin(), prefix.end(), prefix.begin(), [](unsigned char c) { return std::tolower(c); });
  return prefix;
}

[[noreturn]] void Refuse(std::string_view name, const std::string& rule, std::string_view value) {
  throw StatusError(ORT_INVALID_ARGUMENT,
                    "option '" + std::string(name) + "': " + rule + ", got '" + std::string(value) + "'");
}

int ReadThreads(std::string_view name, std::string_view value) {
  constexpr int kMostThreads = 1024;
  int threads = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (error != std::errc() || end != value.data() + value.size() || threads < 0 || threads > kMostThreads) {
    Refuse(name, "must be a number from 0 (all of the session's threads) to " + std::to_string(kMostThreads), value);
  }
  return threads;
}

bool ReadMode(std::string_view name, std::string_view value) {
  if (value != "kernel" && value != "compile") Refuse(name, "must be 'kernel' or 'compile'", value);
  return value == "compile";
}

bool ReadFlag(std::string_view name, std::string_view value) {
  if (value != "0" && value != "1") Refuse(name, "must be '0' or '1'", value);
  return value == "1";
}

}  // namespace

EpOptions ReadEpOptions(const OrtApi& api, const OrtSessionOptions* session_options) {
  const auto entries = ort_abi::Receive<OrtKeyValuePairs>(
      api, api, [&](OrtKeyValuePairs** out) { return api.GetSessionOptionsConfigEntries(session_options, out); });
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  std::size_t count = 0;
  api.GetKeyValuePairs(entries.get(), &keys, &values, &count);
  const std::string prefix = Prefix();
  EpOptions options;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name = keys[i];
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name == "threads") {
      options.threads = ReadThreads(name, values[i]);
    } else if (name == "operators") {
      options.operators = ReadOperatorNames("option 'operators'", values[i]);
    } else if (name == "mode") {
      options.compiles = ReadMode(name, values[i]);
    } else if (name == "winograd") {
      options.winograd = ReadFlag(name, values[i]);
    } else if (name == "float16") {
      options.float16 = ReadFlag(name, values[i]);
    } else {
      Refuse(name, "must be one of threads, operators, mode, winograd, float16", values[i]);
    }
  }
  return options;
}

}  // namespace ort_plugin
