// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/plan.h"

namespace light {

/// An output of a step: what it is and where it lives during a run.
struct StepOutput {
  ValueId value = kNoValue;  ///< kNoValue: the node omits it
  ElementType type = ElementType::kUndefined;
  Placement placement;
};

/// What a run reads of a Step.
struct RunStep {
  KernelBase* kernel;
  const ValueId* inputs;
  const StepOutput* outputs;  ///< `typed_outputs` of them
  const ValueId* captures;
  const ValueId* releases;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t typed_outputs;  ///< with trailing outputs that the node leaves out and its kernel may compute
  uint32_t release_count;
  bool is_hosted;
  bool makes_text;
};

/// The steps of a Program as its runs read them: in order and close together, since a run of small nodes waits for
/// nothing but memory. Points into `steps`' kernels.
class RunSteps {
 public:
  RunSteps() = default;
  RunSteps(std::span<const Step> steps, const BufferPlan& plan);
  RunSteps(RunSteps&&) noexcept = default;
  RunSteps& operator=(RunSteps&&) noexcept = default;

  std::span<const RunStep> all() const noexcept { return steps_; }
  std::size_t IndexOf(const RunStep& step) const noexcept { return static_cast<std::size_t>(&step - steps_.data()); }

 private:
  const ValueId* Keep(const std::vector<ValueId>& ids);

  std::vector<RunStep> steps_;
  std::vector<ValueId> ids_;
  std::vector<StepOutput> outputs_;
};

}  // namespace light
