// SPDX-License-Identifier: Apache-2.0
#include "bridge/hosted_run.h"

namespace ort_host {

/// Inference may say less than the kernel does, but nothing else. ORT goes by the kernel, and so do we.
void HostedRun::JudgeShapes(KernelContextAdapter& context) const {
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    const ValueAdapter* made = context.FindOutput(i);
    const light::ValueType& promised = content().outputs[i].type;
    if (made == nullptr || !promised.is_tensor() || promised.shape.Admits(made->tensor()->dims())) continue;
    checked::Report("shape_mismatch", compute_label_,
                    content().label + ": output " + std::to_string(i) + " was promised as " +
                        std::string(conversions::Name(promised.element)) + promised.shape.ToString() + ", got " +
                        conversions::FormatExtents(made->tensor()->dims()));
  }
}

void HostedRun::JudgeMissing(KernelContextAdapter& context) const {
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    if (context.FindOutput(i) != nullptr || !context.OutputRequested(i)) continue;
    if (i >= may_be_missing_.size() || !may_be_missing_[i]) {
      if (checked::enabled()) {
        checked::Report("output_missing", compute_label_, content().label + ": output " + std::to_string(i));
      }
      throw light::Error(light::ErrorCode::kFail,
                         content().label + ": output " + std::to_string(i) + " ('" + content().outputs[i].name +
                             "') was never produced, although the compute callback reported success");
    }
    context.runtime().SetOutputValue(i, light::Value());
  }
}

std::vector<std::size_t> HostedRun::HashConstants() const {
  std::vector<std::size_t> hashes;
  if (!checked::enabled()) return hashes;
  for (const KernelContent::Argument& input : content().inputs) {
    hashes.push_back(input.constant != nullptr ? HashOf(*input.constant->tensor()) : 0);
  }
  return hashes;
}

std::string HostedRun::JudgeConstants(const std::vector<std::size_t>& before, const char* create_label) const {
  const std::vector<std::size_t> after = HashConstants();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    const std::string what = content().label + ": input " + std::to_string(i) + ": the library changed the constant";
    checked::Report("input_written", create_label, what);
    return what;
  }
  return "";
}

}  // namespace ort_host
