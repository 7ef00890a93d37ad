// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/matrix_product.h"
#include "kernels/scratch.h"
#include "kernels/vision.h"
#include "kernels/window.h"

namespace light {
namespace {

/// The value of a plane at a point between its elements; beyond the border all are 0.
template <class T, class C>
C Interpolate(const T* plane, int64_t height, int64_t width, C y, C x) {
  if (!(y > -1 && y < static_cast<C>(height) && x > -1 && x < static_cast<C>(width))) return 0;
  const C top = std::floor(y), left = std::floor(x);
  const auto row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
  const C down = y - top, across = x - left;
  const auto part = [&](int64_t r, int64_t c, C weight) -> C {
    if (weight == 0 || r < 0 || r >= height || c < 0 || c >= width) return 0;
    return weight * static_cast<C>(plane[r * width + c]);
  };
  return part(row, column, (1 - down) * (1 - across)) + part(row, column + 1, (1 - down) * across) +
         part(row + 1, column, down * (1 - across)) + part(row + 1, column + 1, down * across);
}

class DeformConv final : public KernelBase {
 public:
  explicit DeformConv(const KernelInfo& info)
      : attributes_(info), group_(info.Int("group", 1)), offset_group_(info.Int("offset_group", 1)) {
    if (group_ < 1 || offset_group_ < 1)
      info.Fail(ErrorCode::kInvalidGraph, "attributes group and offset_group: must be positive, got " +
                                              std::to_string(group_) + " and " + std::to_string(offset_group_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& weights = Required(context, 1, "W");
    const Tensor& offset = Required(context, 2, "offset");
    const Tensor* bias = context.Input(3);
    const Tensor* mask = context.Input(4);
    if (x.rank() != 4)
      throw Error(x.rank() == 3 || x.rank() > 4 ? ErrorCode::kNotImplemented : ErrorCode::kInvalidArgument,
                  InputLabel(0, "X") + ": must have two spatial axes, got " + Describe(x));
    const int64_t batch = x.dim(0), channels = x.dim(1);
    if (weights.rank() != 4 || weights.dim(0) % group_ != 0 || weights.dim(1) * group_ != channels)
      FailArgument(InputLabel(1, "W") + ": must have filters that " + std::to_string(group_) +
                   " groups share, each of a group's share of " + std::to_string(channels) + " channels, got " +
                   Describe(weights));
    if (channels % offset_group_ != 0)
      FailArgument(InputLabel(0, "X") + ": channels must be a multiple of offset_group, " +
                   std::to_string(offset_group_) + ", got " + Describe(x));
    const Window w = attributes_.Resolve(x, weights.dims().span().subspan(2));
    if (!attributes_.kernel().empty() &&
        (attributes_.kernel()[0] != w.kernel[0] || attributes_.kernel()[1] != w.kernel[1]))
      FailArgument(InputLabel(1, "W") + ": must have the extents of kernel_shape, got " + Describe(weights));
    const int64_t filters = weights.dim(0), taps = w.kernel[0] * w.kernel[1];
    const auto check = [&](const Tensor& tensor, std::size_t i, const char* name, int64_t planes) {
      const int64_t wanted[] = {batch, planes, w.output[0], w.output[1]};
      if (!tensor.dims().Equals(wanted))
        FailArgument(InputLabel(i, name) + ": must be [" + std::to_string(batch) + ", " + std::to_string(planes) +
                     ", " + std::to_string(w.output[0]) + ", " + std::to_string(w.output[1]) + "], got " +
                     Describe(tensor));
    };
    check(offset, 2, "offset", offset_group_ * taps * 2);
    if (mask) check(*mask, 4, "mask", offset_group_ * taps);
    if (bias && (bias->rank() != 1 || bias->dim(0) != filters))
      FailArgument(InputLabel(3, "B") + ": must be a vector of " + std::to_string(filters) + ", got " +
                   Describe(*bias));
    const int64_t dims[] = {batch, filters, w.output[0], w.output[1]};
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Convolve<T>(context, w, x, weights.Data<T>(), offset.Data<T>(), bias ? bias->Data<T>() : nullptr,
                  mask ? mask->Data<T>() : nullptr, y);
    });
  }

