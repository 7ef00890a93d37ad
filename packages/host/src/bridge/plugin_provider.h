// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "adapters/constant_watch.h"
#include "adapters/kernel_registry.h"
#include "bridge/compiled_groups.h"
#include "bridge/ep_instance.h"
#include "light/execution_provider.h"

namespace ort_host {

/// A plugin EP as the runtime knows providers: asks it for what it wants of a graph and makes kernels with its library.
/// Must outlive the session that uses it.
class PluginProvider final : public light::ExecutionProvider {
 public:
  /// @param model_path  as the application gave it; "" for a model from memory
  /// @param broken_groups  what becomes of its groups that cannot be run as one step
  /// @param group_count  groups that the providers of the session have made; outlives this
  /// Throws light::Error.
  PluginProvider(EpSelection selection, const SessionOptionsAdapter& options, std::shared_ptr<SessionScope> scope,
                 std::string model_path, light::BrokenGroups broken_groups, std::size_t& group_count);

  const EpInstance& instance() const noexcept { return instance_; }
  /// Null if it registers no kernels.
  const KernelRegistryAdapter* registry() const noexcept { return registry_.get(); }

  const std::string& name() const noexcept override { return instance_.name(); }
  light::BrokenGroups broken_groups() const noexcept override { return broken_groups_; }
  light::Proposals Propose(const light::GraphOffer& offer) override;
  std::string WhyNot(const light::GraphOffer& offer, const light::Node& node) override;
  const light::KernelEntry* FindKernel(const light::Graph& graph, const light::Node& node, std::string* why) override;
  std::vector<std::unique_ptr<light::Partition>> Compile(const light::GraphOffer& offer,
                                                         const std::vector<light::PartitionShape>& shapes) override;
  /// In checked mode, after `callback`: throws light::Error if the provider changed a constant that it was shown.
  void JudgeConstants(const char* callback);

 private:
  /// Copies the provider's kernels.
  void ReadRegistry();
  bool IsHidden(const light::Graph& graph, const light::Node& node) const;
  const RegisteredKernel* Find(const light::Graph& graph, const light::Node& node, std::string* why) const;

  EpInstance instance_;
  std::string model_path_;
  const light::BrokenGroups broken_groups_;
  ConstantWatch watch_;                              // used in checked mode
  std::unique_ptr<KernelRegistryAdapter> registry_;  // null: it has none
  std::deque<light::KernelEntry> entries_;           // of the registry's kernels, in their order
  CompiledGroups groups_;
  bool may_compile_ = true;
};

}  // namespace ort_host
