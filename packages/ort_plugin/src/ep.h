// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <ort_abi/ort_c_api.h>

#include "ep_factory.h"
#include "ep_options.h"

namespace ort_plugin {

/// The provider in one session: it takes single nodes that there is a kernel for.
class Ep : public OrtEp {
 public:
  /// @param logger  of the session; lives as long as the provider
  Ep(EpFactory& factory, EpOptions options, const OrtLogger* logger);
  Ep(const Ep&) = delete;

  static Ep& From(OrtEp* ep) noexcept { return *static_cast<Ep*>(ep); }

  EpFactory& factory() const noexcept { return *factory_; }
  const EpOptions& options() const noexcept { return options_; }

 private:
  void Propose(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const;
  bool Wants(const OrtNode* node, OrtEpGraphSupportInfo* support) const;
  /// A line at the level INFO, for who wants to know why a node was left.
  void Log(const std::string& words) const;

  const std::shared_ptr<EpFactory> factory_;
  const EpOptions options_;
  const OrtLogger* const logger_;
};

/// Throws ort_abi::StatusError for an option that is wrong.
std::unique_ptr<Ep> MakeEp(EpFactory& factory, const OrtSessionOptions* options, const OrtLogger* logger);
void DeleteEp(OrtEp* ep) noexcept;

/// Makes a kernel of the provider for a node; `state` is the factory.
OrtStatus* CreateEpKernel(void* state, const OrtKernelInfo* info, OrtKernelImpl** kernel);

}  // namespace ort_plugin
