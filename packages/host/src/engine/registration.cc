// SPDX-License-Identifier: Apache-2.0
#include "engine/registration.h"

#include <pthread.h>

#include <mutex>
#include <type_traits>

#include <ort_abi/callbacks.h>

#include "abi/tables.h"
#include "adapters/checked.h"
#include "adapters/status.h"
#include "bridge/custom_op_descriptor.h"
#include "engine/host_error.h"

namespace ort_host {
namespace {

constexpr const char* kRegister = "RegisterCustomOps";
using RegisterFunction =
    std::remove_pointer_t<OrtStatus*(ORT_API_CALL*)(OrtSessionOptions * options, const OrtApiBase* api)>;

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

/// True for memory of functions that this one's caller called and that are over: below `frame` on this thread's stack.
bool IsOnStackBelow(const void* frame, const void* address) noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return is_known && address >= lowest && address < frame;
}

/// Libraries own their ops for as long as they are loaded; one that was a local variable is gone already.
[[gnu::noinline]] void RefuseLocalOps(std::span<const StagedDomain> domains) {
  for (const StagedDomain& domain : domains) {
    for (const OrtCustomOp* op : domain.domain->ops) {
      if (!IsOnStackBelow(__builtin_frame_address(0), op)) continue;
      throw ort_abi::StatusError(ORT_FAIL,
                                 "OrtCustomOp of domain '" + domain.domain->name +
                                     "': must live as long as the library, got a local variable of RegisterCustomOps");
    }
  }
}

}  // namespace

void Registration::CallEntryPoint() {
  SessionOptionsAdapter& lent = library_->options();
  struct Loan {
    SessionOptionsAdapter& lent;
    SessionOptionsAdapter& staged;
    Loan(SessionOptionsAdapter& to, SessionOptionsAdapter& from) : lent(to), staged(from) {
      lent = staged;
      checked::BeginCall(&lent);
    }
    ~Loan() {
      staged = std::exchange(lent, SessionOptionsAdapter());
      lent.set_open(false);
      checked::EndCall(&lent);
    }
  } const loan(lent, staged_);
  ort_abi::CallFunction<HostStatus>(kRegister, library_->Find<RegisterFunction>(kRegister),
                                    ort_abi::Lend<OrtSessionOptions>(lent), &abi::ApiBase());
}

void Registration::Run(const std::string& path, bool check_ops) {
  RefuseNested(path);
  AskedVersions asked;
  const AskedVersions::Recording recording(asked);  // static initializers may ask too
  library_ = LoadLibrary(path, kRegister);
  staged_.set_library(library_->path());
  const std::lock_guard one_at_a_time(library_->registering());
  const Registering registering(*library_);
  const checked::Owner owner(this);
  const checked::RegistrationEnd end(this);
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
    CallEntryPoint();
    RefuseLocalOps(added());
    for (const StagedDomain& domain : added()) {
      if (!check_ops) break;
      for (const OrtCustomOp* op : domain.domain->ops) CheckCustomOpVersion(*op);
    }
  } catch (const ort_abi::StatusError& error) {
    throw HostError(error.code(), "library '" + library_->path() + "': " + error.what());
  }
}

}  // namespace ort_host
