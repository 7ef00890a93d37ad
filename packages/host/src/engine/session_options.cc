// SPDX-License-Identifier: Apache-2.0
#include <type_traits>
#include <utility>

#include <ort_abi/callbacks.h>

#include "abi/tables.h"
#include "adapters/status.h"
#include "engine/engine.h"
#include "engine/session_options_impl.h"
#include "loader/loaded_library.h"

namespace ort_host {
namespace {

constexpr const char* kRegister = "RegisterCustomOps";
using RegisterFunction =
    std::remove_pointer_t<OrtStatus*(ORT_API_CALL*)(OrtSessionOptions * options, const OrtApiBase* api)>;

/// One registration at a time in a process: libraries keep their domains in globals without a lock of their own.
constinit std::mutex g_registration;

/// Runs the library's registration on a copy of the options; the caller takes over what it did, or nothing has
/// happened.
SessionOptionsAdapter RunRegistration(const SessionOptionsAdapter& current, const LoadedLibrary& library) {
  SessionOptionsAdapter staged(current);
  staged.set_library(library.path());
  const std::size_t known = staged.domains().size();
  const std::lock_guard one_at_a_time(g_registration);
  try {
    ort_abi::CallFunction<HostStatus>(kRegister, library.Find<RegisterFunction>(kRegister),
                                      ort_abi::Lend<OrtSessionOptions>(staged), &abi::ApiBase());
    for (std::size_t i = known; i < staged.domains().size(); ++i) {
      for (const OrtCustomOp* op : staged.domains()[i].domain->ops) CheckCustomOpVersion(*op);
    }
  } catch (const ort_abi::StatusError& error) {
    throw HostError(error.code(), "library '" + library.path() + "': " + error.what());
  }
  return staged;
}

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
    auto library = LoadLibrary(path, kRegister);
    const SessionOptionsAdapter before = impl_->Snapshot().adapter;
    const SessionOptionsAdapter staged = RunRegistration(before, *library);
    std::lock_guard lock(impl_->mutex);
    impl_->state.libraries.emplace(library->path(), library);
    impl_->state.adapter.Merge(before, staged);
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace ort_host
