// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/scratch.h"

namespace light {
namespace {

/// The determinant by elimination with row pivoting; overwrites the matrix.
double Eliminate(double* matrix, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(matrix[i * n + k]) > std::abs(matrix[pivot * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(matrix + k * n, matrix + (k + 1) * n, matrix + pivot * n);
      product = -product;
    }
    const double head = matrix[k * n + k];
    product *= head;
    if (head == 0) return product;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = matrix[i * n + k] / head;
      for (int64_t j = k + 1; j < n; ++j) matrix[i * n + j] -= factor * matrix[k * n + j];
    }
  }
  return product;
}

class Det final : public KernelBase {
 public:
  explicit Det(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    if (x.rank() < 2 || x.dim(x.rank() - 1) != x.dim(x.rank() - 2))
      FailArgument("input 0 (X): must have square matrices in its last two axes, got " + Describe(x));
    const int64_t n = x.dim(x.rank() - 1);
    Tensor& y = context.Output(0, x.dims().span().first(x.rank() - 2));
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      auto* wide = Scratch<double>(context, x.element_count());
      const auto size = static_cast<double>(n);
      context.ParallelFor(y.element_count(), size * size * (size + 5) + 5, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double* matrix = wide + i * n * n;
          const T* from = x.Data<T>() + i * n * n;
          for (int64_t k = 0; k < n * n; ++k) matrix[k] = static_cast<double>(static_cast<C>(from[k]));
          y.Data<T>()[i] = T(static_cast<C>(Eliminate(matrix, n)));
        }
      });
    });
  }
};

}  // namespace

void RegisterDet(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Det", 11, 22, {{"T", SetOf(FloatTypes{})}}), MakeKernel<Det>);
}

}  // namespace light
