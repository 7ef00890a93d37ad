// SPDX-License-Identifier: Apache-2.0
#include "kernels/ml_scores.h"

#include <cmath>
#include <numbers>

#include "exec/text_meter.h"
#include "kernels/scratch.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

template <class C>
C Logistic(C x) {
  return 1 / (1 + std::exp(-x));
}

/// The quantile of the normal distribution, by Winitzki's formula for the inverse of erf: the one that the operators
/// are known by, right to some thousandths.
template <class C>
C Probit(C probability) {
  constexpr C kA = C(0.147);
  const C x = 2 * probability - 1;
  const C log = std::log((1 - x) * (1 + x));
  const C v = 2 / (std::numbers::pi_v<C> * kA) + log / 2;
  const C root = std::sqrt(std::sqrt(v * v - log / kA) - v);
  return std::numbers::sqrt2_v<C> * (x < 0 ? -root : root);
}

template <class C>
void Softmax(C* scores, int64_t n) {
  const C largest = *std::max_element(scores, scores + n);
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += scores[i] = std::exp(scores[i] - largest);
  for (int64_t i = 0; i < n; ++i) scores[i] /= sum;
}

/// Softmax in which scores of zero, which nobody voted for, stay near zero.
template <class C>
void SoftmaxZero(C* scores, int64_t n) {
  const C largest = *std::max_element(scores, scores + n), factor = std::exp(-largest);
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    scores[i] = std::abs(scores[i]) > C(1e-7) ? std::exp(scores[i] - largest) : scores[i] * factor;
    sum += scores[i];
  }
  for (int64_t i = 0; i < n; ++i) scores[i] = sum == 0 ? C(0.5) : scores[i] / sum;
}

template <class C>
void Apply(PostTransform transform, C* scores, int64_t n) {
  if (n == 0 || (n == 1 && transform != PostTransform::kProbit)) return;
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return Softmax(scores, n);
    case PostTransform::kLogistic:
      for (int64_t i = 0; i < n; ++i) scores[i] = Logistic(scores[i]);
      return;
    case PostTransform::kSoftmaxZero:
      return SoftmaxZero(scores, n);
    case PostTransform::kProbit:
      for (int64_t i = 0; i < n; ++i) scores[i] = Probit(scores[i]);
      return;
  }
}

}  // namespace

MlMatrix::MlMatrix(const Tensor& x, std::size_t i, std::string_view name) {
  if (x.rank() != 1 && x.rank() != 2) FailArgument(InputLabel(i, name) + ": must have rank 1 or 2, got " + Describe(x));
  rows = x.rank() == 1 ? 1 : x.dim(0);
  columns = x.dim(x.rank() - 1);
}

const float* AsFloats(RuntimeContext& context, const Tensor& x) {
  if (x.type() == ElementType::kFloat) return x.Data<float>();
  auto* to = Scratch<float>(context, x.element_count());
  WithType(MlNumberTypes{}, x.type(), [&](auto tag) {
    const auto* from = x.Data<typename decltype(tag)::type>();
    context.ParallelFor(x.element_count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i]);
    });
  });
  return to;
}

PostTransform ReadPostTransform(const KernelInfo& info) {
  const std::string name = info.String("post_transform", "NONE");
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<PostTransform>(i);
  info.Fail(ErrorCode::kInvalidGraph,
            "attribute post_transform: must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, got " + name);
}

void ApplyPostTransform(PostTransform transform, float* scores, int64_t n) { Apply(transform, scores, n); }
void ApplyPostTransform(PostTransform transform, double* scores, int64_t n) { Apply(transform, scores, n); }

void ApplyPostTransform(PostTransform transform, float* scores, int64_t rows, int64_t n) {
  if (transform != PostTransform::kSoftmax || n < 2) {
    for (int64_t row = 0; row < rows; ++row) Apply(transform, scores + row * n, n);
    return;
  }
  // Rows are short: their exponentials are taken together.
  const int64_t most = std::max<int64_t>(4096 / n, 1);
  for (int64_t first = 0; first < rows; first += most) {
    float* const begin = scores + first * n;
    float* const end = begin + std::min(most, rows - first) * n;
    for (float* row = begin; row < end; row += n) {
      const float largest = *std::max_element(row, row + n);
      for (int64_t i = 0; i < n; ++i) row[i] -= largest;
    }
    Simd().exp(begin, begin, static_cast<std::size_t>(end - begin));
    for (float* row = begin; row < end; row += n) {
      float sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += row[i];
      for (int64_t i = 0; i < n; ++i) row[i] /= sum;
    }
  }
}

void WriteTwoScores(PostTransform transform, bool complement, float score, float* scores) {
  if (transform == PostTransform::kLogistic) {
    scores[0] = Logistic(-score);
    scores[1] = Logistic(score);
  } else if (transform == PostTransform::kProbit) {
    scores[0] = Probit(1 - score);
    scores[1] = Probit(score);
  } else {
    scores[0] = complement ? 1 - score : -score;
    scores[1] = score;
  }
}

ClassLabels::ClassLabels(const KernelInfo& info, const char* integers, const char* strings)
    : integers_(info.Ints(integers)),
      strings_(info.HasAttribute(strings) ? info.Strings(strings) : std::vector<std::string>()) {
  if (integers_.empty() == strings_.empty())
    info.Fail(ErrorCode::kInvalidGraph, std::string("attributes ") + integers + " and " + strings +
                                            ": one of them must have labels, and the other one none");
}

void ClassLabels::Write(int64_t label, int64_t row, Tensor& y) const {
  const auto i = static_cast<std::size_t>(label);
  if (has_strings())
    CopyString(strings_[i], y.Data<std::string>()[row]);
  else
    y.Data<int64_t>()[row] = integers_[i];
}

void ClassLabels::WriteFlag(bool flag, int64_t row, Tensor& y) const {
  if (has_strings())
    CopyString(flag ? std::string("1") : std::string("0"), y.Data<std::string>()[row]);
  else
    y.Data<int64_t>()[row] = flag ? 1 : 0;
}

}  // namespace light
