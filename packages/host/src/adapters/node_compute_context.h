// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "adapters/kinds.h"

namespace ort_host {

/// Behind OrtNodeComputeContext: which fused node a provider prepares. Lives as long as the call of CreateState.
class NodeComputeContextAdapter final : public AdapterBase {
 public:
  /// The name outlives this.
  explicit NodeComputeContextAdapter(const std::string& node_name)
      : AdapterBase(kNodeComputeKind), node_name_(node_name) {}
  NodeComputeContextAdapter(const NodeComputeContextAdapter&) = delete;

  const std::string& node_name() const noexcept { return node_name_; }

 private:
  const std::string& node_name_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtNodeComputeContext, NodeComputeContextAdapter, kNodeComputeKind, "node compute context");
