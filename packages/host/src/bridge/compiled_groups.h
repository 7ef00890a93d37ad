// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapters/graph.h"
#include "bridge/ep_instance.h"
#include "light/execution_provider.h"

namespace ort_host {

class ConstantWatch;

/// The groups that one provider compiles in a session: their names, the nodes that they become, and the provider's
/// compute infos, which are given back all at once, after the partitions and before the provider ends.
class CompiledGroups {
 public:
  /// All outlive this. @param watch  over constants that are shown, in checked mode; else null
  /// @param count  of all groups of the session, counted on
  CompiledGroups(const EpInstance& instance, const std::string& model_path, ConstantWatch* watch, std::size_t& count)
      : instance_(instance), model_path_(model_path), watch_(watch), count_(count) {}
  ~CompiledGroups();
  CompiledGroups(const CompiledGroups&) = delete;

  /// The name of the node that the next group becomes, as ORT forms it.
  std::string NextName(const light::Graph& main);
  /// One partition per shape. Throws light::Error; what the provider made is given back later all the same.
  std::vector<std::unique_ptr<light::Partition>> Compile(const light::GraphOffer& offer,
                                                         const std::vector<light::PartitionShape>& shapes);

 private:
  const GraphAdapter& AddNode(const light::Graph& graph, const light::PartitionShape& shape);
  void CheckBoundary(const light::Graph& graph, const light::PartitionShape& shape) const;
  /// @param earlier  how many of `infos_` are of groups that were compiled before
  void CheckInfos(std::size_t earlier, const std::vector<light::PartitionShape>& shapes,
                  const std::vector<OrtNodeComputeInfo*>& infos, const std::vector<OrtNode*>& contexts) const;

  const EpInstance& instance_;
  const std::string& model_path_;
  ConstantWatch* const watch_;
  std::size_t& count_;
  std::size_t own_count_ = 0;
  std::vector<std::unique_ptr<GraphAdapter>> nodes_;  // as long as the provider, which may keep them
  std::vector<OrtNodeComputeInfo*> infos_;            // the provider's
};

}  // namespace ort_host
