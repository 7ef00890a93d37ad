// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor.
#include "kernels/families.h"
#include "kernels/ml_scores.h"
#include "kernels/trees.h"

namespace light {
namespace {

template <class V>
MlMatrix CheckMatrix(const Trees<V>& trees, const Tensor& x) {
  const MlMatrix matrix(x, 0, "X");
  if (matrix.columns <= trees.most_feature)
    FailArgument(InputLabel(0, "X") + ": must have at least " + std::to_string(trees.most_feature + 1) +
                 " columns, as the trees have features, got " + Describe(x));
  return matrix;
}

std::vector<double> ReadBase(const KernelInfo& info, int64_t count) {
  std::vector<double> base = ReadFloats(info, "base_values");
  if (!base.empty() && static_cast<int64_t>(base.size()) != count)
    info.Fail(ErrorCode::kInvalidGraph, "attribute base_values: must have " + std::to_string(count) +
                                            " elements or none, got " + std::to_string(base.size()));
  return base;
}

TreeAggregate ReadAggregate(const KernelInfo& info) {
  const std::string name = info.String("aggregate_function", "SUM");
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<TreeAggregate>(i);
  info.Fail(ErrorCode::kInvalidGraph, "attribute aggregate_function: must be AVERAGE, SUM, MIN or MAX, got " + name);
}

template <class V>
class TreeEnsembleRegressor final : public KernelBase {
 public:
  explicit TreeEnsembleRegressor(const KernelInfo& info)
      : trees_(ReadTrees<V>(info, "target_", info.Int("n_targets", 1))),
        base_(ReadBase(info, trees_.targets)),
        aggregate_(ReadAggregate(info)),
        transform_(ReadPostTransform(info)) {
    if (trees_.targets < 0)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute n_targets: must not be negative, got " + std::to_string(trees_.targets));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const MlMatrix matrix = CheckMatrix(trees_, x);
    const int64_t n = trees_.targets, dims[] = {matrix.rows, n};
    float* y = context.Output(0, dims).Data<float>();
    if (n == 0) return;
    WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
      const auto* data = x.Data<typename decltype(tag)::type>();
      trees_.Score(
          context, data, matrix.rows, matrix.columns, aggregate_, [&](int64_t row, const double* scores, const bool*) {
            float* out = y + row * n;
            for (int64_t i = 0; i < n; ++i)
              out[i] = static_cast<float>(scores[i] + (base_.empty() ? 0 : base_[static_cast<std::size_t>(i)]));
            ApplyPostTransform(transform_, out, n);
          });
    });
  }

 private:
  Trees<V> trees_;
  std::vector<double> base_;
  TreeAggregate aggregate_;
  PostTransform transform_;
};

/// With two labels of which only one is voted for, and with one label, the one score decides by a threshold: a half if
/// all votes are positive and so may be probabilities, else 0.
template <class V>
class TreeEnsembleClassifier final : public KernelBase {
 public:
  explicit TreeEnsembleClassifier(const KernelInfo& info)
      : labels_(info, "classlabels_int64s", "classlabels_strings"),
        classes_(labels_.size()),
        trees_(ReadTrees<V>(info, "class_", classes_)),
        base_(ReadFloats(info, "base_values")),
        transform_(ReadPostTransform(info)) {
    only_ = trees_.votes.empty() ? -1 : trees_.votes[0].target;
    for (const auto& vote : trees_.votes) {
      if (vote.target != only_) only_ = -1;
      all_positive_ &= vote.weight >= 0;
    }
    is_binary_ = classes_ == 1 || (classes_ == 2 && only_ >= 0);
    const bool one_base = base_.size() == 1 && is_binary_;
    if (!one_base) base_ = ReadBase(info, classes_);
    // Otherwise both scores are known, and are written as they are.
    completes_ = is_binary_ && classes_ == 2 && only_ == 0 && base_.size() != 2;
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const MlMatrix matrix = CheckMatrix(trees_, x);
    const int64_t line[] = {matrix.rows}, dims[] = {matrix.rows, classes_};
    Tensor& y = context.Output(0, line);
    float* z = context.Output(1, dims).Data<float>();
    WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
      const auto* data = x.Data<typename decltype(tag)::type>();
      trees_.Score(
          context, data, matrix.rows, matrix.columns, TreeAggregate::kSum,
          [&](int64_t row, double* scores, const bool* voted) { Finish(row, scores, voted, y, z + row * classes_); });
    });
  }

 private:
  void Finish(int64_t row, double* scores, const bool* voted, Tensor& y, float* z) const {
    if (base_.size() == 1)
      scores[std::max<int64_t>(only_, 0)] += base_[0];
    else
      for (std::size_t i = 0; i < base_.size(); ++i) scores[i] += base_[i];
    if (is_binary_) {
      const bool second = scores[std::max<int64_t>(only_, 0)] > (all_positive_ ? 0.5 : 0.);
      if (classes_ == 1)
        labels_.WriteFlag(second, row, y);
      else
        labels_.Write(second ? 1 : 0, row, y);
    } else {
      labels_.Write(Best(scores, voted), row, y);
    }
    if (completes_) return WriteTwoScores(transform_, all_positive_, static_cast<float>(scores[0]), z);
    for (int64_t i = 0; i < classes_; ++i) z[i] = static_cast<float>(scores[i]);
    ApplyPostTransform(transform_, z, classes_);
  }

  // A class that nobody votes for is not elected, even if all that have votes are below 0.
  int64_t Best(const double* scores, const bool* voted) const {
    int64_t best = -1;
    for (int64_t i = 0; i < classes_; ++i)
      if ((voted[i] || !base_.empty()) && (best < 0 || scores[i] > scores[best])) best = i;
    return std::max<int64_t>(best, 0);
  }

  ClassLabels labels_;
  int64_t classes_;
  Trees<V> trees_;
  std::vector<double> base_;
  PostTransform transform_;
  int64_t only_ = -1;  // the class that all votes are for
  bool all_positive_ = true, is_binary_ = false, completes_ = false;
};

