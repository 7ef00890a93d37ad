// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include "kernels/losses.h"

#include <algorithm>
#include <cmath>

#include "kernels/scratch.h"

namespace light {

LabelLoss::LabelLoss(const KernelInfo& info)
    : ignores_(info.HasAttribute("ignore_index")), ignored_(info.Int("ignore_index", 0)) {
  const std::string reduction = info.String("reduction", "mean");
  if (reduction == "none")
    reduction_ = Reduction::kNone;
  else if (reduction == "sum")
    reduction_ = Reduction::kSum;
  else if (reduction != "mean")
    info.Fail(ErrorCode::kInvalidGraph, "attribute reduction: must be none, sum or mean, got " + reduction);
}

void LabelLoss::Check(const Tensor& scores, const Tensor& labels, const Tensor* weights) const {
  if (scores.rank() < 2)
    FailArgument(InputLabel(0, "input") + ": must be [batch, classes, ...], got " + Describe(scores));
  bool fits = labels.rank() + 1 == scores.rank() && labels.dim(0) == scores.dim(0);
  for (std::size_t d = 2; fits && d < scores.rank(); ++d) fits = labels.dim(d - 1) == scores.dim(d);
  if (!fits)
    FailArgument(InputLabel(1, "target") + ": must have the extents of " + Describe(scores) + " without axis 1, got " +
                 Describe(labels));
  if (weights && (weights->rank() != 1 || weights->dim(0) != scores.dim(1)))
    FailArgument(InputLabel(2, "weight") + ": must be a vector of " + std::to_string(scores.dim(1)) + ", got " +
                 Describe(*weights));
}

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
        loss = -weight * log_prob(i / positions, label, i % positions);
      }
      sum += loss;
      if (reduction_ == Reduction::kNone) y.Data<T>()[i] = T(static_cast<C>(loss));
    }
    if (reduction_ != Reduction::kNone)
      *y.Data<T>() = T(static_cast<C>(reduction_ == Reduction::kMean ? sum / weight_sum : sum));
  });
}

namespace {

class NegativeLogLikelihoodLoss final : public KernelBase {
 public:
  explicit NegativeLogLikelihoodLoss(const KernelInfo& info) : loss_(info) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input");
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      loss_.Run(context, x, [&](int64_t row, int64_t label, int64_t position) {
        const int64_t positions = Product(x.dims(), 2, x.rank());
        return static_cast<double>(
            static_cast<ComputeType<T>>(x.Data<T>()[(row * x.dim(1) + label) * positions + position]));
      });
    });
  }

 private:
  LabelLoss loss_;
};

class SoftmaxCrossEntropyLoss final : public KernelBase {
 public:
  explicit SoftmaxCrossEntropyLoss(const KernelInfo& info) : loss_(info) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "scores");
    if (x.rank() < 2) FailArgument(InputLabel(0, "scores") + ": must be [batch, classes, ...], got " + Describe(x));
    const int64_t classes = x.dim(1), positions = Product(x.dims(), 2, x.rank());
    const int64_t sums = x.element_count() == 0 ? 0 : x.dim(0) * positions;
    // The logarithm of a probability is the score less the logarithm of the sum of all exponentials.
    auto* normalizers = Scratch<double>(context, sums);
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const auto score = [&](int64_t row, int64_t c, int64_t position) {
        return static_cast<double>(static_cast<C>(x.Data<T>()[(row * classes + c) * positions + position]));
      };
      context.ParallelFor(sums, 15 * static_cast<double>(classes), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double largest = -HUGE_VAL, sum = 0;
          for (int64_t c = 0; c < classes; ++c) largest = Larger(largest, score(i / positions, c, i % positions));
          for (int64_t c = 0; c < classes; ++c) sum += std::exp(score(i / positions, c, i % positions) - largest);
          normalizers[i] = largest + std::log(sum);
        }
      });
      loss_.Run(context, x, [&](int64_t row, int64_t label, int64_t position) {
        return score(row, label, position) - normalizers[row * positions + position];
      });
      if (!context.OutputRequested(1)) return;
      T* to = context.Output(1, x.dims()).template Data<T>();
      context.ParallelFor(x.element_count(), 2, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i / positions / classes, position = i % positions;
          const double value = static_cast<double>(static_cast<C>(x.Data<T>()[i]));
          to[i] = T(static_cast<C>(value - normalizers[row * positions + position]));
        }
      });
    });
  }

 private:
  LabelLoss loss_;
};

}  // namespace

void RegisterNegativeLogLikelihoodLoss(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("NegativeLogLikelihoodLoss", 12, 22, {{"T", SetOf(FloatTypes{})}}),
                            MakeKernel<NegativeLogLikelihoodLoss>);
}

void RegisterSoftmaxCrossEntropyLoss(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("SoftmaxCrossEntropyLoss", 12, 13, {{"T", SetOf(FloatTypes{})}}),
                            MakeKernel<SoftmaxCrossEntropyLoss>);
}

}  // namespace light
