// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"

namespace light {

const KernelRegistry& NativeKernels() {
  static const KernelRegistry* registry = [] {
    auto* kernels = new KernelRegistry;
    RegisterArithmetic(*kernels);
    RegisterCast(*kernels);
    RegisterComparison(*kernels);
    RegisterConcat(*kernels);
    RegisterConstant(*kernels);
    RegisterControlFlow(*kernels);
    RegisterConv(*kernels);
    RegisterGather(*kernels);
    RegisterGemm(*kernels);
    RegisterMatMul(*kernels);
    RegisterNormalization(*kernels);
    RegisterOptional(*kernels);
    RegisterPooling(*kernels);
    RegisterPow(*kernels);
    RegisterReduce(*kernels);
    RegisterScan(*kernels);
    RegisterSequence(*kernels);
    RegisterSlice(*kernels);
    RegisterSoftmax(*kernels);
    RegisterTranspose(*kernels);
    RegisterUnary(*kernels);
    RegisterViews(*kernels);
    RegisterWhere(*kernels);
    return kernels;
  }();
  return *registry;
}

}  // namespace light