 private:
  template <class T>
  void Convolve(RuntimeContext& context, const Window& w, const Tensor& x, const T* weights, const T* offset,
                const T* bias, const T* mask, Tensor& y) const {
    using C = ComputeType<T>;
    const int64_t channels = x.dim(1), taps = w.kernel[0] * w.kernel[1], positions = w.output_size();
    const int64_t depth = channels / group_ * taps, rows = y.dim(1) / group_;
    const C* wide;
    if constexpr (kIsSmallFloat<T>)
      wide = WidenForRun(context, weights, y.dim(1) * depth);
    else
      wide = weights;
    auto* columns = Scratch<C>(context, MultiplyExtents(channels * taps, positions));
    auto* packed = Scratch<C>(context, std::is_same_v<C, float> ? PackedSize(depth, positions) : 0);
    auto* product = Scratch<C>(context, rows * positions);
    for (int64_t n = 0; n < x.dim(0); ++n) {
      Sample(context, w, x.Data<T>() + n * channels * w.input_size(), channels,
             offset + n * offset_group_ * taps * 2 * positions,
             mask ? mask + n * offset_group_ * taps * positions : nullptr, columns);
      for (int64_t g = 0; g < group_; ++g) {
        Multiply(context, wide + g * rows * depth, columns + g * depth * positions, rows, positions, depth, packed,
                 product);
        T* to = y.Data<T>() + (n * group_ + g) * rows * positions;
        const T* added = bias ? bias + g * rows : nullptr;
        context.ParallelFor(rows * positions, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            to[i] = T(product[i] + (added ? static_cast<C>(added[i / positions]) : C(0)));
        });
      }
    }
  }

  /// Columns [channel, tap, position] of one image: what each tap of the window meets.
  template <class T, class C>
  void Sample(RuntimeContext& context, const Window& w, const T* x, int64_t channels, const T* offset, const T* mask,
              C* columns) const {
    const int64_t taps = w.kernel[0] * w.kernel[1], positions = w.output_size();
    const int64_t height = w.input[0], width = w.input[1], shared = channels / offset_group_;
    context.ParallelFor(channels * taps, 15 * static_cast<double>(positions), [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t channel = unit / taps, tap = unit % taps, group = channel / shared;
        const T* shift = offset + (group * taps + tap) * 2 * positions;
        const T* factor = mask ? mask + (group * taps + tap) * positions : nullptr;
        const int64_t row = tap / w.kernel[1] * w.dilations[0] - w.pads[0];
        const int64_t column = tap % w.kernel[1] * w.dilations[1] - w.pads[1];
        for (int64_t i = 0; i < positions; ++i) {
          const C at_row = static_cast<C>(i / w.output[1] * w.strides[0] + row) + static_cast<C>(shift[i]);
          const C at_column =
              static_cast<C>(i % w.output[1] * w.strides[1] + column) + static_cast<C>(shift[positions + i]);
          const C value = Interpolate(x + channel * height * width, height, width, at_row, at_column);
          columns[unit * positions + i] = factor ? value * static_cast<C>(factor[i]) : value;
        }
      }
    });
  }

  static void Multiply(RuntimeContext& context, const float* a, const float* b, int64_t m, int64_t n, int64_t k,
                       float* packed, float* c) {
    const auto nr = static_cast<int64_t>(Simd().nr);
    const auto columns = static_cast<std::size_t>(n), depth = static_cast<std::size_t>(k);
    context.ParallelFor((n + nr - 1) / nr, 0.1 * static_cast<double>(k * nr), [&](int64_t begin, int64_t end) {
      Simd().pack_b(b, n, 1, depth, columns, static_cast<std::size_t>(begin), static_cast<std::size_t>(end), packed);
    });
    RunProducts(context, 1, m, [&](int64_t) {
      return simd::GemmArgs{a, k, 1, packed, c, n, columns, depth, 1.f, nullptr, nullptr, false, false};
    });
  }
  static void Multiply(RuntimeContext& context, const double* a, const double* b, int64_t m, int64_t n, int64_t k,
                       double*, double* c) {
    MultiplyPlain<double>(context, {a, k, 1}, {b, n, 1}, m, n, k, c);
  }

  WindowAttributes attributes_;
  int64_t group_, offset_group_;
};

}  // namespace

void RegisterDeformConv(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("DeformConv", 19, 22, {{"T", SetOf(FloatTypes{})}}), MakeKernel<DeformConv>);
}

}  // namespace light
