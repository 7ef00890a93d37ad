// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// One function per file of kernels; NativeKernels() calls them all.

void RegisterActivation(KernelRegistry& registry);
void RegisterArgReduce(KernelRegistry& registry);
void RegisterArithmetic(KernelRegistry& registry);
void RegisterAttention(KernelRegistry& registry);
void RegisterAveragePooling(KernelRegistry& registry);
void RegisterBatchNormalization(KernelRegistry& registry);
void RegisterBitwise(KernelRegistry& registry);
void RegisterCast(KernelRegistry& registry);
void RegisterClip(KernelRegistry& registry);
void RegisterComparison(KernelRegistry& registry);
void RegisterConcat(KernelRegistry& registry);
void RegisterConstant(KernelRegistry& registry);
void RegisterControlFlow(KernelRegistry& registry);
void RegisterConv(KernelRegistry& registry);
void RegisterConvTranspose(KernelRegistry& registry);
void RegisterCumulative(KernelRegistry& registry);
void RegisterDepthToSpace(KernelRegistry& registry);
void RegisterDequantize(KernelRegistry& registry);
void RegisterDet(KernelRegistry& registry);
void RegisterDropout(KernelRegistry& registry);
void RegisterEinsum(KernelRegistry& registry);
void RegisterExpand(KernelRegistry& registry);
void RegisterFloatClass(KernelRegistry& registry);
void RegisterGather(KernelRegistry& registry);
void RegisterGatherElements(KernelRegistry& registry);
void RegisterGemm(KernelRegistry& registry);
void RegisterGenerators(KernelRegistry& registry);
void RegisterGlobalPooling(KernelRegistry& registry);
void RegisterGroupNormalization(KernelRegistry& registry);
void RegisterGru(KernelRegistry& registry);
void RegisterIntegerConv(KernelRegistry& registry);
void RegisterIntegerMatMul(KernelRegistry& registry);
void RegisterLayerNormalization(KernelRegistry& registry);
void RegisterLogic(KernelRegistry& registry);
void RegisterLpNormalization(KernelRegistry& registry);
void RegisterLrn(KernelRegistry& registry);
void RegisterLstm(KernelRegistry& registry);
void RegisterMatMul(KernelRegistry& registry);
void RegisterMaxUnpool(KernelRegistry& registry);
void RegisterMeanVarianceNormalization(KernelRegistry& registry);
void RegisterMlEncoders(KernelRegistry& registry);
void RegisterMlFeatures(KernelRegistry& registry);
void RegisterMlLinear(KernelRegistry& registry);
void RegisterMlSvm(KernelRegistry& registry);
void RegisterMlTrees(KernelRegistry& registry);
void RegisterMod(KernelRegistry& registry);
void RegisterOneHot(KernelRegistry& registry);
void RegisterOptional(KernelRegistry& registry);
void RegisterPRelu(KernelRegistry& registry);
void RegisterPad(KernelRegistry& registry);
void RegisterPooling(KernelRegistry& registry);
void RegisterPow(KernelRegistry& registry);
void RegisterQuantize(KernelRegistry& registry);
void RegisterReduce(KernelRegistry& registry);
void RegisterReduceNorm(KernelRegistry& registry);
void RegisterResize(KernelRegistry& registry);
void RegisterReverseSequence(KernelRegistry& registry);
void RegisterRnn(KernelRegistry& registry);
void RegisterRotaryEmbedding(KernelRegistry& registry);
void RegisterRounding(KernelRegistry& registry);
void RegisterScan(KernelRegistry& registry);
void RegisterScatter(KernelRegistry& registry);
void RegisterSelection(KernelRegistry& registry);
void RegisterSequence(KernelRegistry& registry);
void RegisterSlice(KernelRegistry& registry);
void RegisterSoftmax(KernelRegistry& registry);
void RegisterSplit(KernelRegistry& registry);
void RegisterStringConcat(KernelRegistry& registry);
void RegisterTensorScatter(KernelRegistry& registry);
void RegisterTopK(KernelRegistry& registry);
void RegisterTranspose(KernelRegistry& registry);
void RegisterTrigonometry(KernelRegistry& registry);
void RegisterTrilu(KernelRegistry& registry);
void RegisterUnary(KernelRegistry& registry);
void RegisterUnique(KernelRegistry& registry);
void RegisterVariadic(KernelRegistry& registry);
void RegisterViews(KernelRegistry& registry);
void RegisterWhere(KernelRegistry& registry);

}  // namespace light
