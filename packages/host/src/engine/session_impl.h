// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "adapters/checked.h"
#include "adapters/current_schemas.h"
#include "adapters/session_scope.h"
#include "bridge/custom_ops.h"
#include "engine/engine.h"
#include "engine/session_options_impl.h"
#include "engine/session_providers.h"

namespace ort_host {

/// What a Session holds, in the order in which it must be made; it ends in the reverse: kernels, then what they were
/// made from, then the domains, then the libraries.
class SessionImpl {
 public:
  /// Throws light::Error, StatusError.
  SessionImpl(light::ModelDef model, const std::string& model_path, const SessionOptionsState& options);
  ~SessionImpl();

  light::Session& session() noexcept { return *session_; }
  const light::Session& session() const noexcept { return *session_; }
  const LoggerAdapter& logger() const noexcept { return scope_->logger(); }
  const CustomOps& custom_ops() const noexcept { return *custom_ops_; }
  SessionProviders& providers() noexcept { return *providers_; }
  const SessionProviders& providers() const noexcept { return *providers_; }
  const std::vector<NodeArg>& inputs() const noexcept { return inputs_; }
  const std::vector<NodeArg>& outputs() const noexcept { return outputs_; }

 private:
  std::vector<EpSelection> selections_;  // keeps factories, whose domains may be among the sources
  std::vector<CustomOpSource> sources_;  // keeps domains and libraries
  std::shared_ptr<SessionScope> scope_;
  struct Leaks {
    const void* owner;
    ~Leaks() { checked::EndSession(owner); }
  } leaks_;                                // looked for when kernels and custom ops are gone
  std::unique_ptr<checked::Owner> owner_;  // while the session is made
  std::unique_ptr<CustomOps> custom_ops_;
  std::unique_ptr<CurrentSchemas> schemas_;  // while the session is made
  std::unique_ptr<SessionProviders> providers_;
  std::unique_ptr<light::Session> session_;
  std::vector<NodeArg> inputs_;
  std::vector<NodeArg> outputs_;
};

}  // namespace ort_host
