// SPDX-License-Identifier: Apache-2.0
#include "infer/hooks.h"
#include "infer/type_rule.h"

namespace light {
namespace {

/// What holds for both shapes.
Shape CommonShape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return {};
  Shape out = a;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    if (!(a[i] == b[i])) out[i] = Dim();
  }
  return out;
}

void InferIf(InferenceContext& context) {
  std::vector<ValueType> then_types = context.InferSubgraph("then_branch", {});
  const std::vector<ValueType> else_types = context.InferSubgraph("else_branch", {});
  if (then_types.size() != context.output_count() || else_types.size() != context.output_count()) {
    FailInference(context, "attributes then_branch and else_branch: must have as many outputs as the node, " +
                               std::to_string(context.output_count()) + ", got " + std::to_string(then_types.size()) +
                               " and " + std::to_string(else_types.size()));
  }
  for (std::size_t i = 0; i < then_types.size(); ++i) {
    ValueType& type = then_types[i];
    if (!SameElementTypes(type, else_types[i])) {
      FailInference(context, "attributes then_branch and else_branch: output " + std::to_string(i) +
                                 " must have the same type in both, got " + type.ToString() + " and " +
                                 else_types[i].ToString());
    }
    if (type.is_tensor()) {
      type.shape = CommonShape(type.shape, else_types[i].shape);
    } else {
      type = WithoutShape(type);
    }
    context.SetOutputType(i, std::move(type));
  }
}

/// `shape` with one more dimension at `axis`.
Shape Stacked(const Shape& shape, const Dim& extent, std::size_t axis) {
  if (!shape.has_rank()) return {};
  std::vector<Dim> dims = shape.dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), extent);
  return Shape(std::move(dims));
}

void InferLoop(InferenceContext& context) {
  if (context.input_count() < 2)
    FailInference(context, "inputs: must be at least 2, got " + std::to_string(context.input_count()));
  const std::size_t carried = context.input_count() - 2;
  std::vector<ValueType> inputs = {ValueType::Tensor(ElementType::kInt64, Shape::Scalar()),
                                   ValueType::Tensor(ElementType::kBool, Shape::Scalar())};
  for (std::size_t i = 0; i < carried; ++i) {
    // The shape may change from one iteration to the next.
    const ValueType* initial = context.Input(i + 2);
    inputs.push_back(initial != nullptr ? WithoutShape(*initial) : ValueType());
  }
  const std::vector<ValueType> outputs = context.InferSubgraph("body", inputs);
  if (outputs.size() != context.output_count() + 1 || context.output_count() < carried) {
    FailInference(context, "attribute body: must have one output more than the node, " +
                               std::to_string(context.output_count() + 1) + ", and the node one for each of " +
                               std::to_string(carried) + " carried values, got " + std::to_string(outputs.size()));
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    ValueType type = outputs[i + 1];
    if (i < carried) {
      const ValueType* initial = context.Input(i + 2);
      // A value may start as an optional and be what the optional holds from the first iteration on.
      const bool unwraps = initial != nullptr && initial->kind == ValueType::Kind::kOptional && initial->inner &&
                           SameElementTypes(*initial->inner, type);
      if (initial != nullptr && !unwraps && !SameElementTypes(*initial, type)) {
        FailInference(context, ArgumentLabel(context, i + 2) + ": must keep its type " + initial->ToString() +
                                   ", got " + type.ToString() + " from the body");
      }
      const Shape shape = initial != nullptr ? CommonShape(initial->shape, type.shape) : Shape();
      type = WithoutShape(type);
      if (type.is_tensor()) type.shape = shape;
    } else {
      if (!type.is_tensor())
        FailInference(context, "attribute body: output " + std::to_string(i + 1) +
                                   " is collected and must be a tensor, got " + type.ToString());
      type.shape = Stacked(type.shape, Dim(), 0);
    }
    context.SetOutputType(i, std::move(type));
  }
}

