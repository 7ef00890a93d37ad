// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/arguments.h"
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

  /// Writes output 0. `log_prob(row, label, position)` gives one logarithm.
  /// @param scores  input 0, for its extents and messages
  template <class LogProb>
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

template <class LogProb>
void LabelLoss::Run(RuntimeContext& context, const Tensor& scores, LogProb log_prob) const {
  const Tensor& labels = Required(context, 1, "target");
  const Tensor* weights = context.Input(2);
  Check(scores, labels, weights);
  Tensor& y = context.Output(0, reduction_ == Reduction::kNone ? labels.dims().span() : std::span<const int64_t>());
  const int64_t classes = scores.dim(1), positions = Product(scores.dims(), 2, scores.rank());
  WithType(FloatTypes{}, scores.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    double sum = 0, weight_sum = 0;
    for (int64_t i = 0; i < labels.element_count(); ++i) {
      const int64_t label = Label(labels, i);
      double loss = 0;
      if (!ignores_ || label != ignored_) {
        if (label < 0 || label >= classes)
          FailArgument(InputLabel(1, "target") + ": must be in [0, " + std::to_string(classes) + "), got " +
                       std::to_string(label));
        const double weight = weights ? static_cast<double>(static_cast<C>(weights->Data<T>()[label])) : 1;
        weight_sum += weight;
        loss = -weight * static_cast<double>(log_prob(i / positions, label, i % positions));
      }
      sum += loss;
      if (reduction_ == Reduction::kNone) y.Data<T>()[i] = T(static_cast<C>(loss));
    }
    if (reduction_ != Reduction::kNone)
      *y.Data<T>() = T(static_cast<C>(reduction_ == Reduction::kMean ? sum / weight_sum : sum));
  });
}

// Operators that compute losses; NativeKernels() calls them all.
void RegisterNegativeLogLikelihoodLoss(KernelRegistry& registry);
void RegisterSoftmaxCrossEntropyLoss(KernelRegistry& registry);

}  // namespace light
