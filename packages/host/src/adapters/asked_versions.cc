// SPDX-License-Identifier: Apache-2.0
#include "adapters/asked_versions.h"

#include <algorithm>

namespace ort_host {
namespace {

constinit thread_local AskedVersions* t_list = nullptr;

}  // namespace

void AskedVersions::Add(uint32_t version) noexcept {
  const auto end = versions_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (count_ == versions_.size() || std::find(versions_.begin(), end, version) != end) return;
  versions_[count_++] = version;
}

void AskedVersions::Note(uint32_t version) noexcept {
  if (t_list != nullptr) t_list->Add(version);
}

AskedVersions::Recording::Recording(AskedVersions& list) noexcept : outer_(t_list) { t_list = &list; }
AskedVersions::Recording::~Recording() { t_list = outer_; }

}  // namespace ort_host
