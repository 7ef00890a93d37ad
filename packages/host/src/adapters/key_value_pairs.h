// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/kinds.h"

namespace ort_host {

using ConfigEntries = std::vector<std::pair<std::string, std::string>>;

/// Behind OrtKeyValuePairs. Keeps the order of insertion, but replacing a value sorts all by key, as copies are.
/// Lives until ReleaseKeyValuePairs. Not thread-safe.
class KeyValuePairsAdapter final : public AdapterBase {
 public:
  KeyValuePairsAdapter() noexcept : AdapterBase(kKeyValuePairsKind) {}
  /// A copy, sorted by key.
  explicit KeyValuePairsAdapter(ConfigEntries entries);
  KeyValuePairsAdapter(const KeyValuePairsAdapter&) = delete;
  KeyValuePairsAdapter(KeyValuePairsAdapter&&) = default;  // the texts stay where they are

  void Set(std::string key, std::string value);
  /// The key is copied: it may be one of those that this lends.
  void Remove(std::string key);
  /// Null if there is no such key; valid until the next change.
  const char* Find(std::string_view key) const noexcept;
  const ConfigEntries& entries() const noexcept { return entries_; }
  const std::vector<const char*>& keys() const noexcept { return keys_; }
  const std::vector<const char*>& values() const noexcept { return values_; }

 private:
  void Refresh();

  ConfigEntries entries_;
  std::vector<const char*> keys_;
  std::vector<const char*> values_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtKeyValuePairs, KeyValuePairsAdapter, kKeyValuePairsKind, "key value pairs");
