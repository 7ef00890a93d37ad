// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/moved.h"
#include "kernels/vision.h"

namespace light {
namespace {

class CenterCropPad final : public KernelBase {
 public:
  explicit CenterCropPad(const KernelInfo& info) : axes_given_(info.HasAttribute("axes")) {
    if (axes_given_) axes_.Assign(info.Ints("axes"));
  }

  void Run(RuntimeContext& context) override {
    const Tensor& x = Required(context, 0, "input_data");
    const Dims shape = ReadIntegers(Required(context, 1, "shape"), 1, "shape");
    const std::size_t rank = x.rank(), count = axes_given_ ? axes_.rank() : rank;
    if (shape.rank() != count)
      FailArgument(InputLabel(1, "shape") + ": must have " + std::to_string(count) + " extents, got " +
                   conversions::FormatExtents(shape));
    if (axes_given_) MarkAxes(axes_, rank);
    Dims dims = x.dims();
    for (std::size_t i = 0; i < count; ++i) {
      if (shape[i] < 0)
        FailArgument(InputLabel(1, "shape") + ": must not be negative, got " + conversions::FormatExtents(shape));
      dims[axes_given_ ? static_cast<std::size_t>(NormalizeAxis(axes_[i], rank)) : i] = shape[i];
    }
    Tensor& y = context.Output(0, dims);
    if (y.element_count() == 0) return;
    if (x.element_count() == 0)
      return WithMoved(x.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        FillRun(y.Data<T>(), y.element_count(), T{});
      });
    if (rank == 0) return CopyElements(x, y);
    // By axis: the element of the input at the first one of the result; the odd one is cut off, or padded, behind.
    Dims first = dims;
    for (std::size_t d = 0; d < rank; ++d)
      first[d] = dims[d] < x.dim(d) ? (x.dim(d) - dims[d]) / 2 : -((dims[d] - x.dim(d)) / 2);
    WithMoved(x.type(), [&](auto tag) { Move<typename decltype(tag)::type>(context, x, first, y); });
  }

 private:
  template <class T>
  static void Move(RuntimeContext& context, const Tensor& x, const Dims& first, Tensor& y) {
    const std::size_t last = x.rank() - 1;
    const int64_t width = y.dim(last), from_width = x.dim(last);
    const int64_t before = std::clamp<int64_t>(-first[last], 0, width), skipped = std::max<int64_t>(first[last], 0);
    const int64_t kept = std::min(width - before, from_width - skipped);
    context.ParallelFor(y.element_count() / width, kMoveCost<T> * static_cast<double>(width) + 5,
                        [&](int64_t begin, int64_t end) {
                          for (int64_t line = begin; line < end; ++line) {
                            const int64_t source = SourceLine(x, y, first, line);
                            T* to = y.Data<T>() + line * width;
                            if (source < 0) {
                              FillRun(to, width, T{});
                              continue;
                            }
                            FillRun(to, before, T{});
                            CopyRun(x.Data<T>() + source * from_width + skipped, kept, to + before);
                            FillRun(to + before + kept, width - before - kept, T{});
                          }
                        });
  }

  /// The line of the input that line `line` of the result shows; -1 if it is padding.
  static int64_t SourceLine(const Tensor& x, const Tensor& y, const Dims& first, int64_t line) {
    int64_t source = 0, pitch = 1;
    for (std::size_t d = x.rank() - 1; d-- > 0;) {
      const int64_t at = line % y.dim(d) + first[d];
      if (at < 0 || at >= x.dim(d)) return -1;
      source += at * pitch;
      pitch *= x.dim(d);
      line /= y.dim(d);
    }
    return source;
  }

  bool axes_given_;
  Dims axes_;
};

}  // namespace

void RegisterCenterCropPad(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("CenterCropPad", 18, 18, {{"T", WholeByteTensors()}}),
                            MakeKernel<CenterCropPad>);
}

}  // namespace light
