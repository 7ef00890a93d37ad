// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "light/kernel_info.h"
#include "light/runtime_context.h"

namespace light {

/// One axis that Resize changes.
struct ResizedAxis {
  int64_t input, output;  ///< extents
  double scale;           ///< numerator / denominator
  double length;          ///< of the output before it is rounded to `output`
  double roi_start, roi_end;
  double numerator, denominator;  ///< so that a place in the input is rounded once: one that is whole stays whole

  void SetScale(double over, double under) {
    numerator = over;
    denominator = under;
    scale = over / under;
    length = static_cast<double>(input) * over / under;
  }
  double Unscaled(double place) const { return place * denominator / numerator; }
  bool is_unchanged() const { return input == output && scale == 1 && roi_start == 0 && roi_end == 1; }
};

/// The attributes of Resize, and of Upsample, that say where an output position looks and what it sees there.
class Resampling {
 public:
  enum class Mode { kNearest, kLinear, kCubic };

  /// Throws Error (kInvalidGraph) if an attribute is not what ONNX allows.
  explicit Resampling(const KernelInfo& info);
  Mode mode() const noexcept { return mode_; }
  bool crops() const noexcept { return coordinates_ == Coordinates::kCropAndResize; }
  float extrapolation_value() const noexcept { return extrapolation_value_; }

  /// For nearest: the input position of output position `i`, or -1 if it is extrapolated.
  int64_t Nearest(const ResizedAxis& axis, int64_t i) const;

  /// The number of input positions that one output position depends on: a few times the extent at most.
  int64_t TapCount(const ResizedAxis& axis) const;
  /// Their places and weights, TapCount() of each; places[0] is -1 if the position is extrapolated.
  template <class Weight>
  void Taps(const ResizedAxis& axis, int64_t i, int64_t count, int64_t* places, Weight* weights) const;

 private:
  enum class Coordinates {
    kHalfPixel,
    kHalfPixelSymmetric,
    kTfHalfPixel,  ///< of version 11 only
    kPytorch,
    kAlignCorners,
    kAsymmetric,
    kCropAndResize
  };
  enum class Rounding { kPreferFloor, kPreferCeil, kFloor, kCeil, kByDirection };

  double Original(const ResizedAxis& axis, int64_t i) const;
  bool IsExtrapolated(const ResizedAxis& axis, double x) const;
  double Weigh(double distance) const;
  double FilterScale(const ResizedAxis& axis) const;

  Mode mode_ = Mode::kNearest;
  Coordinates coordinates_ = Coordinates::kAsymmetric;
  Rounding rounding_ = Rounding::kByDirection;
  bool antialias_ = false;
  bool exclude_outside_ = false;
  double cubic_a_ = -0.75;
  float extrapolation_value_ = 0;
};

}  // namespace light
