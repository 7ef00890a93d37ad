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
    sources.push_back({staged.domain, libraries.at(staged.library), staged.provider});
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
void SessionOptions::set_graph_optimization_level(int level) {
  CheckRange("graph_optimization_level", level >= 0, level);
  std::lock_guard lock(impl_->mutex);
  impl_->state.graph_optimization_level = level;
}
int SessionOptions::graph_optimization_level() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.graph_optimization_level;
}

void SessionOptions::set_reference_fallback(bool allow) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.reference_fallback = allow;
}
bool SessionOptions::reference_fallback() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.reference_fallback;
}
void SessionOptions::set_winograd(bool allow) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.winograd = allow;
}
bool SessionOptions::winograd() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.winograd;
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

void SessionOptions::set_broken_groups(const std::string& policy) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.broken_groups = policy;
}
std::string SessionOptions::broken_groups() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.broken_groups;
}

void SessionOptions::set_strict_layout(bool strict) {
  std::lock_guard lock(impl_->mutex);
  impl_->state.strict_layout = strict;
}
bool SessionOptions::strict_layout() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->state.strict_layout;
}

std::unique_ptr<SessionOptions> SessionOptions::CopyWithoutProviders() const {
  auto copy = std::make_unique<SessionOptions>();
  copy->impl_->state = impl_->Snapshot();
  copy->impl_->state.providers.clear();
  return copy;
}

bool SessionOptions::has_providers() const {
  std::lock_guard lock(impl_->mutex);
  return !impl_->state.providers.empty();
}

void SessionOptions::AddProviderForDevices(const std::vector<EpDeviceId>& devices,
                                           const std::vector<std::pair<std::string, std::string>>& options) {
  try {
    const EpSelection selection = SelectDevices(devices);
    const SessionOptionsState before = impl_->Snapshot();
    for (const EpSelection& known : before.providers) {
      if (known.name() != selection.name()) continue;
      throw HostError(ORT_FAIL, "execution provider '" + selection.name() + "' of " + selection.library->path() +
                                    ": a provider of that name was added before, of " + known.library->path());
    }
    SessionOptionsAdapter staged = before.adapter;
    AddProvider(selection, options, staged);
    std::lock_guard lock(impl_->mutex);
    impl_->state.libraries.emplace(selection.library->path(), selection.library->library());
    impl_->state.adapter.Merge(before.adapter, staged);
    impl_->state.providers.push_back(selection);
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
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
