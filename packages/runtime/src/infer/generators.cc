// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "infer/hooks.h"

namespace light {
namespace {

Shape ShapeOf(const Tensor& tensor) { return Shape::FromExtents(tensor.dims().span()); }

void InferConstant(InferenceContext& context) {
  const auto set = [&](ElementType type, Shape shape) {
    context.SetOutputType(0, ValueType::Tensor(type, std::move(shape)));
  };
  const auto list = [](std::size_t size) { return Shape({Dim(static_cast<int64_t>(size))}); };
  if (const Tensor* value = TensorAttribute(context, "value")) return set(value->type(), ShapeOf(*value));
  if (HasAttribute(context, "value_float")) return set(ElementType::kFloat, Shape::Scalar());
  if (HasAttribute(context, "value_int")) return set(ElementType::kInt64, Shape::Scalar());
  if (HasAttribute(context, "value_string")) return set(ElementType::kString, Shape::Scalar());
  if (HasAttribute(context, "value_ints")) return set(ElementType::kInt64, list(context.Ints("value_ints").size()));
  if (const Attribute* floats = context.FindAttribute("value_floats")) {
    return set(ElementType::kFloat, list(std::get<std::vector<float>>(floats->data).size()));
  }
  if (const Attribute* strings = context.FindAttribute("value_strings")) {
    return set(ElementType::kString, list(std::get<std::vector<std::string>>(strings->data).size()));
  }
  FailInference(context, "attribute value, or one of the attributes value_*: must be given, got none");
}

void InferConstantOfShape(InferenceContext& context) {
  const Tensor* value = TensorAttribute(context, "value");
  context.SetOutputElement(0, value != nullptr ? value->type() : ElementType::kFloat);
  if (const auto extents = context.ConstantInts(0)) {
    for (const int64_t extent : *extents) {
      if (extent < 0)
        FailInference(context, ArgumentLabel(context, 0) + ": extents must not be negative, got " +
                                   conversions::FormatExtents(*extents));
    }
    context.SetOutputShape(0, Shape::FromExtents(*extents));
    return;
  }
  const Shape& input = InputShape(context, 0);
  if (input.rank() == 1 && input[0].is_known() && input[0].extent() <= 64) {
    context.SetOutputShape(0, Shape::OfRank(static_cast<std::size_t>(input[0].extent())));
  }
}

std::optional<double> ScalarValue(const Tensor* tensor) {
  if (tensor == nullptr || tensor->element_count() != 1) return std::nullopt;
  switch (tensor->type()) {
    case ElementType::kFloat:
      return *tensor->Data<float>();
    case ElementType::kDouble:
      return *tensor->Data<double>();
    case ElementType::kInt16:
      return *tensor->Data<int16_t>();
    case ElementType::kInt32:
      return *tensor->Data<int32_t>();
    case ElementType::kInt64:
      return static_cast<double>(*tensor->Data<int64_t>());
    default:
      return std::nullopt;
  }
}

void InferRange(InferenceContext& context) {
  context.SetOutputShape(0, Shape::OfRank(1));
  const auto start = ScalarValue(context.ConstantInput(0));
  const auto limit = ScalarValue(context.ConstantInput(1));
  const auto delta = ScalarValue(context.ConstantInput(2));
  if (!start || !limit || !delta || *delta == 0) return;
  constexpr double kExact = 0x1p51;  // below it, neither the difference nor the quotient hides a remainder
  if (context.ConstantInput(0)->type() == ElementType::kInt64 &&
      !(std::abs(*start) < kExact && std::abs(*limit) < kExact && std::abs(*delta) < kExact))
    return;
  const double count = std::ceil((*limit - *start) / *delta);
  if (!(std::abs(count) < 1e15)) return;  // also not a number; beyond it a double is not exact
  context.SetOutputShape(0, Shape({Dim(count > 0 ? static_cast<int64_t>(count) : 0)}));
}

/// The element type is in `dtype`; without it, that of input 0, or float if there is no input.
void SetElementByDtype(InferenceContext& context) {
  ElementType type = ElementAttribute(context, "dtype");
  if (type == ElementType::kUndefined)
    type = context.input_count() > 0 ? InputElement(context, 0) : ElementType::kFloat;
  if (type != ElementType::kUndefined) context.SetOutputElement(0, type);
}

void InferLike(InferenceContext& context) {
  SetElementByDtype(context);
  KeepShape(context);
}

void InferRandom(InferenceContext& context) {
  SetElementByDtype(context);
  for (const int64_t extent : context.Ints("shape")) {
    if (extent < 0)
      FailInference(context, "attribute shape: extents must not be negative, got " +
                                 conversions::FormatExtents(context.Ints("shape")));
  }
  context.SetOutputShape(0, Shape::FromExtents(context.Ints("shape")));
}

void InferMultinomial(InferenceContext& context) {
  const ElementType type = ElementAttribute(context, "dtype");
  context.SetOutputElement(0, type == ElementType::kUndefined ? ElementType::kInt32 : type);
  const Shape& input = InputShape(context, 0);
  Shape out = Shape::OfRank(2);
  if (input.rank() == 2) out[0] = input[0];
  out[1] = Dim(context.Int("sample_size", 1));
  context.SetOutputShape(0, std::move(out));
}

/// Windows of signal processing and the mel matrix: the type is in `output_datatype`.
void InferSignalTable(InferenceContext& context) {
  const ElementType type = ElementAttribute(context, "output_datatype");
  context.SetOutputElement(0, type == ElementType::kUndefined ? ElementType::kFloat : type);
  context.SetOutputShape(0, Shape::OfRank(context.node().op_type == "MelWeightMatrix" ? 2 : 1));
}

/// RNN, GRU and LSTM: Y [steps, directions, batch, hidden], then the last states [directions, batch, hidden].
void InferRecurrent(InferenceContext& context) {
  const Shape& x = InputShape(context, 0);
  const bool batch_first = context.Int("layout", 0) != 0;
  const Dim steps = x.rank() == 3 ? x[batch_first ? 1 : 0] : Dim();
  const Dim batch = x.rank() == 3 ? x[batch_first ? 0 : 1] : Dim();
  const Dim directions(StringAttribute(context, "direction") == "bidirectional" ? 2 : 1);
  const Shape& recurrent = InputShape(context, 2);
  Dim hidden(context.Int("hidden_size", -1));
  if (!hidden.is_known() && recurrent.rank() == 3) hidden = recurrent[2];
  context.SetOutputShape(
      0, batch_first ? Shape({batch, steps, directions, hidden}) : Shape({steps, directions, batch, hidden}));
  for (std::size_t i = 1; i < 3; ++i) {
    context.SetOutputShape(i, batch_first ? Shape({batch, directions, hidden}) : Shape({directions, batch, hidden}));
  }
}

void InferResize(InferenceContext& context) {
  const Shape& input = InputShape(context, 0);
  if (!input.has_rank()) return;
  Shape out = Shape::OfRank(input.rank());
  const auto sizes = context.ConstantInts(3);
  const std::string policy = StringAttribute(context, "keep_aspect_ratio_policy");  // since version 18
  if (sizes && sizes->size() == input.rank() && !HasAttribute(context, "axes") &&
      (policy.empty() || policy == "stretch")) {
    for (std::size_t i = 0; i < out.rank(); ++i) out[i] = Dim((*sizes)[i]);
  }
  const std::size_t scales_input = context.node().op_type == "Resize" && context.node().since_version >= 11 ? 2 : 1;
  const Tensor* scales = context.ConstantInput(scales_input);
  if (scales != nullptr && scales->type() == ElementType::kFloat && !HasAttribute(context, "axes") &&
      scales->element_count() == static_cast<int64_t>(input.rank())) {
    for (std::size_t i = 0; i < out.rank(); ++i) {
      const double extent = std::floor(static_cast<double>(input[i].extent()) * scales->Data<float>()[i]);
      if (input[i].is_known() && extent >= 0 && extent < 1e15) out[i] = Dim(static_cast<int64_t>(extent));
    }
  }
  context.SetOutputShape(0, std::move(out));
}

constexpr InferenceHook kHooks[] = {
    {"Bernoulli", InferLike},
    {"BlackmanWindow", InferSignalTable},
    {"Constant", InferConstant},
    {"ConstantOfShape", InferConstantOfShape},
    {"EyeLike", InferLike},
    {"GRU", InferRecurrent},
    {"HammingWindow", InferSignalTable},
    {"HannWindow", InferSignalTable},
    {"LSTM", InferRecurrent},
    {"MelWeightMatrix", InferSignalTable},
    {"Multinomial", InferMultinomial},
    {"RNN", InferRecurrent},
    {"RandomNormal", InferRandom},
    {"RandomNormalLike", InferLike},
    {"RandomUniform", InferRandom},
    {"RandomUniformLike", InferLike},
    {"Range", InferRange},
    {"Resize", InferResize},
    {"Upsample", InferResize, 9},
};

}  // namespace

std::span<const InferenceHook> GeneratorHooks() { return kHooks; }

}  // namespace light
