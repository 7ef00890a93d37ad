// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <ort_abi/ort_c_api.h>

#include "group_graph.h"
#include "light/program.h"
#include "runtime_context.h"

namespace ort_plugin {

/// A fused group of nodes, run by our runtime as one program. Several threads may run it at once: it has no state.
class CompiledGroup : public OrtNodeComputeInfo {
 public:
  /// @param name  of the fused node, for messages
  /// @param threads  most threads of the host that a loop of it uses; 0: as many as there are
  /// Throws light::Error: a kernel that refuses its node.
  CompiledGroup(const OrtApi& api, std::string name, const GroupGraph& group, int threads,
                const light::KernelOptions& kernels);
  CompiledGroup(const CompiledGroup&) = delete;

 private:
  void Run(OrtKernelContext* context);
  /// The plan of the program relies on what the host said of the group's inputs.
  void CheckInput(std::size_t i, const light::Value& value) const;

  const std::string label_;
  const std::shared_ptr<const light::Graph> graph_;
  CallSignature signature_;
  const std::vector<std::size_t> inputs_;  // by input of graph_: the input of the fused node
  std::unique_ptr<light::Program> program_;
  SpareFrame spare_;
};

}  // namespace ort_plugin
