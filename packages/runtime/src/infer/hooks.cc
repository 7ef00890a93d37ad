// SPDX-License-Identifier: Apache-2.0
#include "infer/hooks.h"

#include <algorithm>

#include "conversions/shape.h"
#include "light/error.h"

namespace light {

std::span<const std::span<const InferenceHook>> AllInferenceHooks() {
  static const std::span<const InferenceHook> kAll[] = {
      ElementwiseHooks(), ShapeHooks(),     IndexHooks(),       ReductionHooks(), LinearHooks(),
      EinsumHooks(),      GeneratorHooks(), ControlFlowHooks(), SequenceHooks(),  MlHooks(),
  };
  return kAll;
}

const Shape& InputShape(const InferenceContext& context, std::size_t i) {
  static const Shape* const kUnranked = new Shape();  // never destroyed: used from static destructors at the worst
  const ValueType* type = context.Input(i);
  return type != nullptr && type->is_tensor() ? type->shape : *kUnranked;
}

ElementType InputElement(const InferenceContext& context, std::size_t i) {
  const ValueType* type = context.Input(i);
  return type != nullptr && type->is_tensor() ? type->element : ElementType::kUndefined;
}

const Tensor* TensorAttribute(const InferenceContext& context, std::string_view name) {
  const Attribute* attribute = context.FindAttribute(name);
  return attribute != nullptr ? std::get_if<Tensor>(&attribute->data) : nullptr;
}

std::string StringAttribute(const InferenceContext& context, std::string_view name) {
  const Attribute* attribute = context.FindAttribute(name);
  const auto* text = attribute != nullptr ? std::get_if<std::string>(&attribute->data) : nullptr;
  return text != nullptr ? *text : std::string();
}

bool HasAttribute(const InferenceContext& context, std::string_view name) {
  return context.FindAttribute(name) != nullptr;
}

void FailInference(const InferenceContext& context, const std::string& what) {
  throw Error(ErrorCode::kInvalidGraph, "node " + context.node().Label() + ": " + what);
}

std::string ArgumentLabel(const InferenceContext& context, std::size_t input, std::string_view attribute) {
  if (!attribute.empty() && context.Input(input) == nullptr) return "attribute " + std::string(attribute);
  const OperatorSchema* schema = context.node().schema;
  const std::string number = "input " + std::to_string(input);
  if (schema == nullptr || schema->inputs.empty()) return number;
  return number + " (" + schema->inputs[std::min(input, schema->inputs.size() - 1)].name + ")";
}

std::size_t NormaliseAxis(const InferenceContext& context, int64_t axis, std::size_t rank, std::string_view what) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    FailInference(context,
                  std::string(what) +
                      (rank == 0 ? ": there is no axis in a scalar"
                                 : ": must be in [" + std::to_string(-signed_rank) + ", " +
                                       std::to_string(signed_rank - 1) + "] for rank " + std::to_string(signed_rank)) +
                      ", got " + std::to_string(axis));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::optional<std::vector<int64_t>> Axes(const InferenceContext& context, std::size_t input, bool* given) {
  if (context.Input(input) != nullptr) {
    *given = true;
    return context.ConstantInts(input);
  }
  *given = HasAttribute(context, "axes");
  return context.Ints("axes");
}

std::vector<bool> MarkAxes(const InferenceContext& context, const std::vector<int64_t>& axes, std::size_t rank,
                           std::size_t input) {
  std::vector<bool> marked(rank);
  const auto signed_rank = static_cast<int64_t>(rank);
  for (const int64_t axis : axes) {
    const bool is_axis = axis >= -signed_rank && axis < signed_rank;
    const std::size_t i = NormaliseAxis(context, axis, rank, is_axis ? "" : ArgumentLabel(context, input, "axes"));
    if (marked[i]) {
      FailInference(context, ArgumentLabel(context, input, "axes") + ": must be distinct, got axis " +
                                 std::to_string(i) + " twice in " + conversions::FormatExtents(axes));
    }
    marked[i] = true;
  }
  return marked;
}

Shape BroadcastShapes(const InferenceContext& context, const Shape& a, const Shape& b, std::size_t input) {
  if (!a.has_rank() || !b.has_rank()) return {};
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape out = Shape::OfRank(rank);
  const Dim one(1);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim& x = i + a.rank() >= rank ? a[i + a.rank() - rank] : one;
    const Dim& y = i + b.rank() >= rank ? b[i + b.rank() - rank] : one;
    if (x == one || x == y) {
      out[i] = y;
    } else if (y == one) {
      out[i] = x;
    } else if (x.is_known() && y.is_known()) {
      FailInference(context, ArgumentLabel(context, input) + ": extents must be equal or 1 to broadcast with " +
                                 a.ToString() + ", got " + b.ToString());
    } else if (x.is_known() || y.is_known()) {
      out[i] = x.is_known() ? x : y;  // the other one turns out to be 1 or equal
    }
  }
  return out;
}

void KeepShape(InferenceContext& context) {
  if (context.output_count() > 0) context.SetOutputShape(0, InputShape(context, 0));
}

ElementType ElementAttribute(const InferenceContext& context, std::string_view name) {
  if (!HasAttribute(context, name)) return ElementType::kUndefined;
  const int64_t number = context.Int(name, 0);
  const auto type = conversions::FromOnnx(number);
  if (!type) {
    FailInference(context,
                  "attribute '" + std::string(name) + "' names no element type, got " + std::to_string(number));
  }
  return *type;
}

Dim Multiply(const InferenceContext& context, const Dim& a, const Dim& b) {
  if (a == Dim(1)) return b;
  if (b == Dim(1)) return a;
  if (a == Dim(0) || b == Dim(0)) return Dim(0);
  if (!a.is_known() || !b.is_known()) return {};
  int64_t product = 0;
  if (__builtin_mul_overflow(a.extent(), b.extent(), &product)) {
    FailInference(context, "output 0: an extent must fit in 64 bits, got " + std::to_string(a.extent()) + " times " +
                               std::to_string(b.extent()));
  }
  return Dim(product);
}

Dim Sum(const InferenceContext& context, const Dim& a, const Dim& b) {
  if (a == Dim(0)) return b;
  if (b == Dim(0)) return a;
  if (!a.is_known() || !b.is_known()) return {};
  int64_t sum = 0;
  if (__builtin_add_overflow(a.extent(), b.extent(), &sum)) {
    FailInference(context, "output 0: an extent must fit in 64 bits, got " + std::to_string(a.extent()) + " plus " +
                               std::to_string(b.extent()));
  }
  return Dim(sum);
}

}  // namespace light
