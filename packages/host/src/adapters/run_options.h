// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "adapters/key_value_pairs.h"

namespace ort_host {

/// Behind OrtRunOptions: what a provider may know of the run that it is told of. Lives as long as the run.
class RunOptionsAdapter final : public AdapterBase {
 public:
  /// @param entries  outlive this; may be null
  explicit RunOptionsAdapter(const ConfigEntries* entries) noexcept : AdapterBase(kRunOptionsKind), entries_(entries) {}
  RunOptionsAdapter(const RunOptionsAdapter&) = delete;

  /// Null if there is no such entry.
  const std::string* Find(std::string_view key) const noexcept {
    if (entries_ == nullptr) return nullptr;
    for (const auto& [name, value] : *entries_) {
      if (name == key) return &value;
    }
    return nullptr;
  }

 private:
  const ConfigEntries* entries_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtRunOptions, RunOptionsAdapter, kRunOptionsKind, "run options");
