// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/arguments.h"
#include "kernels/interpolated.h"
#include "kernels/moved.h"
#include "kernels/scratch.h"
#include "kernels/vision.h"

namespace light {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

/// Positions of the input that one output position looks at along one axis; one of -1 is outside.
struct AxisTaps {
  int64_t places[4];
  double weights[4];
};

/// Where a grid looks along one axis of the input.
class Sampler {
 public:
  Sampler(Mode mode, Padding padding, bool align_corners)
      : mode_(mode), padding_(padding), align_corners_(align_corners) {}

  int64_t tap_count() const { return mode_ == Mode::kNearest ? 1 : mode_ == Mode::kLinear ? 2 : 4; }

  AxisTaps Look(double normalized, int64_t extent) const {
    const auto length = static_cast<double>(extent);
    const double low = align_corners_ ? 0 : -0.5, high = low + length - (align_corners_ ? 1 : 0);
    double x = align_corners_ ? (normalized + 1) / 2 * (length - 1) : ((normalized + 1) * length - 1) / 2;
    if (mode_ == Mode::kNearest) x = std::nearbyint(x);
    if (padding_ == Padding::kZeros) {
      if (!(x > -4 && x < length + 4)) x = -4;  // outside, however far, and what is no number as well
    } else if (!(x >= low && x <= high)) {
      x = padding_ == Padding::kBorder ? std::fmin(std::fmax(x, 0), length - 1) : Reflect(x, low, high);
    }
    const double floor = std::floor(x);
    AxisTaps taps;
    Weigh(x - floor, taps.weights);
    const int64_t first = static_cast<int64_t>(floor) - (mode_ == Mode::kCubic);
    for (int64_t i = 0; i < tap_count(); ++i) taps.places[i] = Place(first + i, extent, low, high);
    return taps;
  }

 private:
  static double Reflect(double x, double low, double high) {
    const double range = high - low;
    if (!std::isfinite(x) || range <= 0) return 0;
    const double beyond = std::fmod(x < low ? low - x : x - high, 2 * range);
    const bool back = beyond > range;  // reflected at the far border again
    const double at = back ? 2 * range - beyond : beyond;
    return x < low ? low + at : high - at;
  }

  int64_t Place(int64_t place, int64_t extent, double low, double high) const {
    if (place >= 0 && place < extent) return place;
    if (padding_ == Padding::kZeros) return -1;
    if (padding_ == Padding::kBorder) return place < 0 ? 0 : extent - 1;
    const auto reflected = static_cast<int64_t>(Reflect(static_cast<double>(place), low, high));
    return std::clamp<int64_t>(reflected, 0, extent - 1);
  }

  void Weigh(double t, double* weights) const {
    if (mode_ == Mode::kNearest) {
      weights[0] = 1;
    } else if (mode_ == Mode::kLinear) {
      weights[0] = 1 - t;
      weights[1] = t;
    } else {
      // Keys' cubic convolution with a = -0.75.
      constexpr double a = -0.75;
      const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
      const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
      weights[0] = far(t + 1);
      weights[1] = near(t);
      weights[2] = near(1 - t);
      weights[3] = far(2 - t);
    }
  }

  Mode mode_;
  Padding padding_;
  bool align_corners_;
};

/// Positions that one output position looks at: places in a plane of the input and their weights.
struct Taps {
  static constexpr int64_t kMost = 1024;
  int64_t count = 0;
  int64_t places[kMost];
  double weights[kMost];
};

class GridSample final : public KernelBase {
 public:
  explicit GridSample(const KernelInfo& info)
      : any_rank_(info.since_version() >= 20), sampler_(ReadMode(info), ReadPadding(info), AlignCorners(info)) {
    nearest_ = ReadMode(info) == Mode::kNearest;
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const Tensor& grid = Required(context, 1, "grid");
    Check(x, grid);
    Dims dims = grid.dims();
    dims[0] = x.dim(0);
    dims[1] = x.dim(1);
    for (std::size_t d = 2; d < dims.rank(); ++d) dims[d] = grid.dim(d - 1);
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    const std::size_t axes = x.rank() - 2;
    for (std::size_t d = 2; d < x.rank(); ++d)
      if (x.dim(d) == 0) FailArgument(InputLabel(0, "X") + ": must have elements to sample, got " + Describe(x));
    double taps = 1;
    for (std::size_t d = 0; d < axes; ++d) taps *= static_cast<double>(sampler_.tap_count());
    if (taps > static_cast<double>(Taps::kMost))
      throw Error(ErrorCode::kNotImplemented,
                  InputLabel(0, "X") + ": has too many axes for this mode, got " + Describe(x));
    const double* positions = Positions(context, grid);
    if (nearest_) {
      WithMoved(x.type(), [&](auto moved) { Pick<typename decltype(moved)::type>(context, x, positions, y); });
    } else {
      WithType(NumberAndBoolTypes{}, x.type(),
               [&](auto data) { Interpolate<typename decltype(data)::type>(context, x, positions, taps, y); });
    }
  }

