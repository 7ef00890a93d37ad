// SPDX-License-Identifier: Apache-2.0
#include "kernels/svm.h"

#include <cmath>

namespace light {
namespace {

/// In as many chains as fill vectors.
float SquaredDistance(const float* a, const float* b, int64_t n) {
  constexpr int64_t kChains = 16;
  float sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains <= n; i += kChains)
    for (int64_t j = 0; j < kChains; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  for (; i < n; ++i) sums[0] += (a[i] - b[i]) * (a[i] - b[i]);
  for (int64_t width = kChains / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  return sums[0];
}

}  // namespace

SvmKernels::SvmKernels(const KernelInfo& info, std::vector<float> vectors, int64_t count, bool linear)
    : kind_(Kind::kLinear), count_(count) {
  const auto size = static_cast<int64_t>(vectors.size());
  if (count_ <= 0 || size == 0 || size % count_ != 0)
    info.Fail(ErrorCode::kInvalidGraph, std::string("attribute ") + (linear ? "coefficients" : "support_vectors") +
                                            ": must have a multiple of " + std::to_string(count_) + " elements, got " +
                                            std::to_string(size));
  columns_ = size / count_;
  const std::string name = info.String("kernel_type", "LINEAR");
  if (name != "LINEAR" && name != "POLY" && name != "RBF" && name != "SIGMOID")
    info.Fail(ErrorCode::kInvalidGraph, "attribute kernel_type: must be LINEAR, POLY, RBF or SIGMOID, got " + name);
  const std::vector<float> parameters = info.Floats("kernel_params");
  if (!parameters.empty() && parameters.size() != 3)
    info.Fail(ErrorCode::kInvalidGraph, "attribute kernel_params: must be gamma, coef0 and degree, got " +
                                            std::to_string(parameters.size()) + " elements");
  if (!linear && name != "LINEAR") {
    kind_ = name == "POLY" ? Kind::kPoly : name == "RBF" ? Kind::kRbf : Kind::kSigmoid;
    if (!parameters.empty()) {
      gamma_ = parameters[0];
      offset_ = parameters[1];
      degree_ = parameters[2];
    }
  }
  if (kind_ == Kind::kRbf)
    vectors_ = std::move(vectors);
  else
    packed_.Pack({vectors.data(), 1, columns_}, 0, 1, columns_, count_);
}

MlMatrix SvmKernels::Check(const Tensor& x) const {
  const MlMatrix matrix(x, 0, "X");
  if (matrix.columns != columns_)
    FailArgument(InputLabel(0, "X") + ": must have " + std::to_string(columns_) +
                 " columns, as the model's vectors have elements, got " + Describe(x));
  return matrix;
}

void SvmKernels::Compute(RuntimeContext& context, const Tensor& x, int64_t rows, float* values) const {
  const float* data = AsFloats(context, x);
  if (kind_ == Kind::kRbf) {
    const double cost = static_cast<double>(count_) * (static_cast<double>(columns_) / 4 + 10);
    context.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float* line = values + row * count_;
        for (int64_t j = 0; j < count_; ++j)
          line[j] = -gamma_ * SquaredDistance(data + row * columns_, vectors_.data() + j * columns_, columns_);
        Simd().exp(line, line, static_cast<std::size_t>(count_));
      }
    });
    return;
  }
  MultiplyPacked(context, {data, columns_, 1}, packed_.matrix(0), rows, count_, columns_, values,
                 kind_ == Kind::kLinear ? 1.f : gamma_, nullptr);
  if (kind_ == Kind::kLinear) return;
  context.ParallelFor(rows, 10 * static_cast<double>(count_), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * count_; i < end * count_; ++i) {
      const float value = values[i] + offset_;
      values[i] = kind_ == Kind::kPoly ? std::pow(value, degree_) : std::tanh(value);
    }
  });
}

void CouplePairs(const double* pairs, int64_t n, double* p, double* scratch) {
  double *q = scratch, *qp = scratch + n * n;
  for (int64_t i = 0; i < n; ++i) {
    p[i] = 1 / static_cast<double>(n);
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (j == i) continue;
      sum += pairs[j * n + i] * pairs[j * n + i];
      q[i * n + j] = -pairs[j * n + i] * pairs[i * n + j];
    }
    q[i * n + i] = sum;
  }
  const double enough = 0.005 / static_cast<double>(n);
  const int64_t rounds = std::max<int64_t>(100, n);
  for (int64_t round = 0; round < rounds; ++round) {
    double pqp = 0, error = 0;
    for (int64_t i = 0; i < n; ++i) {
      qp[i] = 0;
      for (int64_t j = 0; j < n; ++j) qp[i] += q[i * n + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (int64_t i = 0; i < n; ++i) error = std::max(error, std::abs(qp[i] - pqp));
    if (error < enough) break;
    for (int64_t i = 0; i < n; ++i) {
      const double step = (pqp - qp[i]) / q[i * n + i], norm = 1 + step;
      p[i] += step;
      pqp = (pqp + step * (step * q[i * n + i] + 2 * qp[i])) / (norm * norm);
      for (int64_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + step * q[i * n + j]) / norm;
        p[j] /= norm;
      }
    }
  }
}

}  // namespace light
