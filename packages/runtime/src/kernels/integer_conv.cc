// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv: sums of products of 8-bit integers, exact in 32 bits.
#include <algorithm>

#include "kernels/byte_patches.h"
#include "kernels/conv_layer.h"
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/quantization.h"
#include "kernels/scratch.h"

namespace light {
namespace {

// The elements less their zero points, of which there is one, or one per `pitch` elements. Padding then is 0.
const uint32_t* Centered(RuntimeContext& context, const Tensor& tensor, const Tensor* zeros, int64_t pitch) {
  const auto n = tensor.element_count();
  auto* centered = Scratch<uint32_t>(context, n);
  WithType(ByteTypes{}, tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool several = zeros && zeros->element_count() > 1;
    context.ParallelFor(n, 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int32_t zero = zeros ? zeros->Data<T>()[several ? i / pitch : 0] : 0;
        centered[i] = static_cast<uint32_t>(tensor.Data<T>()[i] - zero);
      }
    });
  });
  return centered;
}

/// A scalar, or one number per filter.
void CheckPerFilter(const Tensor& tensor, std::size_t i, const char* name, int64_t filters) {
  if (tensor.element_count() != 1 && (tensor.rank() != 1 || tensor.dim(0) != filters))
    FailArgument(InputLabel(i, name) + ": must be a scalar or have extents [" + std::to_string(filters) + "], got " +
                 Describe(tensor));
}

int32_t ZeroPoint(const Tensor* zeros, int64_t i) {
  if (zeros == nullptr) return 0;
  const int64_t at = zeros->element_count() > 1 ? i : 0;
  return zeros->type() == ElementType::kInt8 ? zeros->Data<int8_t>()[at] : zeros->Data<uint8_t>()[at];
}

/// Holds the filters, argument `i`, if they are constant.
void HoldConstant(const KernelInfo& info, std::size_t i, ConstantRows& held) {
  const Tensor* weights = info.ConstantInput(i);
  if (!weights || weights->rank() < 3 || weights->element_count() == 0) return;
  held.Hold(info, i, weights->dim(0), weights->element_count() / weights->dim(0));
}

/// As products of the filters and of what their windows see.
void ConvolveByProducts(RuntimeContext& context, const ConvLayer& layer, const Tensor& x, const Tensor* x_zero,
                        const Tensor& weights, const ConstantRows& held, const Tensor* w_zero, const int32_t* bias,
                        int32_t* y) {
  const bool x_signed = x.type() == ElementType::kInt8, w_signed = weights.type() == ElementType::kInt8;
  const int64_t filters = layer.group_filters(), depth = layer.depth(), plane = layer.window.output_size();
  const ByteRows rows = held.empty() ? HoldRows(context, weights.data(), w_signed, layer.filters, depth) : held.rows();
  auto* row_zero = Scratch<int32_t>(context, layer.filters);
  for (int64_t f = 0; f < layer.filters; ++f) row_zero[f] = ZeroPoint(w_zero, f) - (w_signed ? 0 : 128);
  auto* column_zero = Scratch<int32_t>(context, plane);
  const int32_t zero = ZeroPoint(x_zero, 0) + (x_signed ? 128 : 0);
  std::fill_n(column_zero, plane, zero);
  BytePatches patches(context, layer);
  for (int64_t unit = 0; unit < layer.batch * layer.groups; ++unit) {
    const int64_t first = unit % layer.groups * filters;
    const auto* image =
        static_cast<const uint8_t*>(x.data()) + unit * layer.group_channels() * layer.window.input_size();
    int32_t* out = y + unit * filters * plane;
    const PackedBytes right = patches.Pack(context, image, x_signed, static_cast<uint8_t>(zero));
    MultiplyBytes(context, {rows.rows + first * RowPitch(depth), rows.sums + first}, row_zero + first, right,
                  column_zero, filters, plane, depth, out);
    if (bias == nullptr) continue;
    context.ParallelFor(filters, 0.3 * static_cast<double>(plane), [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) {
        const auto added = static_cast<uint32_t>(bias[first + f]);
        auto* line = reinterpret_cast<uint32_t*>(out + f * plane);
        for (int64_t i = 0; i < plane; ++i) line[i] += added;
      }
    });
  }
}

