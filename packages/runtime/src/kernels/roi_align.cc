// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/element.h"
#include "kernels/vision.h"

namespace light {
namespace {

/// A point between four elements of a plane, and how much each of them counts.
template <class C>
struct Corners {
  int64_t places[4] = {};
  C weights[4] = {};
};

template <class C>
Corners<C> CornersAt(C y, C x, int64_t height, int64_t width) {
  Corners<C> corners;
  // Beyond one element from the border there is nothing.
  if (!(y >= -1 && y <= static_cast<C>(height) && x >= -1 && x <= static_cast<C>(width))) return corners;
  y = std::max<C>(y, 0);
  x = std::max<C>(x, 0);
  const int64_t top = std::min(static_cast<int64_t>(y), height - 1),
                left = std::min(static_cast<int64_t>(x), width - 1);
  const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const C down = top == height - 1 ? 0 : y - static_cast<C>(top),
          across = left == width - 1 ? 0 : x - static_cast<C>(left);
  const int64_t places[] = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
  const C weights[] = {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across};
  std::copy_n(places, 4, corners.places);
  std::copy_n(weights, 4, corners.weights);
  return corners;
}

/// A region in elements of the plane, cut into bins with a grid of points in each.
template <class C>
struct Region {
  C top, left, bin_height, bin_width;
  int64_t rows, columns;
};

class RoiAlign final : public KernelBase {
 public:
  explicit RoiAlign(const KernelInfo& info)
      : height_(info.Int("output_height", 1)),
        width_(info.Int("output_width", 1)),
        sampling_(info.Int("sampling_ratio", 0)),
        scale_(info.Float("spatial_scale", 1)) {
    const std::string mode = info.String("mode", "avg");
    if (mode != "avg" && mode != "max")
      info.Fail(ErrorCode::kInvalidGraph, "attribute mode: must be avg or max, got " + mode);
    takes_largest_ = mode == "max";
    // Before version 16 there was no half a pixel.
    const std::string where = info.since_version() < 16 ? std::string("output_half_pixel")
                                                        : info.String("coordinate_transformation_mode", "half_pixel");
    if (where != "half_pixel" && where != "output_half_pixel")
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute coordinate_transformation_mode: must be half_pixel or output_half_pixel, got " + where);
    half_pixel_ = where == "half_pixel";
    if (height_ < 1 || width_ < 1 || sampling_ < 0 || sampling_ > kMostSamples)
      info.Fail(ErrorCode::kInvalidGraph,
                "attributes output_height, output_width and sampling_ratio: the first two must be positive, the last "
                "one must lie in [0, " +
                    std::to_string(kMostSamples) + "], got " + std::to_string(height_) + ", " + std::to_string(width_) +
                    " and " + std::to_string(sampling_));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& rois = Required(context, 1, "rois");
    const Tensor& batches = Required(context, 2, "batch_indices");
    if (x.rank() != 4) FailArgument(InputLabel(0, "X") + ": must have rank 4, got " + Describe(x));
    if (rois.rank() != 2 || rois.dim(1) != 4)
      FailArgument(InputLabel(1, "rois") + ": must be [regions, 4], got " + Describe(rois));
    if (batches.rank() != 1 || batches.dim(0) != rois.dim(0))
      FailArgument(InputLabel(2, "batch_indices") + ": must be a vector of " + std::to_string(rois.dim(0)) + ", got " +
                   Describe(batches));
    for (const int64_t index : batches.Span<int64_t>())
      if (index < 0 || index >= x.dim(0))
        FailArgument(InputLabel(2, "batch_indices") + ": must be in [0, " + std::to_string(x.dim(0)) + "), got " +
                     std::to_string(index));
    const int64_t dims[] = {rois.dim(0), x.dim(1), height_, width_};
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    if (x.element_count() == 0)
      FailArgument(InputLabel(0, "X") + ": must have elements to look at, got " + Describe(x));
    WithType(FloatTypes{}, x.type(),
             [&](auto tag) { Align<typename decltype(tag)::type>(context, x, rois, batches, y); });
  }

 private:
  static constexpr int64_t kMostSamples = int64_t{1} << 15;

