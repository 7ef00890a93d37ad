// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/conv_layer.h"
#include "kernels/depthwise_conv.h"
#include "kernels/epilogue.h"
#include "kernels/families.h"
#include "kernels/matrix_product.h"
#include "kernels/product_conv.h"
#include "kernels/scratch.h"
#include "kernels/winograd.h"

namespace light {
namespace {

class Conv final : public KernelBase {
 public:
  explicit Conv(const KernelInfo& info) : attributes_(info), has_bias_(info.HasInput(2)), epilogue_(info.epilogue()) {
    const Tensor* weights = info.ConstantInput(1);
    if (!weights || weights->type() != ElementType::kFloat) return;
    if (info.options().winograd && attributes_.groups() == 1 && attributes_.window().is_dense())
      winograd_.Prepare(info, *weights, info.OutputType(0));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& weights = Required(context, 1, "W");
    const Tensor* bias = has_bias_ ? context.Input(2) : nullptr;  // else it may be one of the epilogue's
    const ConvLayer layer = attributes_.Resolve(x, 1, weights, 2, bias);
    Tensor& y = context.Output(0, layer.OutputDims());
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, float>) {
        const EpilogueArguments epilogue = Resolve(epilogue_, context);
        Float(context, layer, x.Data<T>(), weights.Data<T>(),
              {.y = y.Data<T>(),
               .bias = bias ? bias->Data<T>() : nullptr,
               .residual = epilogue.residual,
               .relu = epilogue.relu});
      } else if constexpr (kIsSmallFloat<T>) {
        const float* input = WidenForRun(context, x.Data<T>(), x.element_count());
        const float* filters = WidenForRun(context, weights.Data<T>(), weights.element_count());
        const float* offsets = bias ? WidenForRun(context, bias->Data<T>(), bias->element_count()) : nullptr;
        auto* wide = Scratch<float>(context, y.element_count());
        Float(context, layer, input, filters, {.y = wide, .bias = offsets});
        NarrowTo(context, wide, y.element_count(), y.Data<T>());
      } else {
        ConvolveDirectly<T>(context, layer, x.Data<T>(), weights.Data<T>(),
                            {.y = y.Data<T>(), .bias = bias ? bias->Data<T>() : nullptr});
      }
    });
  }

 private:
  void Float(RuntimeContext& context, const ConvLayer& layer, const float* x, const float* weights,
             const ConvTarget& target) const {
    if (winograd_.Takes(layer)) return winograd_.Run(context, layer, x, target);
    if (layer.group_channels() == 1) {
      const PaddedLines lines(layer.window);
      if (lines.Suits() && layer.group_filters() < 8)
        return ConvolveDepthwise(context, layer, lines, x, weights, target);
    }
    const bool by_product = layer.group_filters() >= 4 && layer.depth() > 0;
    (by_product ? ConvolveByProduct : ConvolveDirectly<float>)(context, layer, x, weights, target);
  }

  ConvAttributes attributes_;
  bool has_bias_;
  Epilogue epilogue_;
  WinogradConv winograd_;
};

}  // namespace

void RegisterConv(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Conv", 1, 22, {{"T", SetOf(FloatTypes{})}});
  registration.epilogue = {.residual = true, .relu = true};
  registry.RegisterKernelFn(std::move(registration), MakeKernel<Conv>);
}

}  // namespace light
