// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuse/members.h"
#include "kernels/elementwise.h"

namespace light {

/// Elementwise nodes that run in one pass: all of them on a tile that stays in the nearest cache, then on the next.
/// Inputs have the extents of the result, or are one element, or broadcast along leading or trailing axes; if they turn
/// out to be anything else, the nodes run one after another.
class FusedElementwise final : public KernelBase {
 public:
  static constexpr std::size_t kMostNodes = 1024;
  static constexpr std::size_t kMostReads = 32;  ///< inputs
  static constexpr std::size_t kMostOutputs = 16;
  static constexpr std::size_t kMostBuffers = 16;

  /// False if the group needs more at once than a tile has room for.
  static bool CanRun(const Graph& graph, const Fusion& fusion);

  FusedElementwise(const Graph& graph, const Fusion& fusion, std::vector<std::unique_ptr<KernelBase>> kernels);
  void Run(RuntimeContext& context) override;

  /// (input, output): the output may overwrite the input.
  const std::vector<std::pair<int, int>>& may_inplace() const noexcept { return may_inplace_; }

 private:
  struct Call {
    const ElementwiseKernel* kernel;
    uint16_t first;  ///< of operands_
    uint16_t count;
    uint16_t result;
  };
  struct Walk;

  void PlaceValues();
  void FindInplace();
  bool Fits(RuntimeContext& context, Walk& walk) const;
  void MapTiles(const Walk& walk, int64_t begin, int64_t end) const;

  Members members_;
  std::size_t output_count_;
  std::size_t buffer_count_ = 0;
  double cost_ = 0;  // nanoseconds per element
  // A table entry is an input, an output, a buffer, or, at the end, nothing.
  std::vector<Call> calls_;
  std::vector<uint16_t> operands_;   // table entries
  std::vector<uint16_t> scalars_;    // inputs that must have rank 0
  std::vector<uint32_t> unfounded_;  // members that read inputs alone
  std::vector<std::size_t> makers_;  // by output: the member
  std::vector<std::pair<int, int>> may_inplace_;
};

}  // namespace light
