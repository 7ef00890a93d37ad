// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary.h"
#include "kernels/families.h"
#include "kernels/scalar.h"

namespace light {
namespace {

struct PReluOp {
  static constexpr auto kBoth = &simd::SimdTable::prelu;
  static constexpr auto kScalarRight = &simd::SimdTable::prelu_scalar;
  template <class T>
  static T Apply(T x, T slope) {
    const T factors[] = {1, slope};
    return WrappingMultiply(x, factors[x < T{0}]);  // a branch would be mispredicted half of the time
  }
};

using Types = MatrixTypes;

}  // namespace

void RegisterPRelu(KernelRegistry& registry) {
  KernelRegistration registration = Registration("PRelu", 1, 16, {{"T", SetOf(Types{})}});
  registration.may_inplace = {{0, 0}};
  registration.is_elementwise = true;
  registry.RegisterKernelFn(registration, [](const KernelInfo& info) {
    // Before version 7 a vector has one slope per channel. The slope may have more extents than X, as in ONNX Runtime.
    return MakeBinaryKernel<PReluOp>(info, Types{}, 0.5,
                                     info.since_version() < 7 ? BinaryAlignment::kChannels : BinaryAlignment::kMutual);
  });
}

}  // namespace light