template <class V>
class TreeEnsemble final : public KernelBase {
 public:
  explicit TreeEnsemble(const KernelInfo& info) : trees_(ReadTreeEnsemble<V>(info)) {
    const int64_t aggregate = info.Int("aggregate_function", 1), transform = info.Int("post_transform", 0);
    if (aggregate < 0 || aggregate > 3)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute aggregate_function: must be in [0, 3], got " + std::to_string(aggregate));
    if (transform < 0 || transform > 4)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute post_transform: must be in [0, 4], got " + std::to_string(transform));
    aggregate_ = static_cast<TreeAggregate>(aggregate);
    transform_ = static_cast<PostTransform>(transform);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const MlMatrix matrix = CheckMatrix(trees_, x);
    const int64_t n = trees_.targets, dims[] = {matrix.rows, n};
    Tensor& y = context.Output(0, dims);
    if (n == 0) return;
    WithType(TypeList<float, double, Float16>{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      trees_.Score(context, x.Data<T>(), matrix.rows, matrix.columns, aggregate_,
                   [&](int64_t row, double* scores, const bool*) {
                     ApplyPostTransform(transform_, scores, n);
                     T* out = y.Data<T>() + row * n;
                     for (int64_t i = 0; i < n; ++i) out[i] = T(static_cast<ComputeType<T>>(scores[i]));
                   });
    });
  }

 private:
  Trees<V> trees_;
  TreeAggregate aggregate_;
  PostTransform transform_;
};

/// Floats are compared as floats, unless the input or an attribute has doubles.
template <template <class> class Kernel>
std::unique_ptr<KernelBase> MakeTrees(const KernelInfo& info) {
  bool wide = info.InputElement(0) == ElementType::kDouble;
  for (const char* name : {"nodes_values_as_tensor", "class_weights_as_tensor", "target_weights_as_tensor"})
    if (const Tensor* tensor = info.TensorAttribute(name)) wide |= tensor->type() == ElementType::kDouble;
  if (wide) return std::make_unique<Kernel<double>>(info);
  return std::make_unique<Kernel<float>>(info);
}

}  // namespace

void RegisterMlTrees(KernelRegistry& registry) {
  const TypeSet numbers = SetOf(MlNumberTypes{});
  registry.RegisterKernelFn(MlRegistration("TreeEnsemble", 5, 5, {{"T", SetOf(TypeList<float, double, Float16>{})}}),
                            MakeTrees<TreeEnsemble>);
  registry.RegisterKernelFn(MlRegistration("TreeEnsembleClassifier", 1, 5, {{"T1", numbers}}),
                            MakeTrees<TreeEnsembleClassifier>);
  registry.RegisterKernelFn(MlRegistration("TreeEnsembleRegressor", 1, 5, {{"T", numbers}}),
                            MakeTrees<TreeEnsembleRegressor>);
}

}  // namespace light
