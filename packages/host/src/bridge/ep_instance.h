// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <ort_abi/callbacks.h>
#include <ort_abi/ort_c_api.h>

#include "adapters/checked.h"
#include "adapters/session_scope.h"
#include "adapters/status.h"
#include "bridge/ep_selection.h"
#include "light/error.h"

namespace ort_host {

/// An execution provider of one session: its OrtEp, from CreateEp to ReleaseEp. Keeps the library.
class EpInstance {
 public:
  /// Throws light::Error naming provider, library and rule: its devices need memory that there is not, CreateEp failed,
  /// the OrtEp breaks a rule, or it insists on a mode that this host does not have.
  EpInstance(EpSelection selection, const SessionOptionsAdapter& options, std::shared_ptr<SessionScope> scope);
  EpInstance(const EpInstance&) = delete;

  OrtEp* ep() const noexcept { return ep_.get(); }
  const std::string& name() const noexcept { return selection_.name(); }
  const EpSelection& selection() const noexcept { return selection_; }
  const std::shared_ptr<SessionScope>& scope() const noexcept { return scope_; }
  /// For messages: `execution provider 'X' of /path/lib.so`.
  const std::string& label() const noexcept { return label_; }
  bool runs_concurrently() const noexcept { return runs_concurrently_; }
  bool prefers_nhwc() const noexcept { return prefers_nhwc_; }
  /// What a user of the session should know, joined by "; ": synthetic devices, preferences that are not followed.
  std::string Notes() const;

  /// Calls a member of the OrtEp. Throws light::Error: the label, the member and what the provider says.
  template <auto kMember, class... Args>
  auto Call(Args&&... args) const {
    const checked::InSlot in_slot(ort_abi::MemberInfo<kMember>::kLabel);
    try {
      return ort_abi::Call<kMember, HostStatus>(ep_.get(), std::forward<Args>(args)...);
    } catch (const ort_abi::StatusError& error) {
      Fail(error.code(), ort_abi::MemberInfo<kMember>::kLabel, error.what());
    }
  }
  template <auto kMember>
  bool Has() const noexcept {
    return ort_abi::Has<kMember>(static_cast<const OrtEp*>(ep_.get()));
  }

  [[noreturn]] void Fail(OrtErrorCode code, const char* where, const std::string& what) const;

 private:
  struct Release {
    const EpInstance* instance;
    void operator()(OrtEp* ep) const noexcept;
  };

  void CheckDevices() const;
  void Create(const SessionOptionsAdapter& options);
  void CheckName() const;
  void AskForModes();

  EpSelection selection_;
  std::shared_ptr<SessionScope> scope_;
  std::string label_;
  std::unique_ptr<OrtEp, Release> ep_;
  DataTransferPtr transfer_;
  bool runs_concurrently_ = true;
  bool prefers_nhwc_ = false;
};

}  // namespace ort_host
