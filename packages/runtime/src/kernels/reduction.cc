// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduction.h"
#include "kernels/input_axes.h"

namespace light {

ReducePlan MakeReducePlan(const Dims& dims, const Dims& is_reduced, bool keep_dims) {
  const std::size_t rank = dims.rank();
  ReducePlan plan;
  plan.out.Resize(rank);
  std::size_t out_rank = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!is_reduced[d])
      plan.out[out_rank++] = dims[d];
    else if (keep_dims)
      plan.out[out_rank++] = 1;
  }
  plan.out.Resize(out_rank);

  // Axes from the inside out; neighbours of one kind are merged. The first group is the line.
  bool have_line = false, last_reduced = false;
  int64_t pitch = 1;
  Dims* extents[] = {&plan.kept, &plan.reduced};
  Dims* strides[] = {&plan.kept_strides, &plan.reduced_strides};
  bool last_is_line = false;
  for (std::size_t d = rank; d-- > 0; pitch *= dims[d]) {
    const int64_t extent = dims[d];
    if (extent == 1) continue;
    const bool reduce = is_reduced[d] != 0;
    const bool same = have_line && reduce == last_reduced;
    if (!have_line || (same && last_is_line)) {
      plan.line *= extent;
      plan.line_reduced = reduce;
      have_line = last_is_line = true;
    } else {
      Dims& e = *extents[reduce];
      Dims& s = *strides[reduce];
      if (same) {
        e[e.rank() - 1] *= extent;
      } else {
        e.Resize(e.rank() + 1);
        s.Resize(s.rank() + 1);
        e[e.rank() - 1] = extent;
        s[s.rank() - 1] = pitch;
      }
      last_is_line = false;
      (reduce ? plan.reduced_count : plan.kept_count) *= extent;
    }
    last_reduced = reduce;
  }
  return plan;
}

ReduceKernel::ReduceKernel(const KernelInfo& info, ReduceFn reduce, int axes_input_since)
    : reduce_(reduce),
      keep_dims_(info.Int("keepdims", 1) != 0),
      noop_(info.Int("noop_with_empty_axes", 0) != 0),
      from_attribute_(info.since_version() < axes_input_since) {
  if (from_attribute_) axes_.Assign(info.Ints("axes"));
}

void ReduceKernel::Run(RuntimeContext& context) {
  const Tensor& data = Required(context, 0, "data");
  Dims axes = axes_;
  if (!from_attribute_) {
    if (const Tensor* input = context.Input(1)) axes = ReadIntegers(*input, 1, "axes");
  }
  // Without axes either all are reduced, or none; then each element is a set of its own.
  Dims is_reduced = MarkAxes(axes, data.rank(), from_attribute_ ? "attribute axes" : "input 1 (axes)");
  if (axes.rank() == 0 && !noop_) std::fill_n(is_reduced.data(), data.rank(), 1);
  const ReducePlan plan = MakeReducePlan(data.dims(), is_reduced, keep_dims_);
  reduce_(context, plan, data, context.Output(0, plan.out));
}

}  // namespace light
