// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/arguments.h"
#include "light/function_ref.h"
#include "light/kernel_info.h"
#include "light/kernel_registry.h"
#include "light/runtime_context.h"

namespace light {

/// What NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss make of logarithms of probabilities [batch, classes,
/// positions]: minus those of the labels, weighted, and reduced.
class LabelLoss {
 public:
  /// Throws Error (kInvalidGraph) if an attribute is not what ONNX allows.
  explicit LabelLoss(const KernelInfo& info);

  /// The logarithm of the probability of `label` at (row, position).
  using LogProb = FunctionRef<double(int64_t row, int64_t label, int64_t position)>;
  /// Writes output 0.
  /// @param scores  input 0, for its extents and messages
  void Run(RuntimeContext& context, const Tensor& scores, LogProb log_prob) const;

 private:
  enum class Reduction { kNone, kSum, kMean };

  /// Throws Error if the labels or the weights do not fit.
  void Check(const Tensor& scores, const Tensor& labels, const Tensor* weights) const;
  int64_t Label(const Tensor& labels, int64_t i) const {
    return labels.type() == ElementType::kInt32 ? labels.Data<int32_t>()[i] : labels.Data<int64_t>()[i];
  }

  Reduction reduction_ = Reduction::kMean;
  bool ignores_ = false;
  int64_t ignored_ = 0;
};

// Operators that compute losses; NativeKernels() calls them all.
[[gnu::cold]] void RegisterNegativeLogLikelihoodLoss(KernelRegistry& registry);
[[gnu::cold]] void RegisterSoftmaxCrossEntropyLoss(KernelRegistry& registry);

}  // namespace light
