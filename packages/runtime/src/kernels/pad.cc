// SPDX-License-Identifier: Apache-2.0
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/input_axes.h"
#include "kernels/mapped_copy.h"
#include "kernels/moved.h"

namespace light {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

/// One axis: `kept` elements from `start` on, with `before` and `after` new ones around them.
struct PaddedAxis {
  int64_t start, kept, before, after;

  int64_t extent() const { return before + kept + after; }
  /// The element of the input that position `i` of the output shows, or -1 for the constant.
  int64_t Source(int64_t i, PadMode mode) const {
    const int64_t at = i - before;
    if (at >= 0 && at < kept) return start + at;
    const auto modulo = [at](int64_t period) { return (at % period + period) % period; };
    switch (mode) {
      case PadMode::kConstant:
        return -1;
      case PadMode::kEdge:
        return start + std::clamp<int64_t>(at, 0, kept - 1);
      case PadMode::kWrap:
        return start + modulo(kept);
      case PadMode::kReflect:
        break;
    }
    if (kept == 1) return start;
    const int64_t there = modulo(2 * (kept - 1));
    return start + std::min(there, 2 * (kept - 1) - there);
  }
};

class Pad final : public KernelBase {
 public:
  explicit Pad(const KernelInfo& info) : from_attributes_(info.since_version() < 11) {
    const std::string mode = info.String("mode", "constant");
    if (mode == "reflect")
      mode_ = PadMode::kReflect;
    else if (mode == "edge")
      mode_ = PadMode::kEdge;
    else if (mode == "wrap" && info.since_version() >= 19)
      mode_ = PadMode::kWrap;
    else if (mode != "constant")
      info.Fail(ErrorCode::kInvalidGraph,
                "attribute mode: must be one that Pad " + std::to_string(info.since_version()) + " has, got " + mode);
    constant_ = Tensor::Allocate(info.InputElement(0), {});
    if (from_attributes_) {
      pads_.Assign(info.Ints(info.since_version() < 2 ? "paddings" : "pads"));
      WithType(FloatTypes{}, constant_.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        *constant_.Data<T>() = T(info.Float("value", 0));
      });
    } else {
      WithMoved(constant_.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        *constant_.Data<T>() = T{};
      });
    }
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    const Tensor* value = from_attributes_ ? nullptr : context.Input(2);
    if (value && value->element_count() != 1)
      FailArgument(InputLabel(2, "constant_value") + ": must have one element, got " + Describe(*value));
    const std::size_t rank = data.rank();
    auto* axes = static_cast<PaddedAxis*>(context.TemporaryBuffer((rank + 1) * sizeof(PaddedAxis)));
    Resolve(context, data, axes);
    Dims dims;
    dims.Resize(rank);
    std::size_t padded = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      dims[d] = axes[d].extent();
      if (axes[d].kept != dims[d] || axes[d].kept != data.dim(d)) padded = d + 1;
    }
    Tensor& out = context.Output(0, dims);
    if (out.element_count() == 0) return;
    if (padded == 0) return CopyElements(data, out);

    // Axes behind the last padded one make blocks.
    const int64_t block = Product(dims, padded, rank);
    std::size_t entries = 0;
    for (std::size_t d = 0; d < padded; ++d) entries += static_cast<std::size_t>(dims[d]);
    auto* maps = static_cast<int64_t*>(context.TemporaryBuffer(entries * sizeof(int64_t)));
    int64_t* map = maps + entries;
    int64_t pitch = block;
    for (std::size_t d = padded; d-- > 0; pitch *= data.dim(d)) {
      map -= dims[d];
      for (int64_t i = 0; i < dims[d]; ++i) {
        const int64_t source = axes[d].Source(i, mode_);
        map[i] = source < 0 ? -1 : source * pitch;
      }
    }
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const PaddedAxis& last = axes[padded - 1];
      CopyMapped<T>(context, {dims.span().first(padded), block, maps, last.before, last.kept},
                    *(value ? value : &constant_)->Data<T>(), data.Data<T>(), out.Data<T>());
    });
  }

 private:
  void Resolve(RuntimeContext& context, const Tensor& data, PaddedAxis* padded) const {
    const std::size_t rank = data.rank();
    Dims pads = from_attributes_ ? pads_ : ReadIntegers(Required(context, 1, "pads"), 1, "pads"), axes;
    const Tensor* axes_input = from_attributes_ ? nullptr : context.Input(3);
    if (axes_input) {
      axes = ReadIntegers(*axes_input, 3, "axes");
      MarkAxes(axes, rank, "input 3 (axes)");
    }
    const std::size_t count = axes_input ? axes.rank() : rank;
    if (pads.rank() != 2 * count)
      FailArgument("pads: must have two entries for each of " + std::to_string(count) + " axes, got " +
                   conversions::FormatExtents(pads));
    for (std::size_t d = 0; d < rank; ++d) padded[d] = {0, data.dim(d), 0, 0};
    for (std::size_t i = 0; i < count; ++i) {
      const auto d = axes_input ? static_cast<std::size_t>(NormalizeAxis(axes[i], rank)) : i;
      const int64_t before = pads[i], after = pads[i + count], extent = data.dim(d);
      constexpr int64_t kMost = int64_t{1} << 60;  // far from overflow when three are added
      PaddedAxis& axis = padded[d];
      const bool fits = before >= -extent && after >= -extent && before <= kMost && after <= kMost && extent <= kMost;
      // What is removed is gone before the mode looks at what is left.
      if (fits)
        axis = {std::max<int64_t>(-before, 0), extent - std::max<int64_t>(-before, 0) - std::max<int64_t>(-after, 0),
                std::max<int64_t>(before, 0), std::max<int64_t>(after, 0)};
      if (!fits || axis.kept < 0)
        FailArgument("pads: must not remove more than axis " + std::to_string(d) + " of " + Describe(data) +
                     " has, nor overflow, got " + std::to_string(before) + " and " + std::to_string(after));
      if (axis.kept == 0 && axis.extent() > 0 && mode_ != PadMode::kConstant)
        FailArgument("pads: axis " + std::to_string(d) + " of " + Describe(data) + " has no element to repeat, got " +
                     std::to_string(before) + " and " + std::to_string(after));
    }
  }

  bool from_attributes_;
  PadMode mode_ = PadMode::kConstant;
  Dims pads_;
  Tensor constant_;
};

}  // namespace

void RegisterPad(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Pad", 1, 25, {{"T", WholeByteTensors()}}), MakeKernel<Pad>);
}

}  // namespace light
