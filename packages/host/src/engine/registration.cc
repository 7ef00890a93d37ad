// SPDX-License-Identifier: Apache-2.0
#include "engine/registration.h"

#include <mutex>
#include <type_traits>

#include <ort_abi/callbacks.h>

#include "abi/tables.h"
#include "adapters/status.h"
#include "bridge/custom_op_descriptor.h"
#include "engine/host_error.h"

namespace ort_host {
namespace {

constexpr const char* kRegister = "RegisterCustomOps";
using RegisterFunction =
    std::remove_pointer_t<OrtStatus*(ORT_API_CALL*)(OrtSessionOptions * options, const OrtApiBase* api)>;

/// One registration at a time in a process: libraries keep their domains in globals without a lock of their own.
constinit std::mutex g_registration;

/// The library whose entry point this thread runs, or null.
constinit thread_local const LoadedLibrary* g_registering = nullptr;

struct Registering {
  explicit Registering(const LoadedLibrary& library) noexcept { g_registering = &library; }
  ~Registering() { g_registering = nullptr; }
  Registering(const Registering&) = delete;
};

void RefuseNested(const std::string& path) {
  if (g_registering == nullptr) return;
  throw HostError(ORT_FAIL, "library '" + path + "': must not be registered by another one, while " +
                                g_registering->path() + " registers itself");
}

}  // namespace

void Registration::Run(const std::string& path, bool check_ops) {
  RefuseNested(path);
  AskedVersions asked;
  const AskedVersions::Recording recording(asked);  // static initializers may ask too
  library_ = LoadLibrary(path, kRegister);
  staged_.set_library(library_->path());
  const std::lock_guard one_at_a_time(g_registration);
  const Registering registering(*library_);
  // Taken when the entry point is through, whether it succeeded or not.
  struct Keeper {
    Registration& registration;
    const AskedVersions& asked;
    ~Keeper() {
      AskedVersions& known = registration.library_->asked_versions();
      for (const uint32_t version : asked.all()) known.Add(version);
      registration.asked_versions_ = known;
    }
  } keeper{*this, asked};
  try {
    ort_abi::CallFunction<HostStatus>(kRegister, library_->Find<RegisterFunction>(kRegister),
                                      ort_abi::Lend<OrtSessionOptions>(staged_), &abi::ApiBase());
    for (const StagedDomain& domain : added()) {
      if (!check_ops) break;
      for (const OrtCustomOp* op : domain.domain->ops) CheckCustomOpVersion(*op);
    }
  } catch (const ort_abi::StatusError& error) {
    throw HostError(error.code(), "library '" + library_->path() + "': " + error.what());
  }
}

}  // namespace ort_host
