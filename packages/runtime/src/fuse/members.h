// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuse/fusion.h"
#include "light/kernel.h"

namespace light {

/// The nodes of a fused step with their kernels, and how their values are wired. Values are numbered: the inputs of the
/// step first, then the one result of each member.
class Members {
 public:
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  struct Member {
    NodeId node;
    std::unique_ptr<KernelBase> kernel;
    std::vector<uint32_t> inputs;  ///< values; kAbsent where the node omits one
    int output = -1;               ///< of the step, or -1 for a result that stays inside
  };

  /// @param kernels  of the fusion's nodes, in their order
  Members(const Graph& graph, const Fusion& fusion, std::vector<std::unique_ptr<KernelBase>> kernels);

  std::size_t size() const noexcept { return members_.size(); }
  const Member& operator[](std::size_t i) const noexcept { return members_[i]; }
  std::size_t input_count() const noexcept { return input_count_; }
  uint32_t ResultOf(std::size_t member) const noexcept { return static_cast<uint32_t>(input_count_ + member); }
  /// The last member that reads a value; of one that none reads, the member that makes it.
  uint32_t LastUse(uint32_t value) const noexcept { return last_use_[value]; }
  std::string Label(std::size_t member) const;

  /// Runs the members from `first` on one after another, as if they were steps of their own. `made` are the results of
  /// those before. Errors name the member.
  void RunApart(RuntimeContext& context, std::size_t first = 0, const std::vector<const Tensor*>& made = {}) const;

 private:
  const Graph& graph_;
  std::size_t input_count_;
  std::vector<Member> members_;
  std::vector<uint32_t> last_use_;  // by value
};

}  // namespace light
