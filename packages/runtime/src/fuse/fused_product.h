// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuse/members.h"

namespace light {

/// A product whose kernel adds inputs of later nodes to its result. Where their extents turn out not to fit, the later
/// nodes run as they are.
class FusedProduct final : public KernelBase {
 public:
  FusedProduct(const Graph& graph, const Fusion& fusion, std::vector<std::unique_ptr<KernelBase>> kernels)
      : members_(graph, fusion, std::move(kernels)), epilogue_(fusion.epilogue) {}
  void Run(RuntimeContext& context) override;

 private:
  Members members_;
  Epilogue epilogue_;
};

}  // namespace light