struct ScanLayout {
  std::size_t first = 0;  // index of the first state: version 8 has sequence lengths before it
  std::size_t states = 0;
  std::size_t scans = 0;
  bool batched = false;  // version 8: a batch dimension before everything
};

ScanLayout LayOut(InferenceContext& context) {
  ScanLayout layout;
  layout.batched = context.node().since_version < 9;
  layout.first = layout.batched ? 1 : 0;
  const int64_t scans = context.Int("num_scan_inputs", 0);
  const auto available = static_cast<int64_t>(context.input_count() - std::min(context.input_count(), layout.first));
  if (scans < 1 || scans > available) {
    FailInference(context, "attribute num_scan_inputs: must be in [1, " + std::to_string(available) + "], got " +
                               std::to_string(scans));
  }
  layout.scans = static_cast<std::size_t>(scans);
  layout.states = static_cast<std::size_t>(available - scans);
  return layout;
}

/// `shape` without the dimension at `axis`, which is stored in `extent`.
Shape Unstacked(const InferenceContext& context, const Shape& shape, int64_t axis, Dim* extent) {
  if (!shape.has_rank()) return {};
  const std::size_t at = NormaliseAxis(context, axis, shape.rank(), "attribute scan_input_axes");
  if (!extent->is_known()) *extent = shape[at];
  std::vector<Dim> dims = shape.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at));
  return Shape(std::move(dims));
}

void InferScan(InferenceContext& context) {
  const ScanLayout layout = LayOut(context);
  const std::vector<int64_t> input_axes = context.Ints("scan_input_axes");
  const std::vector<int64_t> output_axes = context.Ints("scan_output_axes");
  Dim batch;
  Dim length;
  std::vector<ValueType> inputs;
  for (std::size_t i = 0; i < layout.states + layout.scans; ++i) {
    const ValueType* outer = context.Input(layout.first + i);
    ValueType type = outer != nullptr ? *outer : ValueType();
    if (layout.batched) type.shape = Unstacked(context, type.shape, 0, &batch);
    if (i >= layout.states) {
      const std::size_t scan = i - layout.states;
      type.shape = Unstacked(context, type.shape, scan < input_axes.size() ? input_axes[scan] : 0, &length);
    }
    inputs.push_back(std::move(type));
  }
  std::vector<ValueType> outputs = context.InferSubgraph("body", inputs);
  if (outputs.size() != context.output_count() || outputs.size() < layout.states) {
    FailInference(context, "attribute body: must have as many outputs as the node, " +
                               std::to_string(context.output_count()) + ", got " + std::to_string(outputs.size()));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    ValueType& type = outputs[i];
    if (i >= layout.states && type.shape.has_rank()) {
      const std::size_t scan = i - layout.states;
      const int64_t axis = scan < output_axes.size() ? output_axes[scan] : 0;
      type.shape = Stacked(type.shape, length,
                           NormaliseAxis(context, axis, type.shape.rank() + 1, "attribute scan_output_axes"));
    }
    if (layout.batched) type.shape = Stacked(type.shape, batch, 0);
    context.SetOutputType(i, std::move(type));
  }
}

/// Applies its body to every element of one or more sequences.
void InferSequenceMap(InferenceContext& context) {
  std::vector<ValueType> inputs;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const ValueType* type = context.Input(i);
    const bool is_sequence = type != nullptr && type->kind == ValueType::Kind::kSequence && type->inner;
    inputs.push_back(is_sequence ? WithoutShape(*type->inner) : type != nullptr ? *type : ValueType());
  }
  std::vector<ValueType> outputs = context.InferSubgraph("body", inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    context.SetOutputType(i, ValueType::Sequence(WithoutShape(outputs[i])));
  }
}

constexpr InferenceHook kHooks[] = {
    {"If", InferIf},
    {"Loop", InferLoop},
    {"Scan", InferScan},
    {"SequenceMap", InferSequenceMap},
};

}  // namespace

std::span<const InferenceHook> ControlFlowHooks() { return kHooks; }

}  // namespace light
