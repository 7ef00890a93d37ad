// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/arguments.h"

namespace light {

// What the operators of ai.onnx.ml have in common.

using MlNumberTypes = TypeList<float, double, int64_t, int32_t>;

/// As Registration, in the domain ai.onnx.ml.
inline KernelRegistration MlRegistration(std::string op_type, int since, int until,
                                         std::vector<TypeConstraint> constraints) {
  KernelRegistration registration = Registration(std::move(op_type), since, until, std::move(constraints));
  registration.domain = "ai.onnx.ml";
  return registration;
}

/// An input as a matrix: a vector is one row.
struct MlMatrix {
  int64_t rows, columns;
  /// Throws Error if it has another rank.
  MlMatrix(const Tensor& x, std::size_t i, std::string_view name);
};

/// The elements of a tensor of numbers as floats, in scratch memory if they have another type.
const float* AsFloats(RuntimeContext& context, const Tensor& x);

enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

/// From the attribute post_transform, by name.
PostTransform ReadPostTransform(const KernelInfo& info);

/// Transforms the scores of one row. A single score is changed by PROBIT only.
void ApplyPostTransform(PostTransform transform, float* scores, int64_t n);
void ApplyPostTransform(PostTransform transform, double* scores, int64_t n);
/// As above, of each of `rows` rows.
void ApplyPostTransform(PostTransform transform, float* scores, int64_t rows, int64_t n);

/// The scores of both classes from one score: of the second class it is the score itself, transformed.
/// @param complement  without a transform the score of the first class is 1 - score, else -score
void WriteTwoScores(PostTransform transform, bool complement, float score, float* scores);

/// The labels of classes, integers or strings.
class ClassLabels {
 public:
  ClassLabels(const KernelInfo& info, const char* integers, const char* strings);
  int64_t size() const noexcept { return static_cast<int64_t>(strings_.empty() ? integers_.size() : strings_.size()); }
  bool has_strings() const noexcept { return !strings_.empty(); }
  void Write(int64_t label, int64_t row, Tensor& y) const;
  /// Writes 0 or 1, for a classifier of one class.
  void WriteFlag(bool flag, int64_t row, Tensor& y) const;

 private:
  std::vector<int64_t> integers_;
  std::vector<std::string> strings_;
};

/// The index of the largest of `n` scores, the first one of equals.
template <class C>
int64_t FirstLargest(const C* scores, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (scores[i] > scores[best]) best = i;
  return best;
}

}  // namespace light