void Convolve(RuntimeContext& context, const ConvLayer& layer, const Tensor& x, const Tensor* x_zero,
              const Tensor& weights, const ConstantRows& held, const Tensor* w_zero, const int32_t* bias, int32_t* y) {
  constexpr int64_t kFewFilters = 2;  // patches are not worth packing for
  if (layer.group_filters() > kFewFilters)
    return ConvolveByProducts(context, layer, x, x_zero, weights, held, w_zero, bias, y);
  const uint32_t* input = Centered(context, x, x_zero, 1);
  const uint32_t* filters = Centered(context, weights, w_zero, std::max<int64_t>(layer.depth(), 1));
  ConvolveDirectly<uint32_t>(context, layer, input, filters,
                             {.y = reinterpret_cast<uint32_t*>(y), .bias = reinterpret_cast<const uint32_t*>(bias)});
}

class ConvInteger final : public KernelBase {
 public:
  explicit ConvInteger(const KernelInfo& info) : attributes_(info) { HoldConstant(info, 1, held_); }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "x");
    const Tensor& weights = Required(context, 1, "w");
    const ConvLayer layer = attributes_.Resolve(x, 1, weights, 0, nullptr);
    const Tensor* x_zero = context.Input(2) ? &SingleElement(context, 2, "x_zero_point") : nullptr;
    const Tensor* w_zero = context.Input(3);
    if (w_zero) CheckPerFilter(*w_zero, 3, "w_zero_point", layer.filters);
    Tensor& y = context.Output(0, layer.OutputDims());
    if (y.element_count() == 0) return;
    Convolve(context, layer, x, x_zero, weights, held_, w_zero, nullptr, y.Data<int32_t>());
  }

 private:
  ConvAttributes attributes_;
  ConstantRows held_;
};

class QLinearConv final : public KernelBase {
 public:
  explicit QLinearConv(const KernelInfo& info) : attributes_(info) { HoldConstant(info, 3, held_); }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "x");
    const Tensor& weights = Required(context, 3, "w");
    const Tensor* bias = context.Input(8);
    const ConvLayer layer = attributes_.Resolve(x, 3, weights, 8, bias);
    const Tensor& x_scale = SingleElement(context, 1, "x_scale");
    const Tensor& x_zero = SingleElement(context, 2, "x_zero_point");
    const Tensor& w_scale = Required(context, 4, "w_scale");
    const Tensor& w_zero = Required(context, 5, "w_zero_point");
    CheckPerFilter(w_scale, 4, "w_scale", layer.filters);
    CheckPerFilter(w_zero, 5, "w_zero_point", layer.filters);
    const Tensor& y_scale = SingleElement(context, 6, "y_scale");
    const Tensor& y_zero = SingleElement(context, 7, "y_zero_point");
    Tensor& y = context.Output(0, layer.OutputDims());
    if (y.element_count() == 0) return;
    auto* sums = Scratch<int32_t>(context, y.element_count());
    Convolve(context, layer, x, &x_zero, weights, held_, &w_zero, bias ? bias->Data<int32_t>() : nullptr, sums);
    const double common = ElementAsDouble(x_scale, 0) / ElementAsDouble(y_scale, 0);
    const int64_t plane = layer.window.output_size();
    const simd::QuantizedRange range = ByteRange(y_zero);
    auto* out = static_cast<uint8_t*>(y.data());
    context.ParallelFor(layer.batch * layer.filters, 0.5 * static_cast<double>(plane), [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const double factor = common * ElementAsDouble(w_scale, w_scale.element_count() > 1 ? unit % layer.filters : 0);
        Simd().requantize(sums + unit * plane, &factor, true, &range, out + unit * plane,
                          static_cast<std::size_t>(plane));
      }
    });
  }

 private:
  ConvAttributes attributes_;
  ConstantRows held_;
};

}  // namespace

void RegisterIntegerConv(KernelRegistry& registry) {
  const TypeSet bytes = SetOf(ByteTypes{});
  registry.RegisterKernelFn(Registration("ConvInteger", 10, 10, {{"T1", bytes}, {"T2", bytes}}),
                            MakeKernel<ConvInteger>);
  registry.RegisterKernelFn(Registration("QLinearConv", 10, 10, {{"T1", bytes}, {"T2", bytes}, {"T3", bytes}}),
                            MakeKernel<QLinearConv>);
}

}  // namespace light
