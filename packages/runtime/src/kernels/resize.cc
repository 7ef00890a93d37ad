// SPDX-License-Identifier: Apache-2.0
// Resize, and Upsample, its predecessor.
#include <algorithm>
#include <cmath>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/interpolated.h"
#include "kernels/mapped_copy.h"
#include "kernels/resampling.h"
#include "kernels/scratch.h"

namespace light {
namespace {

// A tap of no weight must not count, be its element infinite: it takes half of the weight and the place of one that
// does.
template <class Acc>
void ShareWeights(int64_t taps, int64_t* places, Acc* weights) {
  if (places[0] < 0) return;
  for (int64_t t = 0; t < taps; ++t) {
    if (weights[t] != 0) continue;
    const int64_t other = std::find_if(weights, weights + taps, [](Acc weight) { return weight != 0; }) - weights;
    if (other == taps) return;  // nothing counts
    places[t] = places[other];
    weights[t] = weights[other] /= 2;
  }
}

// A line whose elements are `kTaps` weighted ones of another.
template <int kTaps, class Acc>
void ResizeLine(const Acc* from, int64_t n, const int64_t* places, const Acc* weights, Acc outside, Acc* to) {
  for (int64_t i = 0; i < n; ++i, places += kTaps, weights += kTaps) {
    if (places[0] < 0) {
      to[i] = outside;
      continue;
    }
    Acc sum = weights[0] * from[places[0]];
    for (int t = 1; t < kTaps; ++t) sum += weights[t] * from[places[t]];
    to[i] = sum;
  }
}

/// One pass of interpolation: along `axis`, which lies between `outer` and `inner` elements.
template <class Acc>
void ResizeAxis(RuntimeContext& context, const Resampling& resampling, const ResizedAxis& axis, int64_t outer,
                int64_t inner, const Acc* from, Acc* to) {
  const int64_t taps = resampling.TapCount(axis);
  auto* places = Scratch<int64_t>(context, axis.output * taps);
  auto* weights = Scratch<Acc>(context, axis.output * taps);
  for (int64_t i = 0; i < axis.output; ++i) resampling.Taps(axis, i, taps, places + i * taps, weights + i * taps);
  const auto outside = static_cast<Acc>(resampling.extrapolation_value());
  if (inner == 1 && (taps == 2 || taps == 4)) {
    for (int64_t i = 0; i < axis.output; ++i) ShareWeights(taps, places + i * taps, weights + i * taps);
    context.ParallelFor(outer, 0.6 * static_cast<double>(taps * axis.output), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        (taps == 2 ? ResizeLine<2, Acc> : ResizeLine<4, Acc>)(from + line * axis.input, axis.output, places, weights,
                                                              outside, to + line * axis.output);
    });
    return;
  }
  const double cost = 0.3 * static_cast<double>(taps * inner) + 5;
  context.ParallelFor(outer * axis.output, cost, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t* place = places + unit % axis.output * taps;
      const Acc* weight = weights + unit % axis.output * taps;
      const Acc* source = from + unit / axis.output * axis.input * inner;
      Acc* out = to + unit * inner;
      if (place[0] >= 0 && taps == 2 && weight[0] != 0 && weight[1] != 0) {
        const Acc *row = source + place[0] * inner, *next = source + place[1] * inner;
        for (int64_t i = 0; i < inner; ++i) out[i] = weight[0] * row[i] + weight[1] * next[i];
        continue;
      }
      std::fill_n(out, inner, place[0] < 0 ? outside : Acc(0));
      for (int64_t t = 0; place[0] >= 0 && t < taps; ++t) {
        if (weight[t] == 0) continue;  // of no weight is an infinity, too
        const Acc* row = source + place[t] * inner;
        for (int64_t i = 0; i < inner; ++i) out[i] += weight[t] * row[i];
      }
    }
  });
}

