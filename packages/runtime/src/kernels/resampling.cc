// SPDX-License-Identifier: Apache-2.0
#include "kernels/resampling.h"

#include <algorithm>
#include <cmath>

#include "kernels/arguments.h"

namespace light {
namespace {

template <class Value>
struct Choice {
  const char* name;
  Value value;
};

template <class Value, std::size_t N>
Value Choose(const KernelInfo& info, const char* attribute, const Choice<Value> (&choices)[N]) {
  const std::string name = info.String(attribute, choices[0].name);
  for (const Choice<Value>& choice : choices)
    if (name == choice.name) return choice.value;
  std::string message = "attribute ";
  message.append(attribute).append(": must be one of");
  for (const Choice<Value>& choice : choices) message.append(" ").append(choice.name);
  info.Fail(ErrorCode::kInvalidGraph, message.append(", got ").append(name));
}

}  // namespace

Resampling::Resampling(const KernelInfo& info) {
  mode_ = Choose<Mode>(info, "mode",
                       {{"nearest", Mode::kNearest},
                        {"linear", Mode::kLinear},
                        {"bilinear", Mode::kLinear},  // the word of Upsample 1
                        {"cubic", Mode::kCubic}});
  // Before version 11 there is no choice.
  if (info.node().op_type != "Resize" || info.since_version() < 11) return;
  coordinates_ = Choose<Coordinates>(info, "coordinate_transformation_mode",
                                     {{"half_pixel", Coordinates::kHalfPixel},
                                      {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
                                      {"pytorch_half_pixel", Coordinates::kPytorch},
                                      {"align_corners", Coordinates::kAlignCorners},
                                      {"asymmetric", Coordinates::kAsymmetric},
                                      {"tf_crop_and_resize", Coordinates::kCropAndResize},
                                      {"tf_half_pixel_for_nn", Coordinates::kTfHalfPixel}});
  rounding_ = Choose<Rounding>(info, "nearest_mode",
                               {{"round_prefer_floor", Rounding::kPreferFloor},
                                {"round_prefer_ceil", Rounding::kPreferCeil},
                                {"floor", Rounding::kFloor},
                                {"ceil", Rounding::kCeil}});
  antialias_ = info.Int("antialias", 0) != 0;
  exclude_outside_ = info.Int("exclude_outside", 0) != 0;
  cubic_a_ = info.Float("cubic_coeff_a", -0.75f);
  extrapolation_value_ = info.Float("extrapolation_value", 0);
}

double Resampling::Original(const ResizedAxis& axis, int64_t i) const {
  const auto x = static_cast<double>(i), last = static_cast<double>(axis.input - 1);
  const double half_pixel = axis.Unscaled(x + 0.5) - 0.5;
  switch (coordinates_) {
    case Coordinates::kHalfPixel:
      return half_pixel;
    case Coordinates::kHalfPixelSymmetric:
      // ONNX's formula with one rounding: what it says bit by bit misses places that are whole.
      return axis.Unscaled(x + 0.5 - static_cast<double>(axis.output) / 2) + last / 2;
    case Coordinates::kTfHalfPixel:
      return half_pixel + 0.5;
    case Coordinates::kPytorch:
      return axis.output > 1 ? half_pixel : 0;
    case Coordinates::kAlignCorners:
      return axis.length == 1 ? 0 : x * last / (axis.length - 1);
    case Coordinates::kAsymmetric:
      return axis.Unscaled(x);
    case Coordinates::kCropAndResize:
      break;
  }
  const double place = axis.output == 1 ? 0.5 * (axis.roi_start + axis.roi_end) * last
                                        : axis.roi_start * last + x * (axis.roi_end - axis.roi_start) * last /
                                                                      static_cast<double>(axis.output - 1);
  // A float, as the ends of the region mostly are: else halves and the last position are missed by a hair.
  return static_cast<double>(static_cast<float>(place));
}

bool Resampling::IsExtrapolated(const ResizedAxis& axis, double x) const {
  return crops() && !(x >= 0 && x <= static_cast<double>(axis.input - 1));
}

int64_t Resampling::Nearest(const ResizedAxis& axis, int64_t i) const {
  double x = Original(axis, i);
  if (IsExtrapolated(axis, x)) return -1;
  switch (rounding_) {
    case Rounding::kPreferFloor:
      x = std::ceil(x - 0.5);
      break;
    case Rounding::kPreferCeil:
      x = std::floor(x + 0.5);
      break;
    case Rounding::kFloor:
      x = std::floor(x);
      break;
    case Rounding::kCeil:
      x = std::ceil(x);
      break;
    case Rounding::kByDirection:  // as the examples of version 10 have it
      x = axis.scale < 1 ? std::ceil(x) : std::floor(x);
      break;
  }
  return static_cast<int64_t>(std::clamp(x, 0.0, static_cast<double>(axis.input - 1)));
}

// Below 1 the filter is stretched.
double Resampling::FilterScale(const ResizedAxis& axis) const { return antialias_ ? std::min(axis.scale, 1.0) : 1; }

int64_t Resampling::TapCount(const ResizedAxis& axis) const {
  const double radius = std::ceil((mode_ == Mode::kCubic ? 2 : 1) / FilterScale(axis));
  return 2 * static_cast<int64_t>(radius);
}

double Resampling::Weigh(double distance) const {
  const double x = std::abs(distance), a = cubic_a_;
  if (mode_ == Mode::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

template <class Weight>
void Resampling::Taps(const ResizedAxis& axis, int64_t i, int64_t count, int64_t* places, Weight* weights) const {
  const auto extent = static_cast<double>(axis.input);
  double x = Original(axis, i);
  places[0] = -1;
  if (IsExtrapolated(axis, x)) return;
  // Farther out every tap sees the edge, too.
  x = std::clamp(x, -static_cast<double>(count), extent + static_cast<double>(count));
  const double below = std::floor(x), scale = FilterScale(axis);
  const int64_t first = static_cast<int64_t>(below) - count / 2 + 1;
  double sum = 0, sum_inside = 0;
  for (int64_t t = 0; t < count; ++t) {
    const double weight = Weigh((static_cast<double>(first + t) - x) * scale);
    sum += weight;
    if (first + t >= 0 && first + t < axis.input) sum_inside += weight;
  }
  // Where nothing inside has weight, the edge stays in.
  const bool exclude = exclude_outside_ && sum_inside != 0;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t place = first + t;
    const bool inside = place >= 0 && place < axis.input;
    const double weight = Weigh((static_cast<double>(place) - x) * scale);
    places[t] = std::clamp<int64_t>(place, 0, axis.input - 1);
    weights[t] = static_cast<Weight>(exclude ? (inside ? weight / sum_inside : 0) : weight / sum);
  }
}

template void Resampling::Taps(const ResizedAxis&, int64_t, int64_t, int64_t*, float*) const;
template void Resampling::Taps(const ResizedAxis&, int64_t, int64_t, int64_t*, double*) const;

}  // namespace light