 private:
  static Mode ReadMode(const KernelInfo& info) {
    const bool old = info.since_version() < 20;
    const std::string mode = info.String("mode", old ? "bilinear" : "linear");
    if (mode == "nearest") return Mode::kNearest;
    if (mode == (old ? "bilinear" : "linear")) return Mode::kLinear;
    if (mode == (old ? "bicubic" : "cubic")) return Mode::kCubic;
    info.Fail(ErrorCode::kInvalidGraph, std::string("attribute mode: must be nearest, ") +
                                            (old ? "bilinear or bicubic" : "linear or cubic") + ", got " + mode);
  }
  static Padding ReadPadding(const KernelInfo& info) {
    const std::string padding = info.String("padding_mode", "zeros");
    if (padding == "zeros") return Padding::kZeros;
    if (padding == "border") return Padding::kBorder;
    if (padding == "reflection") return Padding::kReflection;
    info.Fail(ErrorCode::kInvalidGraph, "attribute padding_mode: must be zeros, border or reflection, got " + padding);
  }
  static bool AlignCorners(const KernelInfo& info) { return info.Int("align_corners", 0) != 0; }

  void Check(const Tensor& x, const Tensor& grid) const {
    if (any_rank_ ? x.rank() < 3 : x.rank() != 4)
      FailArgument(InputLabel(0, "X") + ": must have " + (any_rank_ ? "at least rank 3" : "rank 4") + ", got " +
                   Describe(x));
    const std::size_t rank = x.rank();
    if (grid.rank() != rank || grid.dim(0) != x.dim(0) || grid.dim(rank - 1) != static_cast<int64_t>(rank) - 2)
      FailArgument(InputLabel(1, "grid") + ": must have rank " + std::to_string(rank) + ", batch " +
                   std::to_string(x.dim(0)) + " and positions of " + std::to_string(rank - 2) + " numbers, got " +
                   Describe(grid));
  }

  static const double* Positions(RuntimeContext& context, const Tensor& grid) {
    if (grid.type() == ElementType::kDouble) return grid.Data<double>();
    auto* positions = Scratch<double>(context, grid.element_count());
    WithType(FloatTypes{}, grid.type(), [&](auto tag) {
      using G = typename decltype(tag)::type;
      const G* from = grid.Data<G>();
      context.ParallelFor(grid.element_count(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) positions[i] = static_cast<double>(static_cast<ComputeType<G>>(from[i]));
      });
    });
    return positions;
  }

  /// The taps of the position whose coordinates, the last axis first, are given.
  void Look(const Tensor& x, const double* coordinates, Taps& taps) const {
    const std::size_t axes = x.rank() - 2;
    const int64_t per_axis = sampler_.tap_count();
    taps.count = 1;
    taps.places[0] = 0;
    taps.weights[0] = 1;
    // Each axis multiplies the taps, from the first axis to the last.
    for (std::size_t d = 0; d < axes; ++d) {
      const int64_t extent = x.dim(d + 2);
      const AxisTaps axis = sampler_.Look(coordinates[axes - 1 - d], extent);
      for (int64_t i = taps.count; i-- > 0;) {
        const int64_t place = taps.places[i];
        const double weight = taps.weights[i];
        for (int64_t k = 0; k < per_axis; ++k) {
          const bool outside = place < 0 || axis.places[k] < 0;
          taps.places[i * per_axis + k] = outside ? -1 : place * extent + axis.places[k];
          taps.weights[i * per_axis + k] = weight * axis.weights[k];
        }
      }
      taps.count *= per_axis;
    }
    // What is outside or has no weight, even an infinity, adds nothing.
    int64_t kept = 0;
    for (int64_t i = 0; i < taps.count; ++i) {
      if (taps.places[i] < 0 || taps.weights[i] == 0) continue;
      taps.places[kept] = taps.places[i];
      taps.weights[kept++] = taps.weights[i];
    }
    taps.count = kept;
  }

  /// Calls `body(batch, position, taps)` for every position of the output.
  template <class Body>
  void ForEachPosition(RuntimeContext& context, const Tensor& x, const Tensor& y, const double* grid, double cost,
                       Body body) const {
    const int64_t positions = Product(y.dims(), 2, y.rank()), axes = static_cast<int64_t>(x.rank()) - 2;
    context.ParallelFor(y.dim(0) * positions, cost, [&](int64_t begin, int64_t end) {
      Taps taps;
      for (int64_t unit = begin; unit < end; ++unit) {
        Look(x, grid + unit * axes, taps);
        body(unit / positions, unit % positions, taps);
      }
    });
  }

