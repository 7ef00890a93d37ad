// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary.h"

#include "conversions/shape.h"
#include "kernels/broadcast.h"

namespace light {

BinaryKernel::BinaryKernel(const KernelInfo& info, const BinaryLoops& loops)
    : loops_(loops), legacy_(info.since_version() < 7) {
  if (!legacy_) return;
  legacy_broadcast_ = info.Int("broadcast", 0) != 0;
  has_axis_ = info.HasAttribute("axis");
  axis_ = info.Int("axis", 0);
}

// The extents of b with ones behind, so that the usual alignment from the right puts it where `axis` says.
Dims BinaryKernel::LegacyExtents(const Dims& a, const Dims& b) const {
  if (!legacy_broadcast_) {
    if (!a.Equals(b))
      FailArgument("input 1 (B): without broadcast=1 the extents must be " + conversions::FormatExtents(a) + ", got " +
                   conversions::FormatExtents(b));
    return b;
  }
  if (!has_axis_) return b;
  const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, a.rank()));
  if (axis + b.rank() > a.rank())
    FailArgument("input 1 (B): must fit into " + conversions::FormatExtents(a) + " from axis " + std::to_string(axis) +
                 " on, got " + conversions::FormatExtents(b));
  Dims extents;
  extents.Resize(a.rank() - axis);
  for (std::size_t d = 0; d < extents.rank(); ++d) extents[d] = d < b.rank() ? b[d] : 1;
  return extents;
}

void BinaryKernel::Run(RuntimeContext& context) {
  const Tensor& a = Required(context, 0, "A");
  const Tensor& b = Required(context, 1, "B");
  const char* left = static_cast<const char*>(a.data());
  const char* right = static_cast<const char*>(b.data());
  const BinaryLoops& loops = loops_;
  if (a.dims().Equals(b.dims())) {
    char* out = static_cast<char*>(context.Output(0, a.dims()).data());
    context.ParallelFor(a.element_count(), loops.cost, [&](int64_t begin, int64_t end) {
      const auto at = static_cast<std::size_t>(begin);
      loops.both(left + at * loops.a_size, right + at * loops.b_size, out + at * loops.y_size, end - begin);
    });
    return;
  }
  const Dims legacy = legacy_ ? LegacyExtents(a.dims(), b.dims()) : Dims();
  const Dims* inputs[] = {&a.dims(), legacy_ ? &legacy : &b.dims()};
  const BroadcastPlan plan(inputs);
  if (legacy_ && !plan.out.Equals(a.dims()))
    FailArgument("input 1 (B): must broadcast to " + conversions::FormatExtents(a.dims()) + ", got " +
                 conversions::FormatExtents(b.dims()));
  char* out = static_cast<char*>(context.Output(0, plan.out).data());
  const BinaryLoops::Fn loop = !plan.advances(0)  ? loops.scalar_left
                               : plan.advances(1) ? loops.both
                                                  : loops.scalar_right;
  context.ParallelFor(plan.total, loops.cost, [&](int64_t begin, int64_t end) {
    ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
      loop(left + static_cast<std::size_t>(offsets[0]) * loops.a_size,
           right + static_cast<std::size_t>(offsets[1]) * loops.b_size,
           out + static_cast<std::size_t>(position) * loops.y_size, length);
    });
  });
}

}  // namespace light
