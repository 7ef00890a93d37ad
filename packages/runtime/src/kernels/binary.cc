// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary.h"

#include "conversions/shape.h"
#include "kernels/broadcast.h"
#include "kernels/small_floats.h"

namespace light {

void RunBlocks(BinaryLoops::Fn loop, const BlockOperand* operands, const void* a, const void* b, void* y, int64_t n) {
  float blocks[3][kFloatBlock];
  SmallFloatFns fns[3];
  for (int k = 0; k < 3; ++k) fns[k] = SmallFloatFnsOf(operands[k].small);
  const void* inputs[] = {a, b};
  for (int64_t i = 0; i < n; i += kFloatBlock) {
    const auto length = static_cast<std::size_t>(std::min(kFloatBlock, n - i));
    const void* from[2];
    for (int k = 0; k < 2; ++k) {
      const BlockOperand& operand = operands[k];
      from[k] =
          static_cast<const char*>(inputs[k]) + (operand.advances ? static_cast<std::size_t>(i) * operand.size : 0);
      if (fns[k].widen == nullptr) continue;
      if (operand.advances || i == 0)
        fns[k].widen(static_cast<const uint16_t*>(from[k]), blocks[k], operand.advances ? length : 1);
      from[k] = blocks[k];
    }
    char* to = static_cast<char*>(y) + static_cast<std::size_t>(i) * operands[2].size;
    loop(from[0], from[1], fns[2].narrow ? static_cast<void*>(blocks[2]) : to, static_cast<int64_t>(length));
    if (fns[2].narrow) fns[2].narrow(blocks[2], reinterpret_cast<uint16_t*>(to), length);
  }
}

namespace {

constexpr int64_t kShortRun = 64;

/// Runs of 16-bit elements that are too short for a call each: they are laid out in blocks, and `loops.both` does
/// these. `y` may be the very address of an input.
void RunShort(const BinaryLoops& loops, const BroadcastPlan& plan, int64_t begin, int64_t end, const uint16_t* a,
              const uint16_t* b, char* y) {
  uint16_t blocks[2][kFloatBlock];
  const uint16_t* inputs[] = {a, b};
  for (int64_t first = begin; first < end; first += kFloatBlock) {
    const int64_t last = std::min(end, first + kFloatBlock);
    ForEachRun(plan, first, last, [&](int64_t position, int64_t length, const auto& offsets) {
      for (std::size_t k = 0; k < 2; ++k) {
        uint16_t* to = blocks[k] + (position - first);
        const uint16_t* from = inputs[k] + offsets[k];
        const int64_t step = plan.advances(k) ? 1 : 0;
        for (int64_t i = 0; i < length; ++i) to[i] = from[i * step];
      }
    });
    loops.both(blocks[0], blocks[1], y + static_cast<std::size_t>(first) * loops.y_size, last - first);
  }
}

}  // namespace

BinaryKernel::BinaryKernel(const KernelInfo& info, const BinaryLoops& loops, BinaryAlignment alignment)
    : loops_(loops),
      alignment_(alignment),
      a_name_(info.node().schema->InputFormal(0)->name),
      b_name_(info.node().schema->InputFormal(1)->name) {
  if (alignment != BinaryAlignment::kAttributes) return;
  legacy_broadcast_ = info.Int("broadcast", 0) != 0;
  has_axis_ = info.HasAttribute("axis");
  axis_ = info.Int("axis", 0);
}

// The extents of b with ones behind, so that the usual alignment from the right puts it where it belongs.
Dims BinaryKernel::Aligned(const Dims& a, const Dims& b) const {
  if (alignment_ == BinaryAlignment::kAttributes) return AlignedByAttributes(a, b);
  if (alignment_ != BinaryAlignment::kChannels || b.rank() != 1 || a.rank() < 2 || b[0] != a[1]) return b;
  Dims extents;
  extents.Resize(a.rank() - 1);
  std::fill_n(extents.data(), extents.rank(), 1);
  extents[0] = b[0];
  return extents;
}

Dims BinaryKernel::AlignedByAttributes(const Dims& a, const Dims& b) const {
  if (!legacy_broadcast_) {
    if (!a.Equals(b))
      FailArgument(InputLabel(1, b_name_) + ": without broadcast=1 the extents must be " +
                   conversions::FormatExtents(a) + ", got " + conversions::FormatExtents(b));
    return b;
  }
  if (!has_axis_) return b;
  const auto axis = static_cast<std::size_t>(NormalizeAxis(axis_, a.rank()));
  if (axis + b.rank() > a.rank())
    FailArgument(InputLabel(1, b_name_) + ": must fit into " + conversions::FormatExtents(a) + " from axis " +
                 std::to_string(axis) + " on, got " + conversions::FormatExtents(b));
  Dims extents;
  extents.Resize(a.rank() - axis);
  for (std::size_t d = 0; d < extents.rank(); ++d) extents[d] = d < b.rank() ? b[d] : 1;
  return extents;
}

void BinaryKernel::Run(RuntimeContext& context) {
  const Tensor& a = Required(context, 0, a_name_);
  const Tensor& b = Required(context, 1, b_name_);
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
  const bool mutual = alignment_ == BinaryAlignment::kMutual;
  const Dims aligned = mutual ? Dims() : Aligned(a.dims(), b.dims());
  const Dims* inputs[] = {&a.dims(), mutual ? &b.dims() : &aligned};
  const BroadcastPlan plan(inputs);
  if (!mutual && !plan.out.Equals(a.dims()))
    FailArgument(InputLabel(1, b_name_) + ": must broadcast to " + conversions::FormatExtents(a.dims()) + ", got " +
                 conversions::FormatExtents(b.dims()));
  char* out = static_cast<char*>(context.Output(0, plan.out).data());
  const BinaryLoops::Fn loop = !plan.advances(0)  ? loops.scalar_left
                               : plan.advances(1) ? loops.both
                                                  : loops.scalar_right;
  const bool is_short = loops.is_blocked && plan.extents[plan.extents.rank() - 1] < kShortRun;
  context.ParallelFor(plan.total, is_short ? 4 : loops.cost, [&](int64_t begin, int64_t end) {
    if (is_short)
      return RunShort(loops, plan, begin, end, reinterpret_cast<const uint16_t*>(left),
                      reinterpret_cast<const uint16_t*>(right), out);
    ForEachRun(plan, begin, end, [&](int64_t position, int64_t length, const auto& offsets) {
      loop(left + static_cast<std::size_t>(offsets[0]) * loops.a_size,
           right + static_cast<std::size_t>(offsets[1]) * loops.b_size,
           out + static_cast<std::size_t>(position) * loops.y_size, length);
    });
  });
}

}  // namespace light
