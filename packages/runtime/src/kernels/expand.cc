// SPDX-License-Identifier: Apache-2.0
// Operators that repeat their input: Expand, Tile.
#include "conversions/shape.h"
#include "kernels/arguments.h"
#include "kernels/broadcast.h"
#include "kernels/families.h"
#include "kernels/input_axes.h"
#include "kernels/moved.h"

namespace light {
namespace {

/// Copies input 0 of the plan to the output.
void CopyBroadcast(RuntimeContext& context, const BroadcastPlan& plan, const Tensor& data, Tensor& out) {
  WithMoved(data.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = data.Data<T>();
    T* to = out.Data<T>();
    const bool advances = plan.advances(0);
    context.ParallelFor(plan.total, kMoveCost<T> + 0.2, [&](int64_t begin, int64_t end) {
      ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
        if (advances)
          CopyRun(from + offsets[0], length, to + position);
        else
          FillRun(to + position, length, from[offsets[0]]);
      });
    });
  });
}

class Expand final : public KernelBase {
 public:
  explicit Expand(const KernelInfo&) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "input");
    const Dims shape = ReadIntegers(Required(context, 1, "shape"), 1, "shape");
    for (std::size_t d = 0; d < shape.rank(); ++d)
      if (shape[d] < 0)
        FailArgument(InputLabel(1, "shape") + ": extents must not be negative, got " +
                     conversions::FormatExtents(shape));
    const Dims* inputs[] = {&data.dims(), &shape};
    const BroadcastPlan plan(inputs);
    Tensor& out = context.Output(0, plan.out);
    if (plan.total > 0) CopyBroadcast(context, plan, data, out);
  }
};

class Tile final : public KernelBase {
 public:
  explicit Tile(const KernelInfo& info) : one_axis_(info.since_version() < 6) {}

  void Run(RuntimeContext& context) override {
    const Tensor& data = Required(context, 0, "input");
    const std::size_t rank = data.rank();
    const Dims repeats = Repeats(context, rank);
    if (repeats.rank() != rank)
      FailArgument(InputLabel(1, "repeats") + ": must have one entry per axis of " + Describe(data) + ", got " +
                   conversions::FormatExtents(repeats));
    Dims dims = data.dims();
    for (std::size_t d = 0; d < rank; ++d) {
      if (repeats[d] < 0)
        FailArgument(InputLabel(1, "repeats") + ": must not be negative, got " + conversions::FormatExtents(repeats));
      dims[d] = MultiplyExtents(dims[d], repeats[d]);
    }
    Tensor& out = context.Output(0, dims);
    if (out.element_count() == 0) return;

    // To repeat an axis is to broadcast an axis of extent 1 before it; axes that are not repeated are merged.
    Dims from, to;
    const auto append = [&](int64_t source, int64_t extent) {
      from.Resize(from.rank() + 1);
      to.Resize(from.rank());
      from[from.rank() - 1] = source;
      to[to.rank() - 1] = extent;
    };
    for (std::size_t d = 0; d < rank; ++d) {
      if (repeats[d] != 1) append(1, repeats[d]);
      const std::size_t n = from.rank();
      if (n > 0 && from[n - 1] == to[n - 1])
        from[n - 1] = to[n - 1] *= data.dim(d);
      else
        append(data.dim(d), data.dim(d));
    }
    const Dims* inputs[] = {&from, &to};
    CopyBroadcast(context, BroadcastPlan(inputs), data, out);
  }

 private:
  Dims Repeats(RuntimeContext& context, std::size_t rank) const {
    if (!one_axis_) return ReadIntegers(Required(context, 1, "repeats"), 1, "repeats");
    Dims repeats;
    repeats.Resize(rank);
    std::fill_n(repeats.data(), rank, 1);
    const int64_t axis = NormalizeAxis(ReadInteger(Required(context, 2, "axis"), 2, "axis"), rank, "input 2 (axis)");
    repeats[static_cast<std::size_t>(axis)] = ReadInteger(Required(context, 1, "tiles"), 1, "tiles");
    return repeats;
  }

  bool one_axis_;  // version 1: `tiles` and `axis` are numbers of the input's type
};

}  // namespace

void RegisterExpand(KernelRegistry& registry) {
  registry.RegisterKernelFn(Registration("Expand", 8, 13, {}), MakeKernel<Expand>);
  registry.RegisterKernelFn(Registration("Tile", 1, 13, {}), MakeKernel<Tile>);
}

}  // namespace light
