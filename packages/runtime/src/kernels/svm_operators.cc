// SPDX-License-Identifier: Apache-2.0
// SVMClassifier, SVMRegressor.
#include <cmath>

#include "kernels/families.h"
#include "kernels/svm.h"
#include "kernels/thread_scratch.h"

namespace light {
namespace {

std::vector<float> AtLeast(const KernelInfo& info, const char* name, int64_t count) {
  std::vector<float> values = info.Floats(name);
  if (static_cast<int64_t>(values.size()) < count)
    info.Fail(ErrorCode::kInvalidGraph, std::string("attribute ") + name + ": must have at least " +
                                            std::to_string(count) + " elements, got " + std::to_string(values.size()));
  return values;
}

class SvmRegressor final : public KernelBase {
 public:
  explicit SvmRegressor(const KernelInfo& info)
      : vectors_(info.Int("n_supports", 0)),
        one_class_(info.Int("one_class", 0) != 0),
        rho_(AtLeast(info, "rho", 1)[0]),
        coefficients_(AtLeast(info, "coefficients", std::max<int64_t>(vectors_, 1))),
        kernels_(info, vectors_ > 0 ? info.Floats("support_vectors") : coefficients_, vectors_ > 0 ? vectors_ : 1,
                 vectors_ <= 0) {
    ReadPostTransform(info);  // a single score is not changed by any
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const int64_t rows = kernels_.Check(x).rows, dims[] = {rows, 1};
    float* y = context.Output(0, dims).Data<float>();
    if (rows == 0) return;
    const int64_t count = kernels_.count();
    auto* values = Scratch<float>(context, rows * count);
    kernels_.Compute(context, x, rows, values);
    for (int64_t row = 0; row < rows; ++row) {
      double sum = rho_;
      for (int64_t j = 0; j < count; ++j)
        sum += (vectors_ > 0 ? static_cast<double>(coefficients_[static_cast<std::size_t>(j)]) : 1.) *
               static_cast<double>(values[row * count + j]);
      y[row] = one_class_ ? (sum > 0 ? 1.f : -1.f) : static_cast<float>(sum);
    }
  }

