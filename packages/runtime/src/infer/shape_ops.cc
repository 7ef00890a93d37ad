// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "infer/hooks.h"

namespace light {
namespace {

/// The half-open range [start, end) of a list of `rank` entries, as Shape and Flatten count from both ends.
std::size_t ClampIndex(int64_t index, std::size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  return static_cast<std::size_t>(std::clamp<int64_t>(index < 0 ? index + size : index, 0, size));
}

void InferShape(InferenceContext& context) {
  const Shape& shape = InputShape(context, 0);
  context.SetOutputShape(0, Shape::OfRank(1));
  if (!shape.has_rank()) return;
  const std::size_t start = ClampIndex(context.Int("start", 0), shape.rank());
  const std::size_t end = ClampIndex(context.Int("end", static_cast<int64_t>(shape.rank())), shape.rank());
  context.SetOutputShape(0, Shape({Dim(static_cast<int64_t>(end > start ? end - start : 0))}));
}

void InferScalar(InferenceContext& context) { context.SetOutputShape(0, Shape::Scalar()); }

/// The product of the extents; unknown if any is.
Dim Product(const InferenceContext& context, const std::vector<Dim>& dims) {
  Dim product(1);
  for (const Dim& dim : dims) product = Multiply(context, product, dim);
  return product;
}

Shape ReshapeTo(const InferenceContext& context, const Shape& input, const std::vector<int64_t>& target) {
  const auto fail = [&](const std::string& rule, const std::string& got) {
    FailInference(context, ArgumentLabel(context, 1, "shape") + ": " + rule + ", got " + got);
  };
  const bool allow_zero = context.Int("allowzero", 0) != 0;
  std::vector<Dim> dims;
  std::size_t inferred = target.size();
  // Input dimensions that the output takes over; what is unknown in them cancels out when -1 is computed.
  std::vector<bool> taken(input.rank());
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1) {
      if (inferred != target.size()) fail("at most one extent may be -1", conversions::FormatExtents(target));
      inferred = i;
      dims.emplace_back();
    } else if (target[i] == 0 && !allow_zero) {
      if (input.has_rank() && i >= input.rank()) {
        fail("an extent of 0 is that of input 0, which has rank " + std::to_string(input.rank()),
             conversions::FormatExtents(target));
      }
      if (input.has_rank()) taken[i] = true;
      dims.push_back(input.has_rank() ? input[i] : Dim());
    } else if (target[i] < 0) {
      fail("extents must not be negative but for one -1", conversions::FormatExtents(target));
    } else {
      dims.emplace_back(target[i]);
    }
  }
  if (!input.has_rank()) return Shape(std::move(dims));

  std::vector<Dim> old_rest;
  std::vector<Dim> new_rest;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    if (!taken[i]) old_rest.push_back(input[i]);
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool is_taken = i < taken.size() && taken[i];
    if (i != inferred && !is_taken) new_rest.push_back(dims[i]);
  }
  const Dim old_count = Product(context, old_rest);
  const Dim new_count = Product(context, new_rest);
  if (!old_count.is_known() || !new_count.is_known()) {
    if (inferred < dims.size() && new_count == Dim(1)) dims[inferred] = old_count;  // a symbol that is left over
    return Shape(std::move(dims));
  }
  if (inferred < dims.size() && new_count.extent() > 0 && old_count.extent() % new_count.extent() == 0) {
    dims[inferred] = Dim(old_count.extent() / new_count.extent());
  } else if (inferred < dims.size() ? new_count.extent() > 0 : old_count.extent() != new_count.extent()) {
    fail("must have as many elements as input 0, " + input.ToString(), conversions::FormatExtents(target));
  }
  return Shape(std::move(dims));
}

void InferReshape(InferenceContext& context) {
  if (const auto target = context.ConstantInts(1)) {
    context.SetOutputShape(0, ReshapeTo(context, InputShape(context, 0), *target));
    return;
  }
  const Shape& target_shape = InputShape(context, 1);
  if (target_shape.rank() == 1 && target_shape[0].is_known() && target_shape[0].extent() <= 64) {
    context.SetOutputShape(0, Shape::OfRank(static_cast<std::size_t>(target_shape[0].extent())));
  }
}

void InferOldReshape(InferenceContext& context) {
  context.SetOutputShape(0, ReshapeTo(context, InputShape(context, 0), context.Ints("shape")));
}

