// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/families.h"
#include "kernels/moments.h"
#include "kernels/simd_dispatch.h"

namespace light {
namespace {

/// X as [batch, channels, plane]. Without `spatial`, every element of a sample is a channel of its own.
struct Layout {
  int64_t batch, channels, plane;

  Layout(const Tensor& x, bool spatial) {
    if (x.rank() == 0) FailArgument("input 0 (X): must have at least one axis, got " + Describe(x));
    batch = x.dim(0);
    // A single axis is the batch, with one channel.
    channels = x.rank() == 1 ? 1 : spatial ? x.dim(1) : Product(x.dims(), 1, x.rank());
    plane = spatial ? Product(x.dims(), std::min<std::size_t>(2, x.rank()), x.rank()) : 1;
  }
};

class BatchNormalization final : public KernelBase {
 public:
  explicit BatchNormalization(const KernelInfo& info)
      : epsilon_(info.Float("epsilon", 1e-5f)),
        momentum_(info.Float("momentum", 0.9f)),
        training_(info.Int("training_mode", 0) != 0),
        spatial_(info.Int("spatial", 1) != 0) {
    for (std::size_t i = 1; i < info.output_count(); ++i)
      if (info.HasOutput(i) && !training_)
        info.Fail(ErrorCode::kInvalidGraph,
                  "output " + std::to_string(i) + " exists in training mode only, got training_mode=0");
  }

  /// The versions before 14 leave open what the saved statistics are, and the first ones train unless told otherwise.
  static std::string Declines(const KernelInfo& info) {
    if (info.since_version() >= 14) return "";
    bool training = info.since_version() < 7 && info.Int("is_test", 0) == 0;
    for (std::size_t i = 1; i < info.output_count(); ++i) training |= info.HasOutput(i);
    return training ? "training mode before version 14 is not supported" : "";
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Layout layout(x, spatial_);
    static constexpr const char* kNames[] = {"X", "scale", "B", "mean", "var"};
    const Tensor* parameters[5] = {};
    for (std::size_t i = 1; i < 5; ++i) {
      parameters[i] = &Required(context, i, kNames[i]);
      const bool fits = spatial_ || x.rank() == 1
                            ? parameters[i]->rank() == 1 && parameters[i]->dim(0) == layout.channels
                            : parameters[i]->dims().Equals(x.dims().span().subspan(1));
      if (!fits)
        FailArgument(InputLabel(i, kNames[i]) + ": must have " + std::to_string(layout.channels) +
                     " elements, one per channel of " + Describe(x) + ", got " + Describe(*parameters[i]));
    }
    Tensor& y = context.Output(0, x.dims());
    const auto channels = static_cast<std::size_t>(layout.channels);
    auto* mean = static_cast<double*>(context.TemporaryBuffer(sizeof(double) * 4 * channels));
    double *variance = mean + channels, *factors = variance + channels;
    for (std::size_t c = 0; c < channels; ++c) {
      mean[c] = ElementAsDouble(*parameters[3], static_cast<int64_t>(c));
      variance[c] = ElementAsDouble(*parameters[4], static_cast<int64_t>(c));
    }
    if (training_) Train(context, x, layout, mean, variance);
    if (y.element_count() == 0) return;
    for (std::size_t c = 0; c < channels; ++c) {
      factors[2 * c] = ElementAsDouble(*parameters[1], static_cast<int64_t>(c)) / std::sqrt(variance[c] + epsilon_);
      factors[2 * c + 1] = ElementAsDouble(*parameters[2], static_cast<int64_t>(c)) - mean[c] * factors[2 * c];
    }
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (layout.plane == 1) return ScaleRows(context, layout, factors, x.Data<T>(), y.Data<T>());
      ScalePlanes(context, layout, factors, x.Data<T>(), y.Data<T>());
    });
  }

 private:
  // Replaces the running statistics by those of X, after storing the new running ones.
  void Train(RuntimeContext& context, const Tensor& x, const Layout& layout, double* mean, double* variance) const {
    auto* running =
        static_cast<double*>(context.TemporaryBuffer(sizeof(double) * 2 * static_cast<std::size_t>(layout.channels)));
    const int64_t batch = layout.plane == 0 ? 0 : layout.batch;  // planes without elements are not counted
    const int64_t count = batch * layout.plane;
    WithType(FloatTypes{}, x.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto planes = [&](int64_t c, auto&& sum) {
        double total = 0;
        for (int64_t b = 0; b < batch; ++b) total += sum(x.Data<T>() + (b * layout.channels + c) * layout.plane);
        return total / static_cast<double>(count);
      };
      context.ParallelFor(layout.channels, static_cast<double>(count) + 10, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          const double center = planes(c, [&](const T* plane) { return Sum(plane, layout.plane); });
          const double spread = planes(c, [&](const T* plane) { return SumOfSquares(plane, layout.plane, center); });
          const double keep = momentum_;
          running[c] = mean[c] * keep + center * (1 - keep);
          running[layout.channels + c] = variance[c] * keep + spread * (1 - keep);
          mean[c] = center;
          variance[c] = spread;
        }
      });
    });
    for (std::size_t i = 1; i < 3; ++i)
      if (context.OutputRequested(i))
        Store(running + static_cast<int64_t>(i - 1) * layout.channels, context.Output(i, {&layout.channels, 1}));
  }

  template <class T>
  static void ScalePlanes(RuntimeContext& context, const Layout& layout, const double* factors, const T* x, T* y) {
    const int64_t plane = layout.plane;
    const double cost = 0.4 * static_cast<double>(plane) + 2;
    context.ParallelFor(layout.batch * layout.channels, cost, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const double factor = factors[2 * (p % layout.channels)], shift = factors[2 * (p % layout.channels) + 1];
        const T* from = x + p * plane;
        T* to = y + p * plane;
        if constexpr (std::is_same_v<T, float>) {
          Simd().affine(from, static_cast<float>(factor), static_cast<float>(shift), to,
                        static_cast<std::size_t>(plane));
        } else if constexpr (kIsSmallFloat<T>) {
          MapFloatBlocks(from, to, plane, [&](float* block, std::size_t length) {
            Simd().affine(block, static_cast<float>(factor), static_cast<float>(shift), block, length);
          });
        } else {
          for (int64_t i = 0; i < plane; ++i) to[i] = Apply(from[i], factor, shift);
        }
      }
    });
  }

  // Planes of one element: a row has all channels side by side.
  template <class T>
  static void ScaleRows(RuntimeContext& context, const Layout& layout, const double* factors, const T* x, T* y) {
    context.ParallelFor(layout.batch * layout.channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const double* factor = factors + 2 * (p % layout.channels);
        y[p] = Apply(x[p], factor[0], factor[1]);
      }
    });
  }

  template <class T>
  static T Apply(T x, double factor, double shift) {
    using C = ComputeType<T>;
    return T(static_cast<C>(x) * static_cast<C>(factor) + static_cast<C>(shift));
  }

  double epsilon_, momentum_;
  bool training_, spatial_;
};

}  // namespace

void RegisterBatchNormalization(KernelRegistry& registry) {
  const TypeSet floats = SetOf(FloatTypes{});
  // X before version 14 has the type parameter of the others; the names are those of the formal arguments.
  KernelRegistration registration =
      Registration("BatchNormalization", 1, 15, {{"X", floats}, {"scale", floats}, {"mean", floats}});
  registration.declines = BatchNormalization::Declines;
  registry.RegisterKernelFn(registration, MakeKernel<BatchNormalization>);
}

}  // namespace light
