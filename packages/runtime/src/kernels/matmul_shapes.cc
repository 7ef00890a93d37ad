// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul_shapes.h"

#include "kernels/broadcast.h"
#include "kernels/scratch.h"

namespace light {

MatMulShapes::MatMulShapes(const Tensor& a, const Tensor& b, std::size_t b_input) {
  const std::string label = InputLabel(b_input, "B");
  if (a.rank() == 0 || b.rank() == 0)
    FailArgument("input 0 (A) and " + label + ": must have at least one axis, got " + Describe(a) + " and " +
                 Describe(b));
  const bool a_vector = a.rank() == 1, b_vector = b.rank() == 1;
  m = a_vector ? 1 : a.dim(a.rank() - 2);
  k = a.dim(a.rank() - 1);
  n = b_vector ? 1 : b.dim(b.rank() - 1);
  if (b.dim(b_vector ? 0 : b.rank() - 2) != k)
    FailArgument(label + ": must have " + std::to_string(k) + " rows, the last extent of " + Describe(a) + ", got " +
                 Describe(b));
  if (!a_vector) a_batch.Assign(a.dims().span().first(a.rank() - 2));
  if (!b_vector) b_batch.Assign(b.dims().span().first(b.rank() - 2));
  const Dims* batches[] = {&a_batch, &b_batch};
  out = BroadcastPlan(batches).out;
  const auto append = [&](int64_t extent) {
    out.Resize(out.rank() + 1);
    out[out.rank() - 1] = extent;
  };
  if (!a_vector) append(m);
  if (!b_vector) append(n);
}

const int64_t* MatMulShapes::Pairs(RuntimeContext& context) const {
  const Dims* batches[] = {&a_batch, &b_batch};
  const BroadcastPlan plan(batches);
  auto* pairs = Scratch<int64_t>(context, MultiplyExtents(2, plan.total));
  ForEachRun(plan, 0, plan.total, [&](int64_t position, int64_t length, const auto& offsets) {
    for (int64_t i = 0; i < length; ++i) {
      pairs[2 * (position + i)] = offsets[0] + (plan.advances(0) ? i : 0);
      pairs[2 * (position + i) + 1] = offsets[1] + (plan.advances(1) ? i : 0);
    }
  });
  return pairs;
}

}  // namespace light