  template <class T>
  void Pick(RuntimeContext& context, const Tensor& x, const double* grid, Tensor& y) const {
    const int64_t channels = x.dim(1), plane = Product(x.dims(), 2, x.rank());
    const int64_t positions = Product(y.dims(), 2, y.rank());
    const double cost = 30 + (kMoveCost<T> + 1) * static_cast<double>(channels);
    ForEachPosition(context, x, y, grid, cost, [&](int64_t batch, int64_t position, const Taps& taps) {
      const T* from = x.Data<T>() + batch * channels * plane;
      T* to = y.Data<T>() + batch * channels * positions + position;
      for (int64_t c = 0; c < channels; ++c)
        CopyOne(taps.count == 0 ? T{} : from[c * plane + taps.places[0]], to[c * positions]);
    });
  }

  /// As Interpolate, for at most four taps: neighbouring positions together, channel by channel, so that what is
  /// written lies together too.
  template <class T>
  void InterpolateFour(RuntimeContext& context, const Tensor& x, const double* grid, Tensor& y) const {
    using Acc = Interpolated<T>;
    constexpr int64_t kBlock = 32;
    const int64_t channels = x.dim(1), plane = Product(x.dims(), 2, x.rank());
    const int64_t positions = Product(y.dims(), 2, y.rank()), blocks = (positions + kBlock - 1) / kBlock;
    const int64_t axes = static_cast<int64_t>(x.rank()) - 2;
    const double cost = kBlock * (50 + 4 * static_cast<double>(channels));
    context.ParallelFor(y.dim(0) * blocks, cost, [&](int64_t begin, int64_t end) {
      Taps taps;
      int64_t places[4][kBlock];
      Acc weights[4][kBlock];
      bool is_outside[kBlock];
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t batch = unit / blocks, first = unit % blocks * kBlock, n = std::min(kBlock, positions - first);
        for (int64_t i = 0; i < n; ++i) {
          Look(x, grid + (batch * positions + first + i) * axes, taps);
          is_outside[i] = taps.count == 0;
          for (int64_t k = taps.count; k < 4; ++k) {  // what is missing shares the first one's weight
            taps.places[k] = is_outside[i] ? 0 : taps.places[0];
            taps.weights[k] = is_outside[i] ? 0 : taps.weights[0] /= 2;
          }
          for (int64_t k = 0; k < 4; ++k) {
            places[k][i] = taps.places[k];
            weights[k][i] = static_cast<Acc>(taps.weights[k]);
          }
        }
        const T* from = x.Data<T>() + batch * channels * plane;
        T* to = y.Data<T>() + batch * channels * positions + first;
        const auto value = [](T element) { return static_cast<Acc>(static_cast<ComputeType<T>>(element)); };
        for (int64_t c = 0; c < channels; ++c, from += plane, to += positions) {
          for (int64_t i = 0; i < n; ++i) {
            const Acc sum = weights[0][i] * value(from[places[0][i]]) + weights[1][i] * value(from[places[1][i]]) +
                            weights[2][i] * value(from[places[2][i]]) + weights[3][i] * value(from[places[3][i]]);
            to[i] = FromInterpolated<T>(is_outside[i] ? Acc(0) : sum);
          }
        }
      }
    });
  }

  template <class T>
  void Interpolate(RuntimeContext& context, const Tensor& x, const double* grid, double taps_at_most, Tensor& y) const {
    using Acc = Interpolated<T>;
    if (taps_at_most == 4) return InterpolateFour<T>(context, x, grid, y);
    const int64_t channels = x.dim(1), plane = Product(x.dims(), 2, x.rank());
    const int64_t positions = Product(y.dims(), 2, y.rank());
    const double cost = 50 + taps_at_most * (2 + static_cast<double>(channels));
    ForEachPosition(context, x, y, grid, cost, [&](int64_t batch, int64_t position, const Taps& taps) {
      const T* from = x.Data<T>() + batch * channels * plane;
      T* to = y.Data<T>() + batch * channels * positions + position;
      const auto value = [](T x) { return static_cast<Acc>(static_cast<ComputeType<T>>(x)); };
      Acc weights[Taps::kMost];
      for (int64_t i = 0; i < taps.count; ++i) weights[i] = static_cast<Acc>(taps.weights[i]);
      for (int64_t c = 0; c < channels; ++c) {
        Acc sum = 0;
        for (int64_t i = 0; i < taps.count; ++i) sum += weights[i] * value(from[c * plane + taps.places[i]]);
        to[c * positions] = FromInterpolated<T>(sum);
      }
    });
  }

  bool any_rank_;
  bool nearest_;
  Sampler sampler_;
};

}  // namespace

void RegisterGridSample(KernelRegistry& registry) {
  registry.RegisterKernelFn(
      Registration("GridSample", 16, 22, {{"T1", SetOf(NumberAndBoolTypes{})}, {"T2", SetOf(FloatTypes{})}}),
      MakeKernel<GridSample>);
}

}  // namespace light
