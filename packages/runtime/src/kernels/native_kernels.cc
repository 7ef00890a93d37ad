// SPDX-License-Identifier: Apache-2.0
#include "kernels/casts.h"
#include "kernels/families.h"
#include "kernels/losses.h"
#include "kernels/random_numbers.h"
#include "kernels/signal.h"
#include "kernels/text.h"
#include "kernels/token_mixing.h"
#include "kernels/vision.h"

namespace light {

const KernelRegistry& NativeKernels() {
  static const KernelRegistry* registry = [] {
    auto* kernels = new KernelRegistry;
    RegisterActivation(*kernels);
    RegisterAffineGrid(*kernels);
    RegisterArgReduce(*kernels);
    RegisterArithmetic(*kernels);
    RegisterAttention(*kernels);
    RegisterAveragePooling(*kernels);
    RegisterBatchNormalization(*kernels);
    RegisterBernoulli(*kernels);
    RegisterBitCast(*kernels);
    RegisterBitwise(*kernels);
    RegisterCast(*kernels);
    RegisterCausalConvWithState(*kernels);
    RegisterCenterCropPad(*kernels);
    RegisterClip(*kernels);
    RegisterCol2Im(*kernels);
    RegisterComparison(*kernels);
    RegisterConcat(*kernels);
    RegisterConstant(*kernels);
    RegisterControlFlow(*kernels);
    RegisterConv(*kernels);
    RegisterConvTranspose(*kernels);
    RegisterCumulative(*kernels);
    RegisterDeformConv(*kernels);
    RegisterDepthToSpace(*kernels);
    RegisterDequantize(*kernels);
    RegisterDet(*kernels);
    RegisterDft(*kernels);
    RegisterDropout(*kernels);
    RegisterEinsum(*kernels);
    RegisterExpand(*kernels);
    RegisterFloatClass(*kernels);
    RegisterGather(*kernels);
    RegisterGatherElements(*kernels);
    RegisterGemm(*kernels);
    RegisterGenerators(*kernels);
    RegisterGlobalPooling(*kernels);
    RegisterGridSample(*kernels);
    RegisterGroupNormalization(*kernels);
    RegisterGru(*kernels);
    RegisterIntegerConv(*kernels);
    RegisterIntegerMatMul(*kernels);
    RegisterLayerNormalization(*kernels);
    RegisterLinearAttention(*kernels);
    RegisterLogic(*kernels);
    RegisterLpNormalization(*kernels);
    RegisterLrn(*kernels);
    RegisterLstm(*kernels);
    RegisterMatMul(*kernels);
    RegisterMaxRoiPool(*kernels);
    RegisterMaxUnpool(*kernels);
    RegisterMeanVarianceNormalization(*kernels);
    RegisterMelWeightMatrix(*kernels);
    RegisterMlEncoders(*kernels);
    RegisterMlFeatures(*kernels);
    RegisterMlLinear(*kernels);
    RegisterMlSvm(*kernels);
    RegisterMlTrees(*kernels);
    RegisterMod(*kernels);
    RegisterMultinomial(*kernels);
    RegisterNegativeLogLikelihoodLoss(*kernels);
    RegisterNonMaxSuppression(*kernels);
    RegisterOneHot(*kernels);
    RegisterOptional(*kernels);
    RegisterPRelu(*kernels);
    RegisterPad(*kernels);
    RegisterPooling(*kernels);
    RegisterPow(*kernels);
    RegisterQuantize(*kernels);
    RegisterRandom(*kernels);
    RegisterReduce(*kernels);
    RegisterReduceNorm(*kernels);
    RegisterResize(*kernels);
    RegisterReverseSequence(*kernels);
    RegisterRnn(*kernels);
    RegisterRoiAlign(*kernels);
    RegisterRotaryEmbedding(*kernels);
    RegisterRounding(*kernels);
    RegisterScan(*kernels);
    RegisterScatter(*kernels);
    RegisterSelection(*kernels);
    RegisterSequence(*kernels);
    RegisterSlice(*kernels);
    RegisterSmallCast(*kernels);
    RegisterSoftmax(*kernels);
    RegisterSoftmaxCrossEntropyLoss(*kernels);
    RegisterSplit(*kernels);
    RegisterStft(*kernels);
    RegisterStringConcat(*kernels);
    RegisterStringNormalizer(*kernels);
    RegisterStringSplit(*kernels);
    RegisterSwiGlu(*kernels);
    RegisterTensorScatter(*kernels);
    RegisterTfIdfVectorizer(*kernels);
    RegisterTopK(*kernels);
    RegisterTranspose(*kernels);
    RegisterTrigonometry(*kernels);
    RegisterTrilu(*kernels);
    RegisterUnary(*kernels);
    RegisterUnique(*kernels);
    RegisterVariadic(*kernels);
    RegisterViews(*kernels);
    RegisterWhere(*kernels);
    RegisterWindows(*kernels);
    return kernels;
  }();
  return *registry;
}

}  // namespace light
