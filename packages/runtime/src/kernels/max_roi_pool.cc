// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/vision.h"

namespace light {
namespace {

/// Elements [begin, end) of an axis that a bin covers.
struct Reach {
  int64_t begin, end;
};

class MaxRoiPool final : public KernelBase {
 public:
  explicit MaxRoiPool(const KernelInfo& info) : scale_(info.Float("spatial_scale", 1)) {
    const std::vector<int64_t> shape = info.Ints("pooled_shape");
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute pooled_shape: must be two positive extents, got " + conversions::FormatExtents(shape));
    height_ = shape[0];
    width_ = shape[1];
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& rois = Required(context, 1, "rois");
    if (x.rank() != 4) FailArgument(InputLabel(0, "X") + ": must have rank 4, got " + Describe(x));
    if (rois.rank() != 2 || rois.dim(1) != 5)
      FailArgument(InputLabel(1, "rois") + ": must be [regions, 5], got " + Describe(rois));
    const int64_t dims[] = {rois.dim(0), x.dim(1), height_, width_};
    Tensor& y = context.Output(0, dims);
    WithType(FloatTypes{}, x.type(), [&](auto tag) { Pool<typename decltype(tag)::type>(context, x, rois, y); });
  }

 private:
  template <class T>
  void Pool(RuntimeContext& context, const Tensor& x, const Tensor& rois, Tensor& y) const {
    using C = ComputeType<T>;
    const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), bins = height_ * width_;
    const auto number = [&](int64_t roi, int64_t i) { return static_cast<C>(rois.Data<T>()[roi * 5 + i]); };
    for (int64_t roi = 0; roi < rois.dim(0); ++roi) {
      for (int64_t i = 0; i < 5; ++i)
        if (!(std::abs(number(roi, i)) < 0x1p30f))
          FailArgument(InputLabel(1, "rois") + ": must be less than 2^30, got " + std::to_string(number(roi, i)));
      const auto batch = static_cast<int64_t>(number(roi, 0));
      if (batch < 0 || batch >= x.dim(0))
        FailArgument(InputLabel(1, "rois") + ": must begin with a batch in [0, " + std::to_string(x.dim(0)) +
                     "), got " + std::to_string(batch));
    }
    if (y.element_count() == 0) return;
    const double plane = static_cast<double>(height) * static_cast<double>(width);
    context.ParallelFor(
        rois.dim(0) * channels, plane + 20 * static_cast<double>(bins), [&](int64_t begin, int64_t end) {
          for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t roi = unit / channels, channel = unit % channels;
            const T* from = x.Data<T>() + (static_cast<int64_t>(number(roi, 0)) * channels + channel) * height * width;
            for (int64_t bin = 0; bin < bins; ++bin) {
              const Reach rows = Cover(number(roi, 2), number(roi, 4), bin / width_, height_, height);
              const Reach columns = Cover(number(roi, 1), number(roi, 3), bin % width_, width_, width);
              const bool is_empty = rows.begin >= rows.end || columns.begin >= columns.end;
              C largest = is_empty ? C(0) : static_cast<C>(from[rows.begin * width + columns.begin]);
              for (int64_t row = rows.begin; row < rows.end; ++row)
                for (int64_t column = columns.begin; column < columns.end; ++column)
                  largest = Larger(largest, static_cast<C>(from[row * width + column]));
              y.Data<T>()[unit * bins + bin] = T(largest);
            }
          }
        });
  }

  /// What bin `bin` of `bins` covers of a region whose first and last elements are given before scaling.
  template <class C>
  Reach Cover(C first, C last, int64_t bin, int64_t bins, int64_t extent) const {
    const auto scale = static_cast<C>(scale_);
    const auto start = static_cast<int64_t>(std::round(first * scale)),
               stop = static_cast<int64_t>(std::round(last * scale));
    const C size = static_cast<C>(std::max<int64_t>(stop - start + 1, 1)) / static_cast<C>(bins);
    const auto low = static_cast<int64_t>(std::floor(static_cast<C>(bin) * size));
    const auto high = static_cast<int64_t>(std::ceil(static_cast<C>(bin + 1) * size));
    return {std::clamp<int64_t>(low + start, 0, extent), std::clamp<int64_t>(high + start, 0, extent)};
  }

  float scale_;
  int64_t height_, width_;
};

}  // namespace

void RegisterMaxRoiPool(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("MaxRoiPool", 1, 22, {{"T", SetOf(FloatTypes{})}}), MakeKernel<MaxRoiPool>);
}

}  // namespace light
