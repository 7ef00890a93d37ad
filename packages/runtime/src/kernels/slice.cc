// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/families.h"
#include "kernels/input_axes.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// What is taken of each axis.
struct Range {
  Dims start;
  Dims step;
  Dims count;
};

// `index` counted from the front, negative values from the end; far values stay far.
int64_t FromFront(int64_t index, int64_t extent) { return index < 0 ? index + extent : index; }

void TakeAxis(Range& range, std::size_t axis, int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (step == 0) FailArgument("steps: must not be 0, got 0 for axis " + std::to_string(axis));
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  start = std::clamp(FromFront(start, extent), low < 0 ? int64_t{0} : low, std::max<int64_t>(high, 0));
  end = std::clamp(FromFront(end, extent), low, std::max(high, low));
  // Unsigned: a step may be as far from 0 as the type goes.
  int64_t count = 0;
  if (extent > 0 && step > 0 && end > start) count = (end - start - 1) / step + 1;
  if (extent > 0 && step < 0 && end < start)
    count =
        static_cast<int64_t>(static_cast<uint64_t>(start - end - 1) / (uint64_t{0} - static_cast<uint64_t>(step))) + 1;
  range.start[axis] = start;
  range.step[axis] = count > 1 ? step : 1;
  range.count[axis] = count;
}

template <class T>
void Copy(RuntimeContext& context, const Dims& dims, const Range& range, const T* from, T* to) {
  // Axes behind `axis` are taken whole: they make blocks.
  std::size_t axis = dims.rank();
  int64_t block = 1;
  while (axis > 0 && range.count[axis - 1] == dims[axis - 1] && range.step[axis - 1] == 1) block *= dims[--axis];
  int64_t blocks = 1, stride = block, base = 0;
  if (axis > 0) {
    --axis;
    base = range.start[axis] * block;
    if (range.step[axis] == 1) {
      block *= range.count[axis];
    } else {
      blocks = range.count[axis];
      stride = range.step[axis] * block;
    }
  }
  int64_t axis_pitch = 1;
  for (std::size_t d = axis; d < dims.rank(); ++d) axis_pitch *= dims[d];
  const int64_t lines = Product(range.count, 0, axis);
  context.ParallelFor(lines, kMoveCost<T> * static_cast<double>(block * blocks) + 5, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t offset = base, rest = line, pitch = axis_pitch;
      for (std::size_t d = axis; d-- > 0;) {
        offset += (range.start[d] + rest % range.count[d] * range.step[d]) * pitch;
        rest /= range.count[d];
        pitch *= dims[d];
      }
      T* out = to + line * blocks * block;
      if (block == 1) {
        for (int64_t i = 0; i < blocks; ++i) CopyOne(from[offset + i * stride], out[i]);
      } else {
        for (int64_t i = 0; i < blocks; ++i) CopyRun(from + offset + i * stride, block, out + i * block);
      }
    }
  });
}

class Slice final : public KernelBase {
 public:
  explicit Slice(const KernelInfo& info) : from_attributes_(info.since_version() < 10) {
    if (!from_attributes_) return;
    starts_.Assign(info.Ints("starts"));
    ends_.Assign(info.Ints("ends"));
    axes_.Assign(info.Ints("axes"));
    has_axes_ = info.HasAttribute("axes");
  }

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "data");
    Dims starts = starts_, ends = ends_, axes = axes_, steps;
    bool has_axes = has_axes_, has_steps = false;
    if (!from_attributes_) {
      starts = ReadIntegers(Required(context, 1, "starts"), 1, "starts");
      ends = ReadIntegers(Required(context, 2, "ends"), 2, "ends");
      const Tensor* axes_input = context.Input(3);
      const Tensor* steps_input = context.Input(4);
      has_axes = axes_input != nullptr;
      has_steps = steps_input != nullptr;
      if (has_axes) axes = ReadIntegers(*axes_input, 3, "axes");
      if (has_steps) steps = ReadIntegers(*steps_input, 4, "steps");
    }
    const std::size_t n = starts.rank();
    if (ends.rank() != n || (has_axes && axes.rank() != n) || (has_steps && steps.rank() != n) ||
        (!has_axes && n > data.rank()))
      FailArgument("starts, ends, axes and steps: must have equal lengths, at most the rank of " + Describe(data) +
                   ", got " + std::to_string(n) + ", " + std::to_string(ends.rank()) + ", " +
                   (has_axes ? std::to_string(axes.rank()) : "none") + ", " +
                   (has_steps ? std::to_string(steps.rank()) : "none"));
    Range range{data.dims(), data.dims(), data.dims()};
    std::fill_n(range.start.data(), data.rank(), 0);
    std::fill_n(range.step.data(), data.rank(), 1);
    if (has_axes) MarkAxes(axes, data.rank(), from_attributes_ ? "attribute axes" : "input 3 (axes)");
    for (std::size_t i = 0; i < n; ++i) {
      const auto axis =
          static_cast<std::size_t>(NormalizeAxis(has_axes ? axes[i] : static_cast<int64_t>(i), data.rank()));
      TakeAxis(range, axis, starts[i], ends[i], has_steps ? steps[i] : 1, data.dim(axis));
    }
    Tensor& out = context.Output(0, range.count);
    if (out.element_count() == 0) return;
    WithMoved(data.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      Copy<T>(context, data.dims(), range, data.Data<T>(), out.Data<T>());
    });
  }

 private:
  bool from_attributes_;
  bool has_axes_ = false;
  Dims starts_, ends_, axes_;
};

}  // namespace

void RegisterSlice(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Slice", 1, 13, {}), MakeKernel<Slice>);
}

}  // namespace light
