// SPDX-License-Identifier: Apache-2.0
#include "adapters/session_options.h"

#include "adapters/logger.h"

namespace ort_host {
namespace {

constexpr std::size_t kMaxKey = 1024;
constexpr std::size_t kMaxValue = 8192;

}  // namespace

std::string SessionOptionsAdapter::SetConfig(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > kMaxKey) {
    return "config key: 1 to " + std::to_string(kMaxKey) + " bytes are allowed, got " + std::to_string(key.size());
  }
  if (value.size() > kMaxValue) {
    return "config value of '" + std::string(key) + "': at most " + std::to_string(kMaxValue) +
           " bytes are allowed, got " + std::to_string(value.size());
  }
  for (auto& [name, old] : config_) {
    if (name != key) continue;
    if (old != value) {
      LogLine(ORT_LOGGING_LEVEL_INFO, "config entry '" + name + "' is overwritten, was '" + old + "'");
    }
    old = value;
    return "";
  }
  config_.emplace_back(key, value);
  return "";
}

const std::string* SessionOptionsAdapter::FindConfig(std::string_view key) const noexcept {
  for (const auto& [name, value] : config_) {
    if (name == key) return &value;
  }
  return nullptr;
}

void SessionOptionsAdapter::Merge(const SessionOptionsAdapter& before, const SessionOptionsAdapter& after) {
  domains_.insert(domains_.end(), after.domains_.begin() + static_cast<std::ptrdiff_t>(before.domains_.size()),
                  after.domains_.end());
  for (const auto& [key, value] : after.config_) {
    const std::string* old = before.FindConfig(key);
    if (old == nullptr || *old != value) SetConfig(key, value);
  }
}

}  // namespace ort_host
