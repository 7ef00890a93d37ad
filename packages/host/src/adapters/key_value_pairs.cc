// SPDX-License-Identifier: Apache-2.0
#include "adapters/key_value_pairs.h"

#include <algorithm>

namespace ort_host {

KeyValuePairsAdapter::KeyValuePairsAdapter(ConfigEntries entries)
    : AdapterBase(kKeyValuePairsKind), entries_(std::move(entries)) {
  std::sort(entries_.begin(), entries_.end());
  Refresh();
}

void KeyValuePairsAdapter::Set(std::string key, std::string value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == key; });
  if (found == entries_.end()) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    found->second = std::move(value);
    std::sort(entries_.begin(), entries_.end());
  }
  Refresh();
}

void KeyValuePairsAdapter::Remove(std::string key) {
  std::erase_if(entries_, [&](const auto& e) { return e.first == key; });
  Refresh();
}

const char* KeyValuePairsAdapter::Find(std::string_view key) const noexcept {
  for (const auto& [name, value] : entries_) {
    if (name == key) return value.c_str();
  }
  return nullptr;
}

void KeyValuePairsAdapter::Refresh() {
  keys_.clear();
  values_.clear();
  for (const auto& [key, value] : entries_) {
    keys_.push_back(key.c_str());
    values_.push_back(value.c_str());
  }
}

}  // namespace ort_host
