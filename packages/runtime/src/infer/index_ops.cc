// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "infer/hooks.h"

namespace light {
namespace {

/// Extent of a slice of `extent` elements, by ONNX's rule of clamping; `step` is not 0.
int64_t SliceExtent(int64_t extent, int64_t start, int64_t end, int64_t step) {
  if (extent <= 0) return 0;  // there is no last element to clamp to
  const int64_t last = step > 0 ? extent : extent - 1;
  const int64_t first = step > 0 ? 0 : -1;
  const auto clamp = [&](int64_t index, int64_t low) {
    if (index < 0) index = index < -extent ? low : index + extent;
    return std::clamp(index, low, last);
  };
  start = clamp(start, 0);
  end = clamp(end, first);
  const int64_t distance = step > 0 ? end - start : start - end;
  if (distance <= 0) return 0;
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  return static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1);
}

void InferSlice(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  const bool by_attribute = context.node().since_version < 10;
  Shape out = Shape::OfRank(input.rank());
  const auto starts = by_attribute ? std::optional(context.Ints("starts")) : context.ConstantInts(1);
  const auto ends = by_attribute ? std::optional(context.Ints("ends")) : context.ConstantInts(2);
  auto axes = by_attribute ? std::optional(context.Ints("axes")) : context.ConstantInts(3);
  auto steps = context.ConstantInts(4);

  // The axes decide which dimensions stay as they are; they default to the first ones.
  std::optional<std::size_t> count;
  if (starts) count = starts->size();
  const bool has_axes = by_attribute ? HasAttribute(context, "axes") : context.Input(3) != nullptr;
  if (!has_axes && count) {
    if (*count > input.rank()) {
      FailInference(context, ArgumentLabel(context, 1, "starts") +
                                 ": must have at most one entry per axis of input 0, " + std::to_string(input.rank()) +
                                 ", got " + conversions::FormatExtents(*starts));
    }
    axes.emplace(*count);
    for (std::size_t i = 0; i < *count; ++i) (*axes)[i] = static_cast<int64_t>(i);
  }
  if (context.Input(4) == nullptr && count) steps.emplace(*count, 1);
  if (!axes) return context.SetOutputShape(0, std::move(out));

  out = input;
  MarkAxes(context, *axes, input.rank(), 3);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const std::size_t axis = NormaliseAxis(context, (*axes)[i], input.rank(), "");
    out[axis] = Dim();
    const bool known = starts && ends && steps && i < starts->size() && i < ends->size() && i < steps->size();
    if (!known || !input[axis].is_known()) continue;
    if ((*steps)[i] == 0)
      FailInference(context, ArgumentLabel(context, 4) + ": must not be 0, got " + conversions::FormatExtents(*steps));
    out[axis] = Dim(SliceExtent(input[axis].extent(), (*starts)[i], (*ends)[i], (*steps)[i]));
  }
  context.SetOutputShape(0, std::move(out));
}

void InferGather(InferenceContext& context) {
  const Shape& data = InputShape(context, 0);
  const Shape& indices = InputShape(context, 1);
  if (!data.has_rank() || !indices.has_rank()) return;
  const std::size_t axis = NormaliseAxis(context, context.Int("axis", 0), data.rank());
  const auto at = data.dims().begin() + static_cast<std::ptrdiff_t>(axis);
  std::vector<Dim> dims(data.dims().begin(), at);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), at + 1, data.dims().end());
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void InferGatherND(InferenceContext& context) {
  const Shape& data = InputShape(context, 0);
  const Shape& indices = InputShape(context, 1);
  if (!data.has_rank() || !indices.has_rank() || indices.rank() == 0) return;
  const Dim& last = indices[indices.rank() - 1];
  const int64_t batch = context.Int("batch_dims", 0);
  if (!last.is_known() || batch < 0) return;
  const auto rank = static_cast<int64_t>(data.rank());
  if (batch > rank || last.extent() > rank - batch) {
    FailInference(context, ArgumentLabel(context, 1) + ": the last extent must be at most the rank of input 0, " +
                               std::to_string(rank) + ", less attribute batch_dims, " + std::to_string(batch) +
                               ", got " + indices.ToString());
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), data.dims().begin() + batch + last.extent(), data.dims().end());
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void ShapeOfIndices(InferenceContext& context) { context.SetOutputShape(0, InputShape(context, 1)); }

void InferOneHot(InferenceContext& context) {
  const Shape& indices = InputShape(context, 0);
  if (!indices.has_rank()) return;
  const std::size_t axis = NormaliseAxis(context, context.Int("axis", -1), indices.rank() + 1);
  std::vector<Dim> dims = indices.dims();
  const auto depth = context.ConstantInts(1);
  const bool known = depth && depth->size() == 1;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), known ? Dim((*depth)[0]) : Dim());
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void InferNonZero(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  Shape out = Shape::OfRank(2);
  if (input.has_rank()) out[0] = Dim(static_cast<int64_t>(input.rank()));
  context.SetOutputShape(0, std::move(out));
}

void InferTopK(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  Shape out = input;
  const std::size_t axis = NormaliseAxis(context, context.Int("axis", -1), input.rank());
  const auto k = context.ConstantInts(1);
  out[axis] = HasAttribute(context, "k") ? Dim(context.Int("k", -1)) : k && k->size() == 1 ? Dim((*k)[0]) : Dim();
  context.SetOutputShape(0, out);
  context.SetOutputShape(1, std::move(out));
}

void InferUnique(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!HasAttribute(context, "axis")) {
    context.SetOutputShape(0, Shape::OfRank(1));
  } else if (input.has_rank()) {
    Shape out = input;
    out[NormaliseAxis(context, context.Int("axis", 0), input.rank())] = Dim();
    context.SetOutputShape(0, std::move(out));
  }
  for (std::size_t i = 1; i < 4; ++i) context.SetOutputShape(i, Shape::OfRank(1));
}

void InferCompress(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!HasAttribute(context, "axis")) return context.SetOutputShape(0, Shape::OfRank(1));
  if (!input.has_rank()) return;
  Shape out = input;
  out[NormaliseAxis(context, context.Int("axis", 0), input.rank())] = Dim();
  context.SetOutputShape(0, std::move(out));
}

void InferNonMaxSuppression(InferenceContext& context) { context.SetOutputShape(0, Shape({Dim(), Dim(3)})); }

constexpr InferenceHook kHooks[] = {
    {"Compress", InferCompress},
    {"Gather", InferGather},
    {"GatherElements", ShapeOfIndices},
    {"GatherND", InferGatherND},
    {"NonMaxSuppression", InferNonMaxSuppression},
    {"NonZero", InferNonZero},
    {"OneHot", InferOneHot},
    {"ReverseSequence", KeepShape},
    {"Scatter", KeepShape},
    {"ScatterElements", KeepShape},
    {"ScatterND", KeepShape},
    {"Slice", InferSlice},
    {"TensorScatter", KeepShape},
    {"TopK", InferTopK},
    {"Trilu", KeepShape},
    {"Unique", InferUnique},
};

}  // namespace

std::span<const InferenceHook> IndexHooks() { return kHooks; }

}  // namespace light
