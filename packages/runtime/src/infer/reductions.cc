// SPDX-License-Identifier: Apache-2.0
#include "infer/hooks.h"

namespace light {
namespace {

void Reduce(InferenceContext& context, const std::vector<bool>& given, bool all, bool keep) {
  const Shape& input = InputShape(context, 0);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const bool reduced = all || given[i];
    if (!reduced) dims.push_back(input[i]);
    if (reduced && keep) dims.emplace_back(1);
  }
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void InferReduce(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  const bool keep = context.Int("keepdims", 1) != 0;
  bool given = false;
  const auto axes = Axes(context, 1, &given);
  if (!input.has_rank()) {
    if (!given && !keep) context.SetOutputShape(0, Shape::Scalar());
    return;
  }
  if (!axes) {
    if (keep) context.SetOutputShape(0, Shape::OfRank(input.rank()));
    return;
  }
  if (axes->empty() && context.Int("noop_with_empty_axes", 0) != 0) return context.SetOutputShape(0, input);
  Reduce(context, MarkAxes(context, *axes, input.rank(), 1), axes->empty(), keep);
}

void InferArgReduce(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  std::vector<bool> given(input.rank());
  given[NormaliseAxis(context, context.Int("axis", 0), input.rank())] = true;
  Reduce(context, given, false, context.Int("keepdims", 1) != 0);
}

constexpr InferenceHook kHooks[] = {
    {"ArgMax", InferArgReduce},  {"ArgMin", InferArgReduce},    {"ReduceL1", InferReduce},
    {"ReduceL2", InferReduce},   {"ReduceLogSum", InferReduce}, {"ReduceLogSumExp", InferReduce},
    {"ReduceMax", InferReduce},  {"ReduceMean", InferReduce},   {"ReduceMin", InferReduce},
    {"ReduceProd", InferReduce}, {"ReduceSum", InferReduce},    {"ReduceSumSquare", InferReduce},
};

}  // namespace

std::span<const InferenceHook> ReductionHooks() { return kHooks; }

}  // namespace light
