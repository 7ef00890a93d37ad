// SPDX-License-Identifier: Apache-2.0
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/vision.h"

namespace light {
namespace {

class AffineGrid final : public KernelBase {
 public:
  explicit AffineGrid(const KernelInfo& info) : align_corners_(info.Int("align_corners", 0) != 0) {}

  void Run(RuntimeContext& context) override {
    const Tensor& theta = Required(context, 0, "theta");
    const Dims size = ReadIntegers(Required(context, 1, "size"), 1, "size");
    if (size.rank() != 4 && size.rank() != 5)
      FailArgument(InputLabel(1, "size") + ": must be batch, channels and 2 or 3 extents, got " +
                   conversions::FormatExtents(size));
    const std::size_t axes = size.rank() - 2;
    const auto n = static_cast<int64_t>(axes);
    if (theta.rank() != 3 || theta.dim(0) != size[0] || theta.dim(1) != n || theta.dim(2) != n + 1)
      FailArgument(InputLabel(0, "theta") + ": must be [" + std::to_string(size[0]) + ", " + std::to_string(n) + ", " +
                   std::to_string(n + 1) + "], got " + Describe(theta));
    Dims dims = size;  // [batch, extents, coordinates]
    for (std::size_t d = 0; d < axes; ++d) dims[d + 1] = size[d + 2];
    dims[axes + 1] = n;
    Tensor& grid = context.Output(0, dims);
    if (grid.element_count() == 0) return;
    const int64_t width = size[axes + 1], lines = grid.element_count() / n / width;
    WithType(FloatTypes{}, theta.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      context.ParallelFor(lines, 6 * static_cast<double>(width), [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          // The coordinates in the order of theta's columns: those of the last axis first.
          double at[3] = {};
          int64_t rest = line;
          for (std::size_t d = 1; d < axes; ++d) {
            const int64_t extent = size[axes + 1 - d];
            at[d] = Coordinate(rest % extent, extent);
            rest /= extent;
          }
          const T* matrix = theta.Data<T>() + rest * n * (n + 1);
          T* to = grid.Data<T>() + line * width * n;
          for (int64_t i = 0; i < width; ++i) {
            at[0] = Coordinate(i, width);
            for (int64_t row = 0; row < n; ++row) {
              const T* factors = matrix + row * (n + 1);
              auto sum = static_cast<double>(static_cast<C>(factors[n]));
              for (int64_t k = 0; k < n; ++k) sum += static_cast<double>(static_cast<C>(factors[k])) * at[k];
              to[i * n + row] = T(static_cast<C>(sum));
            }
          }
        }
      });
    });
  }

 private:
  /// The middle of element `i` of an axis that reaches from -1 to 1, or, with aligned corners, whose first and last
  /// elements have their middles there.
  double Coordinate(int64_t i, int64_t extent) const {
    const auto at = static_cast<double>(i), length = static_cast<double>(extent);
    if (!align_corners_) return (2 * at + 1) / length - 1;
    return extent == 1 ? -1 : 2 * at / (length - 1) - 1;
  }

  bool align_corners_;
};

}  // namespace

void RegisterAffineGrid(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("AffineGrid", 20, 20, {{"T1", SetOf(FloatTypes{})}}), MakeKernel<AffineGrid>);
}

}  // namespace light
