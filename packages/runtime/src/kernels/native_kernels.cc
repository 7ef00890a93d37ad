// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.h"

namespace light {

const KernelRegistry& NativeKernels() {
  static const KernelRegistry* registry = [] {
    auto* kernels = new KernelRegistry;
    RegisterActivation(*kernels);
    RegisterArgReduce(*kernels);
    RegisterArithmetic(*kernels);
    RegisterBitwise(*kernels);
    RegisterCast(*kernels);
    RegisterClip(*kernels);
    RegisterComparison(*kernels);
    RegisterConcat(*kernels);
    RegisterConstant(*kernels);
    RegisterControlFlow(*kernels);
    RegisterConv(*kernels);
    RegisterCumulative(*kernels);
    RegisterFloatClass(*kernels);
    RegisterGather(*kernels);
    RegisterGemm(*kernels);
    RegisterLogic(*kernels);
    RegisterMatMul(*kernels);
    RegisterMod(*kernels);
    RegisterNormalization(*kernels);
    RegisterOptional(*kernels);
    RegisterPRelu(*kernels);
    RegisterPooling(*kernels);
    RegisterPow(*kernels);
    RegisterReduce(*kernels);
    RegisterReduceNorm(*kernels);
    RegisterRounding(*kernels);
    RegisterScan(*kernels);
    RegisterSequence(*kernels);
    RegisterSlice(*kernels);
    RegisterSoftmax(*kernels);
    RegisterTranspose(*kernels);
    RegisterTrigonometry(*kernels);
    RegisterUnary(*kernels);
    RegisterVariadic(*kernels);
    RegisterViews(*kernels);
    RegisterWhere(*kernels);
    return kernels;
  }();
  return *registry;
}

}  // namespace light
