// SPDX-License-Identifier: Apache-2.0
#include "exec/run_steps.h"

namespace light {

RunSteps::RunSteps(std::span<const Step> steps, const BufferPlan& plan) {
  std::size_t ids = 0;
  std::size_t outputs = 0;
  for (const Step& step : steps) {
    ids += step.inputs.size() + step.captures.size() + step.releases.size();
    outputs += step.output_types.size();
  }
  // Reserved, so that pointers into them stay good.
  ids_.reserve(ids);
  outputs_.reserve(outputs);
  steps_.reserve(steps.size());
  for (const Step& step : steps) {
    const StepOutput* first = outputs_.data() + outputs_.size();
    for (std::size_t i = 0; i < step.output_types.size(); ++i) {
      StepOutput output;
      output.type = step.output_types[i];
      if (i < step.outputs.size() && step.outputs[i] != kNoValue) {
        output.value = step.outputs[i];
        output.placement = plan.placements[output.value];
      }
      outputs_.push_back(output);
    }
    steps_.push_back({.kernel = step.kernel.get(),
                      .inputs = Keep(step.inputs),
                      .outputs = first,
                      .captures = Keep(step.captures),
                      .releases = Keep(step.releases),
                      .input_count = static_cast<uint32_t>(step.inputs.size()),
                      .output_count = static_cast<uint32_t>(step.outputs.size()),
                      .typed_outputs = static_cast<uint32_t>(step.output_types.size()),
                      .release_count = static_cast<uint32_t>(step.releases.size()),
                      .is_hosted = step.is_hosted,
                      .makes_text = step.makes_text});
  }
}

const ValueId* RunSteps::Keep(const std::vector<ValueId>& ids) {
  const ValueId* first = ids_.data() + ids_.size();
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  return first;
}

}  // namespace light
