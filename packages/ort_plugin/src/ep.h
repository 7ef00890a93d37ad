// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <ort_abi/ort_c_api.h>

#include "ep_factory.h"
#include "ep_options.h"

namespace ort_plugin {

/// The provider in one session: it takes the nodes that there is a kernel for, one by one or, if it compiles, in
/// groups.
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
  void ProposeNodes(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const;
  void ProposeGroups(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const;
  void CompileGroups(const OrtGraph** graphs, const OrtNode** fused, std::size_t count,
                     OrtNodeComputeInfo** infos) const;
  /// False for a node of another provider, or of an operator that the options leave out.
  bool MayTake(const OrtNode* node) const;
  /// Logs why, if there is no kernel for the node.
  bool HasKernel(const OrtNode* node) const;
  /// A line at the level INFO, for who wants to know why a node was left.
  void Log(const std::string& words) const;

  const std::shared_ptr<EpFactory> factory_;
  const EpOptions options_;
  const OrtLogger* const logger_;
};

/// Throws ort_abi::StatusError for an option that is wrong.
std::unique_ptr<Ep> MakeEp(EpFactory& factory, const OrtSessionOptions* options, const OrtLogger* logger);
void DeleteEp(OrtEp* ep) noexcept;

}  // namespace ort_plugin
