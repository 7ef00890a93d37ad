// SPDX-License-Identifier: Apache-2.0
// LinearClassifier, LinearRegressor.
#include "kernels/families.h"
#include "kernels/matrix_product.h"
#include "kernels/ml_scores.h"

namespace light {
namespace {

/// Scores of a linear model: [rows, columns] by coefficients [targets, columns], packed once, and intercepts.
class LinearModel {
 public:
  LinearModel(const KernelInfo& info, int64_t targets) : targets_(targets), intercepts_(info.Floats("intercepts")) {
    const std::vector<float> coefficients = info.Floats("coefficients");
    const auto count = static_cast<int64_t>(coefficients.size());
    if (targets_ <= 0 || count == 0 || count % targets_ != 0)
      info.Fail(ErrorCode::kInvalidGraph, "attribute coefficients: must have a multiple of " +
                                              std::to_string(targets_) + " elements, got " + std::to_string(count));
    if (!intercepts_.empty() && static_cast<int64_t>(intercepts_.size()) != targets_)
      info.Fail(ErrorCode::kInvalidGraph, "attribute intercepts: must have " + std::to_string(targets_) +
                                              " elements, got " + std::to_string(intercepts_.size()));
    columns_ = count / targets_;
    packed_.Pack({coefficients.data(), 1, columns_}, 0, 1, columns_, targets_);
  }

  int64_t targets() const noexcept { return targets_; }

  MlMatrix Check(const Tensor& x) const {
    const MlMatrix matrix(x, 0, "X");
    if (matrix.columns != columns_)
      FailArgument(InputLabel(0, "X") + ": must have " + std::to_string(columns_) +
                   " columns, as the model has coefficients, got " + Describe(x));
    return matrix;
  }

  void Score(RuntimeContext& context, const Tensor& x, int64_t rows, float* scores) const {
    const float* data = AsFloats(context, x);
    MultiplyPacked(context, {data, columns_, 1}, packed_.matrix(0), rows, targets_, columns_, scores, 1.f,
                   intercepts_.empty() ? nullptr : intercepts_.data());
  }

 private:
  int64_t targets_, columns_;
  std::vector<float> intercepts_;
  PackedMatrices packed_;
};

class LinearRegressor final : public KernelBase {
 public:
  explicit LinearRegressor(const KernelInfo& info)
      : model_(info, info.Int("targets", 1)), transform_(ReadPostTransform(info)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const int64_t rows = model_.Check(x).rows, targets = model_.targets(), dims[] = {rows, targets};
    float* y = context.Output(0, dims).Data<float>();
    if (rows == 0) return;
    model_.Score(context, x, rows, y);
    if (transform_ == PostTransform::kNone) return;
    context.ParallelFor(rows, 20 * static_cast<double>(targets), [&](int64_t begin, int64_t end) {
      ApplyPostTransform(transform_, y + begin * targets, end - begin, targets);
    });
  }

 private:
  LinearModel model_;
  PostTransform transform_;
};

/// The number of intercepts is the number of scores; without intercepts there is a score per class.
int64_t CountScores(const KernelInfo& info, const ClassLabels& labels) {
  const auto intercepts = static_cast<int64_t>(info.Floats("intercepts").size());
  const int64_t scores = intercepts > 0 ? intercepts : labels.size();
  if (scores != labels.size() && (scores != 1 || labels.size() != 2))
    info.Fail(ErrorCode::kInvalidGraph,
              "attribute intercepts: must have an element for each class, or one for two classes, got " +
                  std::to_string(scores) + " for " + std::to_string(labels.size()) + " classes");
  return scores;
}

class LinearClassifier final : public KernelBase {
 public:
  explicit LinearClassifier(const KernelInfo& info)
      : labels_(info, "classlabels_ints", "classlabels_strings"),
        model_(info, CountScores(info, labels_)),
        transform_(ReadPostTransform(info)) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const int64_t rows = model_.Check(x).rows, n = model_.targets(), classes = labels_.size();
    const int64_t line[] = {rows}, matrix[] = {rows, classes};
    Tensor& y = context.Output(0, line);
    float* z = context.Output(1, matrix).Data<float>();
    if (rows == 0) return;
    const bool two_from_one = n < classes;
    float* scores = two_from_one ? Scratch<float>(context, rows) : z;
    model_.Score(context, x, rows, scores);
    context.ParallelFor(rows, 20 * static_cast<double>(classes), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        if (two_from_one) {
          labels_.Write(scores[row] > 0 ? 1 : 0, row, y);
          WriteTwoScores(transform_, true, scores[row], z + row * 2);
        } else {
          labels_.Write(FirstLargest(z + row * n, n), row, y);
        }
      }
      if (!two_from_one) ApplyPostTransform(transform_, z + begin * n, end - begin, n);
    });
  }

 private:
  ClassLabels labels_;
  LinearModel model_;
  PostTransform transform_;
};

}  // namespace

void RegisterMlLinear(KernelRegistry& registry) {
  const TypeSet numbers = SetOf(MlNumberTypes{});
  registry.RegisterKernelFn(MlRegistration("LinearClassifier", 1, 1, {{"T1", numbers}}), MakeKernel<LinearClassifier>);
  registry.RegisterKernelFn(MlRegistration("LinearRegressor", 1, 1, {{"T", numbers}}), MakeKernel<LinearRegressor>);
}

}  // namespace light
