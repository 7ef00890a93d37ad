// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "light/kernel_registry.h"
#include "node_description.h"
#include "runtime_context.h"

namespace ort_plugin {

/// Says why there is no kernel for the node, or "" if there is one.
std::string WhyUnsupported(NodeDescription node);

/// A kernel of ours at one node of another host's graph. Several threads may run it at once.
class NodeKernel {
 public:
  /// @param threads  most threads of the host that a loop of it uses; 0: as many as there are
  /// Throws light::Error: there is no kernel for the node, or the kernel refuses it.
  NodeKernel(const OrtApi& api, NodeDescription node, int threads, const light::KernelOptions& options = {});
  NodeKernel(const NodeKernel&) = delete;

  const OrtApi& api() const noexcept { return signature_.api; }
  /// Runs once. Whatever goes wrong is in the status, which names the node.
  OrtStatus* Compute(OrtKernelContext* context);

 private:
  void Run(OrtKernelContext* context);

  std::shared_ptr<const light::Graph> graph_;
  CallSignature signature_;
  std::string label_;
  std::unique_ptr<light::KernelBase> kernel_;
  SpareFrame spare_;
};

}  // namespace ort_plugin
