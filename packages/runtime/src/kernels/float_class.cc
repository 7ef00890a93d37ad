// SPDX-License-Identifier: Apache-2.0
// IsInf, IsNaN.
#include <limits>

#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

struct IsInfOp {
  static constexpr double kCost = 0.5;
  explicit IsInfOp(const KernelInfo& info)
      : negative(info.Int("detect_negative", 1) != 0), positive(info.Int("detect_positive", 1) != 0) {}
  template <class T>
  bool Apply(T x) const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    // Without branches, so that there are vectors of it.
    return (positive & (x == kInfinity)) | (negative & (x == -kInfinity));
  }
  bool negative;
  bool positive;
};
struct IsNaNOp {
  static constexpr double kCost = 0.5;
  template <class T>
  static bool Apply(T x) {
    return x != x;
  }
};

}  // namespace

void RegisterFloatClass(KernelRegistry& registry) {
  RegisterUnaryKernel<IsInfOp>(registry, "IsInf", "X", 10, 20, FloatTypes{});
  RegisterUnaryKernel<IsNaNOp>(registry, "IsNaN", "X", 9, 20, FloatTypes{});
}

}  // namespace light
