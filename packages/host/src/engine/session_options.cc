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

/// Runs the library's registration on a copy of the options; the caller takes the copy over, or nothing has happened.
SessionOptionsAdapter RunRegistration(const SessionOptionsAdapter& current, const LoadedLibrary& library) {
  SessionOptionsAdapter staged(current);
  staged.set_library(library.path());
  const std::size_t known = staged.domains().size();
  try {
    ort_abi::CallFunction<HostStatus>(kRegister, library.Find<RegisterFunction>(kRegister),
                                      ort_abi::Lend<OrtSessionOptions>(staged), &abi::ApiBase());
    for (std::size_t i = known; i < staged.domains().size(); ++i) {
      for (const OrtCustomOp* op : staged.domains()[i].domain->ops) CheckCustomOpVersion(*op);
    }
  } catch (const ort_abi::StatusError& error) {
    throw HostError(error.code(), "library '" + library.path() + "': " + error.what());
  }
  staged.set_library("");
  return staged;
}

void CheckRange(const char* option, bool is_valid, int value) {
  if (!is_valid)
    throw HostError(ORT_INVALID_ARGUMENT, std::string(option) + ": out of range, got " + std::to_string(value));
}

}  // namespace

std::vector<CustomOpSource> SessionOptionsImpl::Sources() const {
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
  impl_->intra_op_threads = threads;
}
int SessionOptions::intra_op_threads() const { return impl_->intra_op_threads; }

void SessionOptions::set_memory_limit_bytes(std::size_t bytes) { impl_->memory_limit_bytes = bytes; }
std::size_t SessionOptions::memory_limit_bytes() const { return impl_->memory_limit_bytes; }

void SessionOptions::set_log_severity(int severity) {
  CheckRange("log_severity_level", severity >= -1 && severity <= ORT_LOGGING_LEVEL_FATAL, severity);
  impl_->log_severity = severity;
}
int SessionOptions::log_severity() const { return impl_->log_severity; }
void SessionOptions::set_log_id(const std::string& id) { impl_->log_id = id; }
void SessionOptions::set_allow_onnx_domain_override(bool allow) { impl_->allow_onnx_override = allow; }

void SessionOptions::AddConfigEntry(const std::string& key, const std::string& value) {
  const std::string problem = impl_->adapter.SetConfig(key, value);
  if (!problem.empty()) throw HostError(ORT_INVALID_ARGUMENT, problem);
}

bool SessionOptions::GetConfigEntry(const std::string& key, std::string* value) const {
  const std::string* found = impl_->adapter.FindConfig(key);
  if (found == nullptr) return false;
  *value = *found;
  return true;
}

void SessionOptions::RegisterCustomOpsLibrary(const std::string& path) {
  try {
    auto library = LoadLibrary(path, kRegister);
    SessionOptionsAdapter staged = RunRegistration(impl_->adapter, *library);
    impl_->libraries.emplace(library->path(), library);
    impl_->adapter = std::move(staged);
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace ort_host
