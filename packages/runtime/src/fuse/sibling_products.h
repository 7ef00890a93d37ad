// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuse/members.h"
#include "kernels/packed_product.h"

namespace light {

/// Products of one left side with several constants of equal extents, each with its bias and Relu, as one loop over all
/// of them: the queries, keys and values of an attention layer. Where the left side turns out not to fit, the nodes run
/// as they are.
class SiblingProducts final : public KernelBase {
 public:
  SiblingProducts(const Graph& graph, const Fusion& fusion, std::vector<std::unique_ptr<KernelBase>> kernels);
  void Run(RuntimeContext& context) override;

 private:
  const PackedProduct& product(std::size_t sibling) const noexcept;
  bool Fits(RuntimeContext& context, const Tensor* a) const;

  Members members_;
  std::vector<Fusion::Sibling> siblings_;
  int64_t k_;
  int64_t n_;
};

}  // namespace light
