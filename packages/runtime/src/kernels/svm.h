// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/matrix_product.h"
#include "kernels/ml_scores.h"

namespace light {

/// The kernel functions of a support vector machine: of each row of a matrix with each support vector.
class SvmKernels {
 public:
  /// @param vectors  [count, columns]
  /// @param linear  whatever the attribute kernel_type says
  SvmKernels(const KernelInfo& info, std::vector<float> vectors, int64_t count, bool linear);

  int64_t count() const noexcept { return count_; }
  MlMatrix Check(const Tensor& x) const;
  /// `values` is [rows, count].
  void Compute(RuntimeContext& context, const Tensor& x, int64_t rows, float* values) const;

 private:
  enum class Kind : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

  Kind kind_;
  float gamma_ = 0, offset_ = 0, degree_ = 0;
  int64_t count_, columns_;
  std::vector<float> vectors_;  // only where they are not packed
  PackedMatrices packed_;
};

/// Probabilities of `n` classes from those of all pairs, `pairs` [n, n] of i against j (Wu, Lin and Weng 2004, the
/// second method, as in LIBSVM). `scratch` has room for n * (n + 1) numbers.
void CouplePairs(const double* pairs, int64_t n, double* probabilities, double* scratch);

}  // namespace light
