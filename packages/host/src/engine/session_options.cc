// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "engine/engine.h"
#include "engine/registration.h"
#include "engine/session_options_impl.h"

namespace ort_host {
namespace {

void CheckRange(const char* option, bool is_valid, int value) {
  if (!is_valid)
    throw HostError(ORT_INVALID_ARGUMENT, std::string(option) + ": out of range, got " + std::to_string(value));
}

}  // namespace

std::vector<CustomOpSource> SessionOptionsState::Sources() const {
  std::vector<CustomOpSource> sources;
  for (const StagedDomain& staged : adapter.domains()) {
    sources.push_back({staged.domain, libraries.at(staged.library)});
  }
  return sources;
}

SessionOptions::SessionOptions() : impl_(std::make_unique<SessionOptionsImpl>()) {}
SessionOptions::~SessionOptions() = default;

void SessionOptions::set_intra_op_threads(int threads) {
  CheckRange("intra_op_num_threads", threads >= 0, threads);
  std::lock_guard lock(impl_->mutex);
  impl_->state.intra_op_threads = threads;
}
int SessionOptions::intra_op_threads() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.intra_op_threads;
}

void SessionOptions::set_memory_limit_bytes(std::size_t bytes) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.memory_limit_bytes = bytes;
}
std::size_t SessionOptions::memory_limit_bytes() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.memory_limit_bytes;
}

void SessionOptions::set_log_severity(int severity) {
  CheckRange("log_severity_level", severity >= -1 && severity <= ORT_LOGGING_LEVEL_FATAL, severity);
  std::lock_guard lock(impl_->mutex);
  impl_->state.log_severity = severity;
}
int SessionOptions::log_severity() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.log_severity;
}
void SessionOptions::set_log_id(const std::string& id) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.log_id = id;
}
void SessionOptions::set_allow_onnx_domain_override(bool allow) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.allow_onnx_override = allow;
}
void SessionOptions::set_reference_fallback(bool allow) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.reference_fallback = allow;
}
bool SessionOptions::reference_fallback() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.reference_fallback;
}

void SessionOptions::AddConfigEntry(const std::string& key, const std::string& value) {
  std::lock_guard lock(impl_->mutex);
  const std::string problem = impl_->state.adapter.SetConfig(key, value);
  if (!problem.empty()) throw HostError(ORT_INVALID_ARGUMENT, problem);
}

bool SessionOptions::GetConfigEntry(const std::string& key, std::string* value) const {
  std::lock_guard lock(impl_->mutex);
  const std::string* found = impl_->state.adapter.FindConfig(key);
  if (found == nullptr) return false;
  *value = *found;
  return true;
}

void SessionOptions::RegisterCustomOpsLibrary(const std::string& path) {
  try {
    const SessionOptionsAdapter before = impl_->Snapshot().adapter;
    Registration registration(before);
    registration.Run(path);
    std::lock_guard lock(impl_->mutex);
    impl_->state.libraries.emplace(registration.library()->path(), registration.library());
    impl_->state.adapter.Merge(before, registration.staged());
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace ort_host
