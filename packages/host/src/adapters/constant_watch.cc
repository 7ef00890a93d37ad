// SPDX-License-Identifier: Apache-2.0
#include "adapters/constant_watch.h"

#include "adapters/findings.h"
#include "adapters/guarded_tensors.h"

namespace ort_host {

void ConstantWatch::Show(const std::string& name, const light::Tensor& constant) {
  if (constant.byte_size() == 0) return;
  const std::lock_guard lock(mutex_);
  if (!shown_.contains(constant.data())) shown_.emplace(constant.data(), Shown{name, constant, HashOf(constant)});
}

std::string ConstantWatch::Judge(const std::string& label, const char* callback) {
  std::string first;
  const std::lock_guard lock(mutex_);
  for (auto& [elements, shown] : shown_) {
    const std::size_t hash = HashOf(shown.tensor);
    if (hash == shown.hash) continue;
    shown.hash = hash;
    const std::string what = "the provider changed the constant '" + shown.name + "'";
    checked::Report("input_written", callback, label + ": " + what);
    if (first.empty()) first = "input_written: " + what;
  }
  return first;
}

}  // namespace ort_host