void InferFlatten(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  context.SetOutputShape(0, Shape::OfRank(2));
  if (!input.has_rank()) return;
  const int64_t axis = context.Int("axis", 1);
  const auto rank = static_cast<int64_t>(input.rank());
  if (axis < -rank || axis > rank)
    FailInference(context, "attribute axis: must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) +
                               "] for rank " + std::to_string(rank) + ", got " + std::to_string(axis));
  const auto split = input.dims().begin() + (axis < 0 ? axis + rank : axis);
  context.SetOutputShape(
      0, Shape({Product(context, {input.dims().begin(), split}), Product(context, {split, input.dims().end()})}));
}

void InferSqueeze(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  bool given = false;
  const auto axes = Axes(context, 1, &given);
  if (!input.has_rank() || !axes) return;
  std::vector<bool> dropped(input.rank());
  if (given && !axes->empty()) {
    dropped = MarkAxes(context, *axes, input.rank(), 1);
    for (std::size_t i = 0; i < input.rank(); ++i) {
      if (dropped[i] && input[i].is_known() && input[i].extent() != 1) {
        FailInference(context, ArgumentLabel(context, 1, "axes") + ": axis " + std::to_string(i) +
                                   " of input 0 must have extent 1, got " + input.ToString());
      }
    }
  } else {
    for (std::size_t i = 0; i < input.rank(); ++i) {
      if (!input[i].is_known()) return;
      dropped[i] = input[i].extent() == 1;
    }
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    if (!dropped[i]) dims.push_back(input[i]);
  }
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void InferUnsqueeze(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  bool given = false;
  const auto axes = Axes(context, 1, &given);
  if (!input.has_rank() || !axes) return;
  const std::size_t rank = input.rank() + axes->size();
  const std::vector<bool> added = MarkAxes(context, *axes, rank, 1);
  std::vector<Dim> dims;
  for (std::size_t i = 0, next = 0; i < rank; ++i) dims.push_back(added[i] ? Dim(1) : input[next++]);
  context.SetOutputShape(0, Shape(std::move(dims)));
}

void InferTranspose(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  std::vector<int64_t> perm = context.Ints("perm");
  if (perm.empty()) {
    for (std::size_t i = input.rank(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  }
  std::vector<bool> used(input.rank());
  if (perm.size() != input.rank()) {
    FailInference(context, "attribute perm: must have " + std::to_string(input.rank()) + " entries, got " +
                               conversions::FormatExtents(perm));
  }
  Shape out = Shape::OfRank(input.rank());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    const std::size_t from = NormaliseAxis(context, perm[i], input.rank(), "attribute perm");
    if (used[from])
      FailInference(context, "attribute perm: must be a permutation, got " + conversions::FormatExtents(perm));
    used[from] = true;
    out[i] = input[from];
  }
  context.SetOutputShape(0, std::move(out));
}

void InferConcat(InferenceContext& context) {
  Shape out = InputShape(context, 0);
  if (!out.has_rank()) return;
  const std::size_t axis = NormaliseAxis(context, context.Int("axis", 1), out.rank());
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    const Shape& next = InputShape(context, i);
    if (!next.has_rank()) {
      out[axis] = Dim();
      continue;
    }
    if (next.rank() != out.rank()) {
      FailInference(context, ArgumentLabel(context, i) + ": must have rank " + std::to_string(out.rank()) + ", got " +
                                 next.ToString());
    }
    for (std::size_t d = 0; d < out.rank(); ++d) {
      if (d == axis) continue;
      if (out[d].is_known() && next[d].is_known() && !(out[d] == next[d])) {
        FailInference(context, ArgumentLabel(context, i) + ": must agree with " + out.ToString() +
                                   " except along axis " + std::to_string(axis) + ", got " + next.ToString());
      } else if (!out[d].is_known() && (next[d].is_known() || !out[d].is_symbolic())) {
        out[d] = next[d];
      }
    }
    out[axis] = Sum(context, out[axis], next[axis]);
  }
  context.SetOutputShape(0, std::move(out));
}

void InferExpand(InferenceContext& context) {
  const auto target = context.ConstantInts(1);
  if (!target) return;
  for (const int64_t extent : *target) {
    if (extent < 0)
      FailInference(context, ArgumentLabel(context, 1) + ": extents must not be negative, got " +
                                 conversions::FormatExtents(*target));
  }
  context.SetOutputShape(0, BroadcastShapes(context, InputShape(context, 0), Shape::FromExtents(*target), 1));
}

void InferTile(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  Shape out = Shape::OfRank(input.rank());
  if (const auto repeats = context.ConstantInts(1); repeats && repeats->size() == input.rank()) {
    for (std::size_t i = 0; i < out.rank(); ++i) {
      if ((*repeats)[i] >= 0) out[i] = Multiply(context, input[i], Dim((*repeats)[i]));
    }
  }
  context.SetOutputShape(0, std::move(out));
}

void InferSplit(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  const std::size_t axis = NormaliseAxis(context, context.Int("axis", 0), input.rank());
  const std::size_t count = context.output_count();
  std::optional<std::vector<int64_t>> sizes = context.ConstantInts(1);
  if (!sizes && context.Input(1) == nullptr && HasAttribute(context, "split")) sizes = context.Ints("split");
  if (!sizes && context.Input(1) == nullptr && input[axis].is_known() && count > 0) {
    // Equal parts; the last ones are smaller if need be.
    const int64_t parts = static_cast<int64_t>(count);
    int64_t rest = input[axis].extent();
    const int64_t part = rest / parts + (rest % parts != 0);
    sizes.emplace(count, 0);
    for (int64_t& size : *sizes) {
      size = std::min(part, rest);
      rest -= size;
    }
  }
  if (sizes && sizes->size() != count) {
    FailInference(context, ArgumentLabel(context, 1, "split") + ": must have one entry per output, " +
                               std::to_string(count) + ", got " + conversions::FormatExtents(*sizes));
  }
  for (std::size_t i = 0; i < count; ++i) {
    Shape out = input;
    out[axis] = sizes ? Dim((*sizes)[i]) : Dim();
    context.SetOutputShape(i, std::move(out));
  }
}

void InferDepthToSpace(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  const int64_t block = context.Int("blocksize", 0);
  if (input.rank() != 4 || block <= 0 || block > 1 << 20) return;
  const bool to_space = context.node().op_type == "DepthToSpace";
  Shape out = Shape::OfRank(4);
  out[0] = input[0];
  if (to_space) {
    if (input[1].is_known()) out[1] = Dim(input[1].extent() / (block * block));
    for (std::size_t i = 2; i < 4; ++i) out[i] = Multiply(context, input[i], Dim(block));
  } else {
    out[1] = Multiply(context, input[1], Dim(block * block));
    for (std::size_t i = 2; i < 4; ++i) {
      if (input[i].is_known()) out[i] = Dim(input[i].extent() / block);
    }
  }
  context.SetOutputShape(0, std::move(out));
}

void InferPad(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  Shape out = Shape::OfRank(input.rank());
  std::optional<std::vector<int64_t>> pads = context.ConstantInts(1);
  if (!pads && HasAttribute(context, "pads")) pads = context.Ints("pads");
  if (!pads && HasAttribute(context, "paddings")) pads = context.Ints("paddings");
  if (pads && context.Input(3) == nullptr && pads->size() == 2 * input.rank()) {
    for (std::size_t i = 0; i < out.rank(); ++i) {
      constexpr int64_t kMost = int64_t{1} << 60;  // far from overflow, whichever way the three are added
      const int64_t before = std::clamp((*pads)[i], -kMost, kMost);
      const int64_t after = std::clamp((*pads)[i + out.rank()], -kMost, kMost);
      if (before + after == 0) {
        out[i] = input[i];
      } else if (input[i].is_known() && input[i].extent() <= kMost && input[i].extent() + before + after >= 0) {
        out[i] = Dim(input[i].extent() + before + after);
      }
    }
  }
  context.SetOutputShape(0, std::move(out));
}

void KeepRank(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (input.has_rank()) context.SetOutputShape(0, Shape::OfRank(input.rank()));
}

constexpr InferenceHook kHooks[] = {
    {"CenterCropPad", KeepRank},
    {"Concat", InferConcat},
    {"DepthToSpace", InferDepthToSpace},
    {"Expand", InferExpand},
    {"Flatten", InferFlatten},
    {"Pad", InferPad},
    {"Reshape", InferOldReshape, 1, 4},
    {"Reshape", InferReshape, 5},
    {"Shape", InferShape},
    {"Size", InferScalar},
    {"SpaceToDepth", InferDepthToSpace},
    {"Split", InferSplit},
    {"Squeeze", InferSqueeze},
    {"Tile", InferTile, 6},
    {"Transpose", InferTranspose},
    {"Unsqueeze", InferUnsqueeze},
};

}  // namespace

std::span<const InferenceHook> ShapeHooks() { return kHooks; }

}  // namespace light
