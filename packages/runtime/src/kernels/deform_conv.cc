// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/matrix_product.h"
#include "kernels/scratch.h"
#include "kernels/vision.h"
#include "kernels/window.h"

namespace light {
namespace {

/// Points between the elements of a plane: the four around each, and how much each counts. Those of no weight do not
/// count, be they beyond the border or infinite.
template <class C>
struct Points {
  static constexpr int64_t kMost = 64;
  int64_t places[4][kMost];
  C weights[4][kMost];

  void Set(int64_t i, C y, C x, int64_t height, int64_t width, C factor) {
    const bool is_near = y > -1 && y < static_cast<C>(height) && x > -1 && x < static_cast<C>(width);
    const C top = is_near ? std::floor(y) : 0, left = is_near ? std::floor(x) : 0;
    const auto row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
    const C down = y - top, across = x - left;
    int64_t place[4];
    C weight[4];
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t r = row + k / 2, c = column + k % 2;
      const bool is_inside = is_near && r >= 0 && r < height && c >= 0 && c < width;
      place[k] = is_inside ? r * width + c : 0;
      weight[k] = is_inside ? (k / 2 ? down : 1 - down) * (k % 2 ? across : 1 - across) * factor : 0;
    }
    // One of no weight takes half of the weight, and the place, of one that counts.
    for (int64_t k = 0; k < 4; ++k) {
      for (int64_t other = 0; weight[k] == 0 && other < 4; ++other) {
        weight[k] = weight[other] /= 2;
        place[k] = place[other];
      }
    }
    for (int64_t k = 0; k < 4; ++k) {
      places[k][i] = place[k];
      weights[k][i] = weight[k];
    }
  }