  template <class T>
  Region<ComputeType<T>> ReadRegion(const T* roi) const {
    using C = ComputeType<T>;
    const auto scale = static_cast<C>(scale_);
    const C offset = half_pixel_ ? C(0.5) : C(0);
    C borders[4];  // left, top, right, bottom
    for (int i = 0; i < 4; ++i) {
      borders[i] = static_cast<C>(roi[i]) * scale - offset;
      if (!std::isfinite(borders[i]))
        FailArgument(InputLabel(1, "rois") + ": must be finite, got " + std::to_string(borders[i]));
    }
    C width = borders[2] - borders[0], height = borders[3] - borders[1];
    if (!half_pixel_) {  // no region is smaller than an element
      width = std::max<C>(width, 1);
      height = std::max<C>(height, 1);
    }
    Region<C> region{borders[1], borders[0], height / static_cast<C>(height_), width / static_cast<C>(width_), 0, 0};
    region.rows = Samples(region.bin_height);
    region.columns = Samples(region.bin_width);
    return region;
  }

  /// Points along one side of a bin.
  template <class C>
  int64_t Samples(C bin) const {
    if (sampling_ > 0) return sampling_;
    if (bin > static_cast<C>(kMostSamples))
      FailArgument(InputLabel(1, "rois") + ": a bin must be at most " + std::to_string(kMostSamples) +
                   " elements long, got " + std::to_string(bin));
    return std::max<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0);
  }

  template <class T>
  void Align(RuntimeContext& context, const Tensor& x, const Tensor& rois, const Tensor& batches, Tensor& y) const {
    using C = ComputeType<T>;
    const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), bins = height_ * width_;
    const double cost = 20 * static_cast<double>(channels) * static_cast<double>(std::max<int64_t>(sampling_, 2));
    context.ParallelFor(rois.dim(0) * bins, cost, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t roi = unit / bins, bin = unit % bins;
        const Region<C> region = ReadRegion(rois.Data<T>() + roi * 4);
        const C top = region.top + static_cast<C>(bin / width_) * region.bin_height;
        const C left = region.left + static_cast<C>(bin % width_) * region.bin_width;
        const T* from = x.Data<T>() + batches.Data<int64_t>()[roi] * channels * height * width;
        T* to = y.Data<T>() + roi * channels * bins + bin;
        for (int64_t first = 0; first < channels; first += kBlock) {
          C results[kBlock] = {};
          const int64_t count = std::min(kBlock, channels - first);
          for (int64_t i = 0; i < region.rows * region.columns; ++i) {
            const C row = static_cast<C>(i / region.columns) + C(0.5),
                    column = static_cast<C>(i % region.columns) + C(0.5);
            const Corners<C> corners =
                CornersAt(top + row * region.bin_height / static_cast<C>(region.rows),
                          left + column * region.bin_width / static_cast<C>(region.columns), height, width);
            for (int64_t c = 0; c < count; ++c) Look(from + (first + c) * height * width, corners, i == 0, results[c]);
          }
          const auto points = static_cast<C>(std::max<int64_t>(region.rows * region.columns, 1));
          for (int64_t c = 0; c < count; ++c)
            to[(first + c) * bins] = T(takes_largest_ ? results[c] : results[c] / points);
        }
      }
    });
  }

  template <class T, class C>
  void Look(const T* plane, const Corners<C>& corners, bool is_first, C& result) const {
    C parts[4];
    for (int i = 0; i < 4; ++i)  // an infinity that does not count is none
      parts[i] = corners.weights[i] == 0 ? C(0) : corners.weights[i] * static_cast<C>(plane[corners.places[i]]);
    if (takes_largest_) {
      const C largest = Larger(Larger(parts[0], parts[1]), Larger(parts[2], parts[3]));
      result = is_first ? largest : Larger(result, largest);
    } else {
      result += parts[0] + parts[1] + parts[2] + parts[3];
    }
  }

  static constexpr int64_t kBlock = 64;
  int64_t height_, width_, sampling_;
  float scale_;
  bool takes_largest_ = false;
  bool half_pixel_ = false;
};

}  // namespace

void RegisterRoiAlign(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("RoiAlign", 10, 22, {{"T1", SetOf(FloatTypes{})}}), MakeKernel<RoiAlign>);
}

}  // namespace light
