// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments.h"
#include "kernels/channels_last_conv.h"
#include "kernels/conv_layer.h"
#include "kernels/depthwise_conv.h"
#include "kernels/depthwise_pixels.h"
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
  explicit Conv(const KernelInfo& info)
      : attributes_(info), has_bias_(info.HasInput(2)), epilogue_(info.epilogue()), layouts_(info.layouts()) {
    const Tensor* weights = info.ConstantInput(1);
    if (!weights || weights->type() != ElementType::kFloat) return;
    if (info.options().winograd && attributes_.groups() == 1 && attributes_.window().is_dense())
      winograd_.Prepare(info, *weights, info.OutputType(0));
    if (!layouts_.any() || !winograd_.empty()) return;
    if (attributes_.groups() > 1) {
      depthwise_.Prepare(info, *weights);
    } else {
      channels_last_.Prepare(info, *weights);
    }
  }

  static LayoutSupport SupportedLayouts(const KernelInfo& info) {
    const Tensor* weights = info.ConstantInput(1);
    if (!weights || weights->type() != ElementType::kFloat || weights->rank() != 4) return LayoutSupport::kNone;
    const int64_t groups = info.Int("group", 1);
    if (groups > 1) {
      const bool is_depthwise = weights->dim(0) == groups && weights->dim(1) == 1;
      return is_depthwise ? LayoutSupport::kAlike : LayoutSupport::kNone;
    }
    // A vector holds filters: few of them, or few left over, would leave it empty.
    const int64_t filters = weights->dim(0), filled = (filters + 15) / 16 * 16;
    const bool suits = weights->dim(1) > 0 && filters >= 16 && 3 * filled <= 4 * filters;
    return suits ? LayoutSupport::kEach : LayoutSupport::kNone;
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
    if (layouts_.any() ? !winograd_.empty() : winograd_.Takes(layer))
      return winograd_.Run(context, layer, layouts_, x, target);
    if (layouts_.any() && layer.groups > 1) return depthwise_.Run(context, layer, x, target);
    if (layouts_.any()) return channels_last_.Run(context, layer, layouts_, x, target);
    if (layer.group_channels() == 1) {
      const PaddedLines lines(layer.window);
      if (lines.Suits() && layer.group_filters() < 8)
        return ConvolveDepthwise(context, layer, lines, x, weights, target);
    }
    if (layer.group_filters() >= 4 && layer.depth() > 0)
      return ConvolveByProduct(context, layer, false, x, weights, target);
    ConvolveDirectly<float>(context, layer, x, weights, target);
  }

  ConvAttributes attributes_;
  bool has_bias_;
  Epilogue epilogue_;
  Layouts layouts_;
  WinogradConv winograd_;
  ChannelsLastConv channels_last_;
  DepthwisePixels depthwise_;
};

}  // namespace

void RegisterConv(KernelRegistry& registry) {
  KernelRegistration registration = Registration("Conv", 1, 22, {{"T", SetOf(FloatTypes{})}});
  registration.epilogue = {.residual = true, .relu = true};
  registration.layout_support = Conv::SupportedLayouts;
  registry.RegisterKernelFn(std::move(registration), MakeKernel<Conv>);
}

}  // namespace light
