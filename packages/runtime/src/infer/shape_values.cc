// SPDX-License-Identifier: Apache-2.0
#include "infer/shape_values.h"

#include <algorithm>

namespace light {
namespace {

// Shapes are short lists: what is longer is data, and computing it is not inference's business.
constexpr int64_t kMostElements = 64;

using Ints = std::vector<int64_t>;

const Tensor* Keep(std::deque<Tensor>& owned, const Ints& values, bool is_scalar) {
  const int64_t count = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::Allocate(ElementType::kInt64, std::span<const int64_t>(&count, is_scalar ? 0 : 1));
  std::copy(values.begin(), values.end(), tensor.Data<int64_t>());
  owned.push_back(std::move(tensor));
  return &owned.back();
}

std::optional<Ints> SmallInts(const InferenceContext& context, std::size_t i) {
  const Tensor* tensor = context.ConstantInput(i);
  if (tensor == nullptr || tensor->element_count() > kMostElements || tensor->rank() > 1) return std::nullopt;
  return context.ConstantInts(i);
}

std::optional<Ints> EvaluateShape(const InferenceContext& context) {
  const ValueType* input = context.Input(0);
  const Shape& out = context.Output(0).shape;
  if (input == nullptr || !input->is_tensor() || !input->shape.has_rank() || !out.is_static()) return std::nullopt;
  const auto rank = static_cast<int64_t>(input->shape.rank());
  const int64_t start = context.Int("start", 0);
  const int64_t first = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  Ints values;
  for (int64_t i = 0; i < out[0].extent(); ++i) {
    const Dim& dim = input->shape[static_cast<std::size_t>(first + i)];
    if (!dim.is_known()) return std::nullopt;
    values.push_back(dim.extent());
  }
  return values;
}

std::optional<Ints> EvaluateGather(const InferenceContext& context) {
  const auto data = SmallInts(context, 0);
  const auto indices = SmallInts(context, 1);
  if (!data || !indices || context.ConstantInput(0)->rank() != 1) return std::nullopt;
  const auto size = static_cast<int64_t>(data->size());
  Ints values;
  for (int64_t index : *indices) {
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;  // an error of the run, not of the model
    values.push_back((*data)[static_cast<std::size_t>(index)]);
  }
  return values;
}

std::optional<Ints> EvaluateConcat(const InferenceContext& context) {
  Ints values;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const auto part = SmallInts(context, i);
    if (!part) return std::nullopt;
    values.insert(values.end(), part->begin(), part->end());
    if (values.size() > static_cast<std::size_t>(kMostElements)) return std::nullopt;
  }
  return values;
}

std::optional<Ints> EvaluateSlice(const InferenceContext& context) {
  const auto data = SmallInts(context, 0);
  const Shape& out = context.Output(0).shape;
  if (!data || context.node().since_version < 10 || !out.is_static() || out.rank() != 1) return std::nullopt;
  const auto starts = context.ConstantInts(1);
  const auto steps = context.ConstantInts(4);
  if (!starts || starts->size() != 1 || (context.Input(4) != nullptr && !steps)) return std::nullopt;
  const auto size = static_cast<int64_t>(data->size());
  if (size == 0) return Ints();
  const int64_t step = steps && !steps->empty() ? std::clamp((*steps)[0], -kMostElements - 1, kMostElements + 1) : 1;
  int64_t at = (*starts)[0];
  at = std::clamp<int64_t>(at < 0 ? (at < -size ? 0 : at + size) : at, 0, step > 0 ? size : size - 1);
  Ints values;
  for (int64_t i = 0; i < out[0].extent(); ++i, at += step) {
    if (at < 0 || at >= size) return std::nullopt;
    values.push_back((*data)[static_cast<std::size_t>(at)]);
  }
  return values;
}

/// Add, Sub, Mul of lists of one length, or of a list and a single number.
std::optional<Ints> EvaluateArithmetic(const InferenceContext& context, char op) {
  const auto a = SmallInts(context, 0);
  const auto b = SmallInts(context, 1);
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return std::nullopt;
  Ints values(std::max(a->size(), b->size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int64_t x = (*a)[a->size() == 1 ? 0 : i];
    const int64_t y = (*b)[b->size() == 1 ? 0 : i];
    const bool overflows = op == '+'   ? __builtin_add_overflow(x, y, &values[i])
                           : op == '-' ? __builtin_sub_overflow(x, y, &values[i])
                                       : __builtin_mul_overflow(x, y, &values[i]);
    if (overflows) return std::nullopt;
  }
  return values;
}

std::optional<Ints> Evaluate(const InferenceContext& context) {
  const std::string& op = context.node().op_type;
  if (op == "Shape") return EvaluateShape(context);
  if (op == "Gather") return EvaluateGather(context);
  if (op == "Concat") return EvaluateConcat(context);
  if (op == "Slice") return EvaluateSlice(context);
  if (op == "Add") return EvaluateArithmetic(context, '+');
  if (op == "Sub") return EvaluateArithmetic(context, '-');
  if (op == "Mul") return EvaluateArithmetic(context, '*');
  // Only the shape or the type changes.
  if (op == "Squeeze" || op == "Unsqueeze" || op == "Identity" || op == "Cast" || op == "Reshape") {
    return SmallInts(context, 0);
  }
  return std::nullopt;
}

const Tensor* ConstantNode(const InferenceContext& context, std::deque<Tensor>& owned) {
  if (const Attribute* value = context.FindAttribute("value")) return std::get_if<Tensor>(&value->data);
  if (context.node().FindAttribute("value_int") != nullptr) return Keep(owned, {context.Int("value_int", 0)}, true);
  if (context.node().FindAttribute("value_ints") != nullptr) return Keep(owned, context.Ints("value_ints"), false);
  return nullptr;
}

}  // namespace

const Tensor* KnownConstant(const InferenceContext& context, std::deque<Tensor>& owned) {
  if (!context.node().domain.empty()) return nullptr;
  if (context.node().op_type == "Constant") return ConstantNode(context, owned);
  const ValueType& out = context.Output(0);
  if (!out.is_tensor() || out.element != ElementType::kInt64) return nullptr;
  if (!out.shape.is_static() || out.shape.rank() > 1) return nullptr;
  const auto values = Evaluate(context);
  if (!values) return nullptr;
  const int64_t expected = out.shape.is_scalar() ? 1 : out.shape[0].extent();
  return static_cast<int64_t>(values->size()) == expected ? Keep(owned, *values, out.shape.is_scalar()) : nullptr;
}

}  // namespace light