class Resize final : public KernelBase {
 public:
  explicit Resize(const KernelInfo& info) : resampling_(info), axes_given_(info.HasAttribute("axes")) {
    const bool is_resize = info.node().op_type == "Resize";
    if (axes_given_) axes_.Assign(info.Ints("axes"));
    if (!is_resize && info.since_version() < 7)
      scales_ = {1, 1, info.Float("height_scale", 0), info.Float("width_scale", 0)};
    else if (!is_resize && info.since_version() < 9)
      scales_ = info.Floats("scales");
    has_roi_input_ = is_resize && info.since_version() >= 11;
    scales_input_ = has_roi_input_ ? 2 : 1;
    CheckType(info);
    const std::string policy = info.String("keep_aspect_ratio_policy", "stretch");
    not_larger_ = policy == "not_larger";
    keeps_aspect_ = policy != "stretch";
    if (keeps_aspect_ && !not_larger_ && policy != "not_smaller")
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute keep_aspect_ratio_policy: must be stretch, not_larger or not_smaller, got " + policy);
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "X");
    const std::size_t rank = x.rank();
    const std::span<ResizedAxis> axes(Scratch<ResizedAxis>(context, static_cast<int64_t>(rank + 1)), rank);
    Resolve(context, x, axes);
    Dims dims;
    dims.Resize(rank);
    for (std::size_t d = 0; d < rank; ++d) dims[d] = axes[d].output;
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    if (x.element_count() == 0)
      FailArgument(InputLabel(0, "X") + ": must have elements to make " + Describe(y) + " of, got " + Describe(x));
    if (resampling_.mode() == Resampling::Mode::kNearest) return CopyNearest(context, axes, x, y);
    if (IsComplex(x.type())) return InterpolateParts(context, axes, x, y);
    WithType(NumberAndBoolTypes{}, x.type(),
             [&](auto tag) { Interpolate<typename decltype(tag)::type>(context, axes, x, y); });
  }

 private:
  static bool IsComplex(ElementType type) {
    return type == ElementType::kComplex64 || type == ElementType::kComplex128;
  }
  /// There is nothing between two strings, and no string or complex number for what lies outside.
  void CheckType(const KernelInfo& info) const {
    const ElementType type = info.InputElement(0);
    const bool is_string = type == ElementType::kString;
    std::string attribute;
    if (is_string && resampling_.mode() != Resampling::Mode::kNearest)
      attribute = "mode";
    else if ((is_string || IsComplex(type)) && resampling_.crops())
      attribute = "coordinate_transformation_mode";
    if (attribute.empty()) return;
    info.Fail(ErrorCode::kNotImplemented, "attribute " + attribute + ": is not implemented for elements of type " +
                                              conversions::Name(type) + ", got " + info.String(attribute, ""));
  }
  static ResizedAxis Unchanged(int64_t extent) { return {extent, extent, 1, static_cast<double>(extent), 0, 1, 1, 1}; }

  void Resolve(RuntimeContext& context, const Tensor& x, std::span<ResizedAxis> resized) const {
    const std::size_t rank = x.rank();
    for (std::size_t d = 0; d < rank; ++d) resized[d] = Unchanged(x.dim(d));
    if (axes_given_) MarkAxes(axes_, rank);
    const std::size_t count = axes_given_ ? axes_.rank() : rank;
    const auto axis = [&](std::size_t i) -> ResizedAxis& {
      return resized[axes_given_ ? static_cast<std::size_t>(NormalizeAxis(axes_[i], rank)) : i];
    };

    if (resampling_.crops()) {
      const Tensor& roi = Required(context, 1, "roi");
      CheckCount(roi.element_count(), 2 * count, 1, "roi");
      WithType(FloatTypes{}, roi.type(), [&](auto tag) {
        const auto* ends = roi.Data<typename decltype(tag)::type>();
        for (std::size_t i = 0; i < count; ++i) {
          axis(i).roi_start = static_cast<double>(static_cast<ComputeType<typename decltype(tag)::type>>(ends[i]));
          axis(i).roi_end =
              static_cast<double>(static_cast<ComputeType<typename decltype(tag)::type>>(ends[i + count]));
        }
      });
    }

    // Before version 13 an input that is not used is a tensor without elements.
    const Tensor* scales_input = scales_.empty() ? context.Input(scales_input_) : nullptr;
    const Tensor* sizes = has_roi_input_ ? context.Input(3) : nullptr;
    if (sizes && sizes->element_count() == 0 && count != 0) sizes = nullptr;
    const std::span<const float> scales = scales_input ? scales_input->Span<float>() : std::span<const float>(scales_);
    if (sizes) {
      if (!scales.empty())
        FailArgument(InputLabel(3, "sizes") + ": must be omitted where there are scales, got " + Describe(*sizes));
      return ResolveSizes(*sizes, count, axis);
    }
    CheckCount(static_cast<int64_t>(scales.size()), count, scales_input_, "scales");
    for (std::size_t i = 0; i < count; ++i) {
      ResizedAxis& a = axis(i);
      if (!(scales[i] > 0) || !std::isfinite(scales[i]))
        FailArgument(InputLabel(scales_input_, "scales") + ": must be positive, got " + std::to_string(scales[i]));
      a.SetScale(double{scales[i]}, 1);
      // Of the whole axis even if only a region of it is resized: the operator's text has it otherwise, but neither
      // its inference nor its reference, nor ONNX Runtime.
      SetOutput(a, std::floor(a.length));
    }
  }

  template <class Axis>
  void ResolveSizes(const Tensor& sizes, std::size_t count, const Axis& axis) const {
    CheckCount(sizes.element_count(), count, 3, "sizes");
    const auto* size = sizes.Data<int64_t>();
    const ResizedAxis* common = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      ResizedAxis& a = axis(i);
      if (size[i] < 0) FailArgument(InputLabel(3, "sizes") + ": must not be negative, got " + std::to_string(size[i]));
      a.output = size[i];
      // An axis without elements has no scale; it is refused unless the output has none either.
      if (a.input > 0) a.SetScale(static_cast<double>(size[i]), static_cast<double>(a.input));
      if (!common || (not_larger_ ? a.scale < common->scale : a.scale > common->scale)) common = &a;
    }
    if (!keeps_aspect_ || !common) return;
    const double numerator = common->numerator, denominator = common->denominator;
    for (std::size_t i = 0; i < count; ++i) {
      ResizedAxis& a = axis(i);
      a.SetScale(numerator, denominator);
      SetOutput(a, std::floor(a.length + 0.5));
    }
  }

  static void SetOutput(ResizedAxis& axis, double extent) {
    if (!(extent >= 0 && extent < 0x1p62))
      FailArgument("output 0 (Y): extents must be at least 0 and fit in memory, got " + std::to_string(extent));
    axis.output = static_cast<int64_t>(extent);
  }

  static void CheckCount(int64_t got, std::size_t want, std::size_t input, const char* name) {
    if (got != static_cast<int64_t>(want))
      FailArgument(InputLabel(input, name) + ": must have " + std::to_string(want) + " elements, got " +
                   std::to_string(got));
  }

  void CopyNearest(RuntimeContext& context, std::span<const ResizedAxis> axes, const Tensor& x, Tensor& y) const {
    // Axes behind the last one that changes make blocks.
    std::size_t mapped = axes.size();
    int64_t block = 1, entries = 0;
    while (mapped > 0 && axes[mapped - 1].is_unchanged()) block *= axes[--mapped].input;
    if (mapped == 0) return CopyElements(x, y);
    for (std::size_t d = 0; d < mapped; ++d) entries += axes[d].output;
    auto* maps = Scratch<int64_t>(context, entries);
    int64_t* map = maps + entries;
    int64_t pitch = block;
    for (std::size_t d = mapped; d-- > 0; pitch *= axes[d].input) {
      map -= axes[d].output;
      for (int64_t i = 0; i < axes[d].output; ++i) {
        const int64_t place = axes[d].is_unchanged() ? i : resampling_.Nearest(axes[d], i);
        map[i] = place < 0 ? -1 : place * pitch;
      }
    }
    const AxisMaps all{y.dims().span().first(mapped), block, maps};
    if (resampling_.crops()) {
      WithType(NumberAndBoolTypes{}, x.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        CopyMapped(context, all, FromInterpolated<T>(resampling_.extrapolation_value()), x.Data<T>(), y.Data<T>());
      });
    } else {
      WithMoved(x.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        CopyMapped(context, all, T{}, x.Data<T>(), y.Data<T>());
      });
    }
  }

  /// Weights are real: complex numbers are two real ones along one more axis, which stays as it is.
  void InterpolateParts(RuntimeContext& context, std::span<const ResizedAxis> axes, const Tensor& x, Tensor& y) const {
    const std::size_t rank = axes.size();
    const std::span<ResizedAxis> all(Scratch<ResizedAxis>(context, static_cast<int64_t>(rank + 1)), rank + 1);
    std::copy(axes.begin(), axes.end(), all.begin());
    all[rank] = Unchanged(2);
    const ElementType part = x.type() == ElementType::kComplex64 ? ElementType::kFloat : ElementType::kDouble;
    const auto parts = [&](const Tensor& tensor) {
      Dims dims = tensor.dims();
      dims.Resize(rank + 1);
      dims[rank] = 2;
      return Tensor::Borrow(part, dims, const_cast<void*>(tensor.data()));
    };
    const Tensor from = parts(x);
    Tensor to = parts(y);
    if (part == ElementType::kFloat)
      Interpolate<float>(context, all, from, to);
    else
      Interpolate<double>(context, all, from, to);
  }

  template <class T>
  void Interpolate(RuntimeContext& context, std::span<ResizedAxis> axes, const Tensor& x, Tensor& y) const {
    using Acc = Interpolated<T>;
    const Acc* from;
    if constexpr (std::is_same_v<T, Acc>) {
      from = x.Data<T>();
    } else {
      auto* widened = Scratch<Acc>(context, x.element_count());
      for (int64_t i = 0; i < x.element_count(); ++i)
        widened[i] = static_cast<Acc>(static_cast<ComputeType<T>>(x.Data<T>()[i]));
      from = widened;
    }
    // Along one axis after the other; those that shrink most come first, so that nothing in between is larger than
    // both ends.
    Dims dims = x.dims(), done = dims;
    std::size_t rest = 0;
    for (std::size_t d = 0; d < dims.rank(); ++d) {
      done[d] = axes[d].is_unchanged();
      rest += !done[d];
    }
    if (rest == 0) return CopyElements(x, y);
    for (; rest > 0; --rest) {
      std::size_t next = dims.rank();
      const auto growth = [&](std::size_t d) {
        return static_cast<double>(axes[d].output) / static_cast<double>(axes[d].input);
      };
      for (std::size_t d = 0; d < dims.rank(); ++d)
        if (!done[d] && (next == dims.rank() || growth(d) < growth(next))) next = d;
      done[next] = 1;
      const int64_t outer = Product(dims, 0, next), inner = Product(dims, next + 1, dims.rank());
      dims[next] = axes[next].output;
      Acc* to;
      if constexpr (std::is_same_v<T, Acc>) {
        to = rest == 1 ? y.Data<T>() : Scratch<Acc>(context, Product(dims, 0, dims.rank()));
      } else {
        to = Scratch<Acc>(context, Product(dims, 0, dims.rank()));
      }
      ResizeAxis<Acc>(context, resampling_, axes[next], outer, inner, from, to);
      from = to;
    }
    if constexpr (!std::is_same_v<T, Acc>)
      for (int64_t i = 0; i < y.element_count(); ++i) y.Data<T>()[i] = FromInterpolated<T>(from[i]);
  }

  Resampling resampling_;
  bool axes_given_;
  Dims axes_;
  std::vector<float> scales_;  // of the versions of Upsample that have them as attributes
  bool has_roi_input_ = false;
  std::size_t scales_input_ = 1;
  bool keeps_aspect_ = false;
  bool not_larger_ = false;
};

void Register(KernelRegistry& registry, const char* op_type, int since, int until) {
  registry.RegisterKernelFn(Registration(op_type, since, until, {}), MakeKernel<Resize>);
}

}  // namespace

void RegisterResize(KernelRegistry& registry) {
  Register(registry, "Resize", 10, 19);
  Register(registry, "Upsample", 1, 9);
}

}  // namespace light