  template <class T>
  void Look(const T* plane, int64_t n, C* values) const {
    for (int64_t i = 0; i < n; ++i) {
      const C sum =
          weights[0][i] * static_cast<C>(plane[places[0][i]]) + weights[1][i] * static_cast<C>(plane[places[1][i]]) +
          weights[2][i] * static_cast<C>(plane[places[2][i]]) + weights[3][i] * static_cast<C>(plane[places[3][i]]);
      values[i] = weights[0][i] == 0 ? C(0) : sum;
    }
  }
};

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
    if (x.rank() < 3 || x.rank() > kMostAxes + 2)
      FailArgument(InputLabel(0, "X") + ": must have 1 to " + std::to_string(kMostAxes) + " spatial axes, got " +
                   Describe(x));
    const std::size_t spatial = x.rank() - 2;
    const int64_t batch = x.dim(0), channels = x.dim(1);
    if (weights.rank() != x.rank() || weights.dim(0) % group_ != 0 || weights.dim(1) * group_ != channels)
      FailArgument(InputLabel(1, "W") + ": must have filters that " + std::to_string(group_) +
                   " groups share, each of a group's share of " + std::to_string(channels) + " channels, got " +
                   Describe(weights));
    if (channels % offset_group_ != 0)
      FailArgument(InputLabel(0, "X") + ": channels must be a multiple of offset_group, " +
                   std::to_string(offset_group_) + ", got " + Describe(x));
    const Window w = attributes_.Resolve(x, weights.dims().span().subspan(2));
    if (!attributes_.kernel().empty() && !w.kernel.Equals(attributes_.kernel()))
      FailArgument(InputLabel(1, "W") + ": must have the extents of kernel_shape, got " + Describe(weights));
    const int64_t filters = weights.dim(0), taps = Product(w.kernel, 0, spatial);
    const auto check = [&](const Tensor& tensor, std::size_t i, const char* name, int64_t planes) {
      const Dims wanted = w.OutputDims(batch, planes);
      if (!tensor.dims().Equals(wanted))
        FailArgument(InputLabel(i, name) + ": must be " + conversions::FormatExtents(wanted) + ", got " +
                     Describe(tensor));
    };
    check(offset, 2, "offset", MultiplyExtents(MultiplyExtents(offset_group_, taps), static_cast<int64_t>(spatial)));
    if (mask) check(*mask, 4, "mask", MultiplyExtents(offset_group_, taps));
    if (bias && (bias->rank() != 1 || bias->dim(0) != filters))
      FailArgument(InputLabel(3, "B") + ": must be a vector of " + std::to_string(filters) + ", got " +
                   Describe(*bias));
    Tensor& y = context.Output(0, w.OutputDims(batch, filters));
    if (y.element_count() == 0) return;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Convolve<T>(context, w, x, weights.Data<T>(), offset.Data<T>(), bias ? bias->Data<T>() : nullptr,
                  mask ? mask->Data<T>() : nullptr, y);
    });
  }

 private:
  static constexpr std::size_t kMostAxes = 6;

  template <class T>
  void Convolve(RuntimeContext& context, const Window& w, const Tensor& x, const T* weights, const T* offset,
                const T* bias, const T* mask, Tensor& y) const {
    using C = ComputeType<T>;
    const int64_t channels = x.dim(1), taps = Product(w.kernel, 0, w.kernel.rank()), positions = w.output_size();
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
      const auto rank = static_cast<int64_t>(w.input.rank());
      const T* image = x.Data<T>() + n * channels * w.input_size();
      const T* shifts = offset + n * offset_group_ * taps * rank * positions;
      const T* factors = mask ? mask + n * offset_group_ * taps * positions : nullptr;
      if (rank == 2)
        Sample(context, w, image, channels, shifts, factors, columns);
      else
        SampleAny(context, w, image, channels, shifts, factors, columns);
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
  void Sample(RuntimeContext& context, const Window& w, const T* image, int64_t channels, const T* offset,
              const T* mask, C* columns) const {
    const int64_t taps = w.kernel[0] * w.kernel[1], positions = w.output_size();
    const int64_t height = w.input[0], width = w.input[1], shared = channels / offset_group_;
    if (height * width == 0) {  // all padding
      std::fill_n(columns, channels * taps * positions, C(0));
      return;
    }
    constexpr int64_t kBlock = Points<C>::kMost;
    const int64_t blocks = (positions + kBlock - 1) / kBlock;
    // The channels of a group look at the same points.
    const double cost = kBlock * (15 + 4 * static_cast<double>(shared));
    context.ParallelFor(shared == 0 ? 0 : offset_group_ * taps * blocks, cost, [&](int64_t begin, int64_t end) {
      Points<C> points;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t first = unit % blocks * kBlock, n = std::min(kBlock, positions - first);
        const int64_t tap = unit / blocks % taps, group = unit / blocks / taps;
        const T* shift = offset + (group * taps + tap) * 2 * positions + first;
        const T* factor = mask ? mask + (group * taps + tap) * positions + first : nullptr;
        const int64_t row = tap / w.kernel[1] * w.dilations[0] - w.pads[0];
        const int64_t column = tap % w.kernel[1] * w.dilations[1] - w.pads[1];
        for (int64_t i = 0; i < n; ++i) {
          const int64_t y = (first + i) / w.output[1] * w.strides[0] + row;
          const int64_t x = (first + i) % w.output[1] * w.strides[1] + column;
          points.Set(i, static_cast<C>(y) + static_cast<C>(shift[i]),
                     static_cast<C>(x) + static_cast<C>(shift[positions + i]), height, width,
                     factor ? static_cast<C>(factor[i]) : C(1));
        }
        for (int64_t channel = group * shared; channel < (group + 1) * shared; ++channel)
          points.Look(image + channel * height * width, n, columns + (channel * taps + tap) * positions + first);
      }
    });
  }

  /// As Sample, for any number of axes.
  template <class T, class C>
  void SampleAny(RuntimeContext& context, const Window& w, const T* image, int64_t channels, const T* offset,
                 const T* mask, C* columns) const {
    const int64_t taps = Product(w.kernel, 0, w.kernel.rank()), positions = w.output_size(), size = w.input_size();
    const int64_t shared = channels / offset_group_;
    const double cost = 30 + 4 * static_cast<double>(shared);
    context.ParallelFor(shared == 0 ? 0 : offset_group_ * taps * positions, cost, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t position = unit % positions, tap = unit / positions % taps, group = unit / positions / taps;
        int64_t places[1 << kMostAxes];
        C weights[1 << kMostAxes];
        const int64_t n =
            Corners(w, position, tap, offset + (group * taps + tap) * w.input.rank() * positions,
                    mask ? static_cast<C>(mask[(group * taps + tap) * positions + position]) : C(1), places, weights);
        for (int64_t channel = group * shared; channel < (group + 1) * shared; ++channel) {
          C sum = 0;
          for (int64_t k = 0; k < n; ++k) sum += weights[k] * static_cast<C>(image[channel * size + places[k]]);
          columns[(channel * taps + tap) * positions + position] = sum;
        }
      }
    });
  }

  /// The elements around the point that a tap meets at an output position, but for those that do not count. Returns
  /// how many there are.
  template <class T, class C>
  static int64_t Corners(const Window& w, int64_t position, int64_t tap, const T* offset, C factor, int64_t* places,
                         C* weights) {
    const std::size_t rank = w.input.rank();
    const int64_t positions = w.output_size();
    if (factor == 0) return 0;
    int64_t n = 1, pitch = 1, left = position;
    places[0] = 0;
    weights[0] = factor;
    for (std::size_t d = rank; d-- > 0; pitch *= w.input[d]) {
      const int64_t at = left % w.output[d] * w.strides[d] - w.pads[d] + tap % w.kernel[d] * w.dilations[d];
      left /= w.output[d];
      tap /= w.kernel[d];
      const C point = static_cast<C>(at) + static_cast<C>(offset[static_cast<int64_t>(d) * positions + position]);
      if (!(point > -1 && point < static_cast<C>(w.input[d]))) return 0;
      const C low = std::floor(point), part = point - low;
      const auto first = static_cast<int64_t>(low);
      // Each corner so far becomes two: here, and one step along this axis.
      const bool has_low = first >= 0, has_high = part > 0 && first + 1 < w.input[d];
      if (!has_low && !has_high) return 0;
      for (int64_t k = 0; k < n; ++k) {
        if (has_low && has_high) {
          places[n + k] = places[k] + (first + 1) * pitch;
          weights[n + k] = weights[k] * part;
        }
        places[k] += (has_low ? first : first + 1) * pitch;
        weights[k] *= has_low ? 1 - part : part;
      }
      if (has_low && has_high) n *= 2;
    }
    return n;
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
