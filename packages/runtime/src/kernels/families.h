// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// One function per file of kernels; NativeKernels() calls them all, once: small code for them.

[[gnu::cold]] void RegisterActivation(KernelRegistry& registry);
[[gnu::cold]] void RegisterArgReduce(KernelRegistry& registry);
[[gnu::cold]] void RegisterArithmetic(KernelRegistry& registry);
[[gnu::cold]] void RegisterAttention(KernelRegistry& registry);
[[gnu::cold]] void RegisterAveragePooling(KernelRegistry& registry);
[[gnu::cold]] void RegisterBatchNormalization(KernelRegistry& registry);
[[gnu::cold]] void RegisterBitwise(KernelRegistry& registry);
[[gnu::cold]] void RegisterCast(KernelRegistry& registry);
[[gnu::cold]] void RegisterClip(KernelRegistry& registry);
[[gnu::cold]] void RegisterComparison(KernelRegistry& registry);
[[gnu::cold]] void RegisterConcat(KernelRegistry& registry);
[[gnu::cold]] void RegisterConstant(KernelRegistry& registry);
[[gnu::cold]] void RegisterControlFlow(KernelRegistry& registry);
[[gnu::cold]] void RegisterConv(KernelRegistry& registry);
[[gnu::cold]] void RegisterConvTranspose(KernelRegistry& registry);
[[gnu::cold]] void RegisterCumulative(KernelRegistry& registry);
[[gnu::cold]] void RegisterDepthToSpace(KernelRegistry& registry);
[[gnu::cold]] void RegisterDequantize(KernelRegistry& registry);
[[gnu::cold]] void RegisterDet(KernelRegistry& registry);
[[gnu::cold]] void RegisterDropout(KernelRegistry& registry);
[[gnu::cold]] void RegisterEinsum(KernelRegistry& registry);
[[gnu::cold]] void RegisterExpand(KernelRegistry& registry);
[[gnu::cold]] void RegisterFloatClass(KernelRegistry& registry);
[[gnu::cold]] void RegisterGather(KernelRegistry& registry);
[[gnu::cold]] void RegisterGatherElements(KernelRegistry& registry);
[[gnu::cold]] void RegisterGemm(KernelRegistry& registry);
[[gnu::cold]] void RegisterGenerators(KernelRegistry& registry);
[[gnu::cold]] void RegisterGlobalPooling(KernelRegistry& registry);
[[gnu::cold]] void RegisterGroupNormalization(KernelRegistry& registry);
[[gnu::cold]] void RegisterGru(KernelRegistry& registry);
[[gnu::cold]] void RegisterIntegerConv(KernelRegistry& registry);
[[gnu::cold]] void RegisterIntegerMatMul(KernelRegistry& registry);
[[gnu::cold]] void RegisterLayerNormalization(KernelRegistry& registry);
[[gnu::cold]] void RegisterLogic(KernelRegistry& registry);
[[gnu::cold]] void RegisterLpNormalization(KernelRegistry& registry);
[[gnu::cold]] void RegisterLrn(KernelRegistry& registry);
[[gnu::cold]] void RegisterLstm(KernelRegistry& registry);
[[gnu::cold]] void RegisterMatMul(KernelRegistry& registry);
[[gnu::cold]] void RegisterMaxUnpool(KernelRegistry& registry);
[[gnu::cold]] void RegisterMeanVarianceNormalization(KernelRegistry& registry);
[[gnu::cold]] void RegisterMlEncoders(KernelRegistry& registry);
[[gnu::cold]] void RegisterMlFeatures(KernelRegistry& registry);
[[gnu::cold]] void RegisterMlLinear(KernelRegistry& registry);
[[gnu::cold]] void RegisterMlSvm(KernelRegistry& registry);
[[gnu::cold]] void RegisterMlTrees(KernelRegistry& registry);
[[gnu::cold]] void RegisterMod(KernelRegistry& registry);
[[gnu::cold]] void RegisterOneHot(KernelRegistry& registry);
[[gnu::cold]] void RegisterOptional(KernelRegistry& registry);
[[gnu::cold]] void RegisterPRelu(KernelRegistry& registry);
[[gnu::cold]] void RegisterPad(KernelRegistry& registry);
[[gnu::cold]] void RegisterPooling(KernelRegistry& registry);
[[gnu::cold]] void RegisterPow(KernelRegistry& registry);
[[gnu::cold]] void RegisterQuantize(KernelRegistry& registry);
[[gnu::cold]] void RegisterReduce(KernelRegistry& registry);
[[gnu::cold]] void RegisterReduceNorm(KernelRegistry& registry);
[[gnu::cold]] void RegisterResize(KernelRegistry& registry);
[[gnu::cold]] void RegisterReverseSequence(KernelRegistry& registry);
[[gnu::cold]] void RegisterRnn(KernelRegistry& registry);
[[gnu::cold]] void RegisterRotaryEmbedding(KernelRegistry& registry);
[[gnu::cold]] void RegisterRounding(KernelRegistry& registry);
[[gnu::cold]] void RegisterScan(KernelRegistry& registry);
[[gnu::cold]] void RegisterScatter(KernelRegistry& registry);
[[gnu::cold]] void RegisterSelection(KernelRegistry& registry);
[[gnu::cold]] void RegisterSequence(KernelRegistry& registry);
[[gnu::cold]] void RegisterSlice(KernelRegistry& registry);
[[gnu::cold]] void RegisterSoftmax(KernelRegistry& registry);
[[gnu::cold]] void RegisterSplit(KernelRegistry& registry);
[[gnu::cold]] void RegisterStringConcat(KernelRegistry& registry);
[[gnu::cold]] void RegisterTensorScatter(KernelRegistry& registry);
[[gnu::cold]] void RegisterTopK(KernelRegistry& registry);
[[gnu::cold]] void RegisterTranspose(KernelRegistry& registry);
[[gnu::cold]] void RegisterTrigonometry(KernelRegistry& registry);
[[gnu::cold]] void RegisterTrilu(KernelRegistry& registry);
[[gnu::cold]] void RegisterUnary(KernelRegistry& registry);
[[gnu::cold]] void RegisterUnique(KernelRegistry& registry);
[[gnu::cold]] void RegisterVariadic(KernelRegistry& registry);
[[gnu::cold]] void RegisterViews(KernelRegistry& registry);
[[gnu::cold]] void RegisterWhere(KernelRegistry& registry);

}  // namespace light
