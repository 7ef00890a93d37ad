// SPDX-License-Identifier: Apache-2.0
// Ceil, Floor, Round.
#include <cmath>

#include "kernels/families.h"
#include "kernels/unary.h"

namespace light {
namespace {

struct CeilOp {
  static constexpr auto kSimd = &simd::SimdTable::ceil;
  static constexpr double kCost = 0.4;
  template <class T>
  static T Apply(T x) {
    return std::ceil(x);
  }
};
struct FloorOp {
  static constexpr auto kSimd = &simd::SimdTable::floor;
  static constexpr double kCost = 0.4;
  template <class T>
  static T Apply(T x) {
    return std::floor(x);
  }
};
/// Halves go to the even neighbour.
struct RoundOp {
  static constexpr auto kSimd = &simd::SimdTable::round;
  static constexpr double kCost = 0.4;
  template <class T>
  static T Apply(T x) {
    return std::nearbyint(x);
  }
};

}  // namespace

void RegisterRounding(KernelRegistry& registry) {
  RegisterUnaryKernel<CeilOp>(registry, "Ceil", "X", 1, 13, FloatTypes{});
  RegisterUnaryKernel<FloorOp>(registry, "Floor", "X", 1, 13, FloatTypes{});
  RegisterUnaryKernel<RoundOp>(registry, "Round", "X", 11, 22, FloatTypes{});
}

}  // namespace light
