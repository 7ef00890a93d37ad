// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <ort_abi/ort_c_api.h>

#include "group_graph.h"
#include "light/program.h"
#include "runtime_context.h"

namespace ort_plugin {

/// A fused group of nodes, run by our runtime as one program. Several threads may run it at once.
class CompiledGroup : public OrtNodeComputeInfo {
 public:
  /// @param name  of the fused node, for messages
  /// @param threads  most threads of the host that a loop of it uses; 0: as many as there are
  /// Throws light::Error: a kernel that refuses its node.
  CompiledGroup(const OrtApi& api, std::string name, GroupGraph group, int threads,
                const light::KernelOptions& kernels);
  CompiledGroup(const CompiledGroup&) = delete;

 private:
  void Run(OrtKernelContext* context);
  /// True if the input has the extents that the program relies on. Throws light::Error: another type, or nothing.
  bool HasKnownExtents(std::size_t i, const light::Value& value) const;
  /// The program for inputs of any extents, made at the first call.
  light::Program& AnyExtents();

  const std::string label_;
  const light::ModelDef definition_;
  const light::KernelOptions kernels_;
  const std::shared_ptr<const light::Graph> graph_;
  CallSignature signature_;
  const std::vector<std::size_t> inputs_;  // by input of graph_: the input of the fused node
  std::unique_ptr<light::Program> program_;
  std::mutex mutex_;
  std::unique_ptr<light::Program> any_extents_;
  std::atomic<light::Program*> made_{nullptr};  // any_extents_, once it is there
  SpareFrame spare_;
};

}  // namespace ort_plugin