 private:
  int64_t vectors_;
  bool one_class_;
  float rho_;
  std::vector<float> coefficients_;
  SvmKernels kernels_;
};

int64_t SumOf(const KernelInfo& info, const std::vector<int64_t>& counts) {
  int64_t sum = 0;
  for (const int64_t count : counts)
    if (count < 0 || __builtin_add_overflow(sum, count, &sum))
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute vectors_per_class: must not be negative, and the sum must fit 64 bits, got " +
                    std::to_string(count));
  return sum;
}

/// With support vectors each pair of classes is decided by a machine of its own, and the class with most decisions
/// wins; without them each class has a linear score.
class SvmClassifier final : public KernelBase {
 public:
  explicit SvmClassifier(const KernelInfo& info)
      : labels_(info, "classlabels_ints", "classlabels_strings"),
        per_class_(info.Ints("vectors_per_class")),
        vectors_(SumOf(info, per_class_)),
        classes_(labels_.size()),
        pairs_(classes_ * (classes_ - 1) / 2),
        coefficients_(AtLeast(info, "coefficients", vectors_ > 0 ? (classes_ - 1) * vectors_ : classes_)),
        rho_(AtLeast(info, "rho", vectors_ > 0 ? pairs_ : 1)),
        a_(info.Floats("prob_a")),
        b_(info.Floats("prob_b")),
        transform_(ReadPostTransform(info)),
        kernels_(info, vectors_ > 0 ? info.Floats("support_vectors") : coefficients_,
                 vectors_ > 0 ? vectors_ : classes_, vectors_ <= 0) {
    if (vectors_ > 0 && static_cast<int64_t>(per_class_.size()) != classes_)
      info.Fail(ErrorCode::kInvalidGraph, "attribute vectors_per_class: must have an element for each of the " +
                                              std::to_string(classes_) + " classes, got " +
                                              std::to_string(per_class_.size()));
    if (vectors_ > 0 && classes_ < 2)
      info.Fail(ErrorCode::kInvalidGraph, "attributes classlabels_*: must have two labels or more");
    has_probabilities_ = vectors_ > 0 && !a_.empty();
    if (a_.size() != b_.size() || (has_probabilities_ && static_cast<int64_t>(a_.size()) < pairs_))
      info.Fail(ErrorCode::kInvalidGraph, "attributes prob_a and prob_b: must have " + std::to_string(pairs_) +
                                              " elements each, or none, got " + std::to_string(a_.size()) + " and " +
                                              std::to_string(b_.size()));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const int64_t rows = kernels_.Check(x).rows, count = kernels_.count();
    const int64_t columns = vectors_ <= 0 || has_probabilities_ || classes_ == 2 ? classes_ : pairs_;
    const int64_t line[] = {rows}, matrix[] = {rows, columns};
    Tensor& y = context.Output(0, line);
    float* z = context.Output(1, matrix).Data<float>();
    if (rows == 0) return;
    if (vectors_ <= 0) return Linear(context, x, rows, y, z);
    auto* values = Scratch<float>(context, rows * count);
    kernels_.Compute(context, x, rows, values);
    // Votes and scores as floats, then the numbers for the probabilities as doubles.
    const int64_t floats = (classes_ + pairs_ + 15) / 16 * 16, doubles = 2 * classes_ * (classes_ + 1);
    ThreadScratch scratch(context, static_cast<std::size_t>(floats + 2 * doubles));
    const double cost = static_cast<double>(classes_ * count + 100 * classes_);
    context.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
      const ThreadScratch::Lease lease(scratch);
      float *votes = lease.data(), *scores = votes + classes_;
      for (int64_t row = begin; row < end; ++row) {
        Vote(values + row * count, votes, scores);
        labels_.Write(FirstLargest(votes, classes_), row, y);
        float* out = z + row * columns;
        if (has_probabilities_) {
          Probabilities(scores, reinterpret_cast<double*>(lease.data() + floats), out);
          ApplyPostTransform(transform_, out, columns);
        } else if (classes_ == 2) {
          WriteTwoScores(transform_, transform_ != PostTransform::kNone, scores[0], out);
        } else {
          std::copy_n(scores, pairs_, out);
          ApplyPostTransform(transform_, out, pairs_);
        }
      }
    });
  }

 private:
  void Linear(RuntimeContext& context, const Tensor& x, int64_t rows, Tensor& y, float* z) const {
    kernels_.Compute(context, x, rows, z);
    for (int64_t row = 0; row < rows; ++row) {
      float* scores = z + row * classes_;
      for (int64_t i = 0; i < classes_; ++i) scores[i] += rho_[0];
      labels_.Write(FirstLargest(scores, classes_), row, y);
      ApplyPostTransform(transform_, scores, classes_);
    }
  }

  void Vote(const float* values, float* votes, float* scores) const {
    std::fill_n(votes, classes_, 0.f);
    // The vectors of class i come one behind the other. Those of a pair (i, j) have their coefficients in line j - 1
    // where they belong to i, and in line i where they belong to j.
    const auto sum = [&](int64_t line, int64_t first, int64_t n) {
      const float* coefficients = coefficients_.data() + line * vectors_ + first;
      double total = 0;
      for (int64_t k = 0; k < n; ++k)
        total += static_cast<double>(coefficients[k]) * static_cast<double>(values[first + k]);
      return total;
    };
    int64_t pair = 0, of_i = 0;
    for (int64_t i = 0; i < classes_; ++i) {
      const int64_t count_i = per_class_[static_cast<std::size_t>(i)];
      int64_t of_j = of_i + count_i;
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        const int64_t count_j = per_class_[static_cast<std::size_t>(j)];
        const double score = static_cast<double>(rho_[static_cast<std::size_t>(pair)]) + sum(j - 1, of_i, count_i) +
                             sum(i, of_j, count_j);
        scores[pair] = static_cast<float>(score);
        ++votes[score > 0 ? i : j];
        of_j += count_j;
      }
      of_i += count_i;
    }
  }

  void Probabilities(const float* scores, double* scratch, float* out) const {
    double *pairs = scratch, *probabilities = pairs + classes_ * classes_, *rest = probabilities + classes_;
    int64_t pair = 0;
    for (int64_t i = 0; i < classes_; ++i)
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        const auto k = static_cast<std::size_t>(pair);
        const double value =
            static_cast<double>(scores[pair]) * static_cast<double>(a_[k]) + static_cast<double>(b_[k]);
        pairs[i * classes_ + j] = std::clamp(1 / (1 + std::exp(value)), 1e-7, 1 - 1e-7);
        pairs[j * classes_ + i] = 1 - pairs[i * classes_ + j];
      }
    CouplePairs(pairs, classes_, probabilities, rest);
    for (int64_t i = 0; i < classes_; ++i) out[i] = static_cast<float>(probabilities[i]);
  }

  ClassLabels labels_;
  std::vector<int64_t> per_class_;
  int64_t vectors_, classes_, pairs_;
  std::vector<float> coefficients_, rho_, a_, b_;
  PostTransform transform_;
  SvmKernels kernels_;
  bool has_probabilities_ = false;
};

}  // namespace

void RegisterMlSvm(KernelRegistry& registry) {
  const TypeSet numbers = SetOf(MlNumberTypes{});
  registry.RegisterKernelFn(MlRegistration("SVMClassifier", 1, 1, {{"T1", numbers}}), MakeKernel<SvmClassifier>);
  registry.RegisterKernelFn(MlRegistration("SVMRegressor", 1, 1, {{"T", numbers}}), MakeKernel<SvmRegressor>);
}

}  // namespace light
