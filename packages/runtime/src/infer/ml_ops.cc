// SPDX-License-Identifier: Apache-2.0
#include "infer/hooks.h"

namespace light {
namespace {

constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kTraining = "ai.onnx.preview.training";

void InferCastMap(InferenceContext& context) {
  const std::string to = StringAttribute(context, "cast_to");
  context.SetOutputElement(0, to == "TO_STRING"  ? ElementType::kString
                              : to == "TO_INT64" ? ElementType::kInt64
                                                 : ElementType::kFloat);
}

/// Maps strings to int64 and back.
void InferCategoryMapper(InferenceContext& context) {
  KeepShape(context);
  const bool from_string = InputElement(context, 0) == ElementType::kString;
  context.SetOutputElement(0, from_string ? ElementType::kInt64 : ElementType::kString);
}

void InferLabelEncoder(InferenceContext& context) {
  KeepShape(context);
  if (const Tensor* values = TensorAttribute(context, "values_tensor"))
    return context.SetOutputElement(0, values->type());
  if (HasAttribute(context, "values_int64s")) return context.SetOutputElement(0, ElementType::kInt64);
  if (HasAttribute(context, "values_floats")) return context.SetOutputElement(0, ElementType::kFloat);
  context.SetOutputElement(0, ElementType::kString);
}

/// The values of the map, in the order of the vocabulary.
void InferDictVectorizer(InferenceContext& context) {
  const ValueType* map = context.Input(0);
  if (map != nullptr && map->inner) context.SetOutputElement(0, map->inner->element);
}

/// Labels are strings if there is a list of string labels.
void InferClassifier(InferenceContext& context) {
  const char* lists[] = {"classlabels_strings", "classlabels_string"};
  bool strings = false;
  for (const char* list : lists) {
    const Attribute* labels = context.FindAttribute(list);
    const auto* values = labels != nullptr ? std::get_if<std::vector<std::string>>(&labels->data) : nullptr;
    strings |= values != nullptr && !values->empty();
  }
  context.SetOutputElement(0, strings ? ElementType::kString : ElementType::kInt64);
  const Shape& input = InputShape(context, 0);
  const Dim batch = input.rank() == 2 ? input[0] : input.rank() == 1 ? Dim(1) : Dim();
  context.SetOutputShape(0, Shape({batch}));
  context.SetOutputShape(1, Shape({batch, Dim()}));
}

/// A row of scores per row of the input.
void InferScores(InferenceContext& context, const Dim& columns) {
  const Shape& input = InputShape(context, 0);
  if (input.rank() == 1 || input.rank() == 2)
    context.SetOutputShape(0, Shape({input.rank() == 2 ? input[0] : Dim(1), columns}));
}

void InferTargets(InferenceContext& context) { InferScores(context, Dim(context.Int("targets", 1))); }
void InferTreeTargets(InferenceContext& context) { InferScores(context, Dim(context.Int("n_targets", 1))); }
void InferOneTarget(InferenceContext& context) { InferScores(context, Dim(1)); }

void InferZipMap(InferenceContext& context) {
  ValueType map;
  map.kind = ValueType::Kind::kMap;
  map.element = HasAttribute(context, "classlabels_strings") ? ElementType::kString : ElementType::kInt64;
  map.inner = std::make_shared<ValueType>(ValueType::Tensor(ElementType::kFloat));
  context.SetOutputType(0, ValueType::Sequence(std::move(map)));
}

/// Momentum, Adagrad, Adam: after the rate and the count come n tensors, n gradients and the states of each, in groups.
/// The outputs are the new tensors and the new states.
void InferOptimizer(InferenceContext& context) {
  const std::size_t groups = context.node().op_type == "Adam" ? 4 : 3;
  const std::size_t arguments = context.input_count() >= 2 ? context.input_count() - 2 : 0;
  if (arguments == 0 || arguments % groups != 0) {
    FailInference(context, "inputs: after the first 2 they must come in " + std::to_string(groups) + " groups, got " +
                               std::to_string(arguments));
  }
  const std::size_t n = arguments / groups;
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    // The gradients have no counterpart among the outputs.
    const ValueType* type = context.Input(2 + (i < n ? i : i + n));
    if (type != nullptr) context.SetOutputType(i, *type);
  }
}

/// One gradient for each of the tensors named in `xs`, which are the first inputs.
void InferGradient(InferenceContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    if (const ValueType* type = context.Input(i)) context.SetOutputType(i, *type);
  }
}

/// Without a state given, the new one has the type of the query.
void InferLinearAttention(InferenceContext& context) {
  const ElementType type = InputElement(context, 0);
  if (context.output_count() > 1 && !context.Output(1).is_resolved()) context.SetOutputElement(1, type);
}

constexpr InferenceHook kHooks[] = {
    {"Adagrad", InferOptimizer, 1, INT_MAX, kTraining},
    {"Adam", InferOptimizer, 1, INT_MAX, kTraining},
    {"Binarizer", KeepShape, 1, INT_MAX, kMl},
    {"CastMap", InferCastMap, 1, INT_MAX, kMl},
    {"CategoryMapper", InferCategoryMapper, 1, INT_MAX, kMl},
    {"DictVectorizer", InferDictVectorizer, 1, INT_MAX, kMl},
    {"Gradient", InferGradient, 1, INT_MAX, kTraining},
    {"Imputer", KeepShape, 1, INT_MAX, kMl},
    {"LabelEncoder", InferCategoryMapper, 1, 1, kMl},
    {"LabelEncoder", InferLabelEncoder, 2, INT_MAX, kMl},
    {"LinearAttention", InferLinearAttention},
    {"LinearClassifier", InferClassifier, 1, INT_MAX, kMl},
    {"LinearRegressor", InferTargets, 1, INT_MAX, kMl},
    {"Momentum", InferOptimizer, 1, INT_MAX, kTraining},
    {"Normalizer", KeepShape, 1, INT_MAX, kMl},
    {"SVMClassifier", InferClassifier, 1, INT_MAX, kMl},
    {"SVMRegressor", InferOneTarget, 1, INT_MAX, kMl},
    {"Scaler", KeepShape, 1, INT_MAX, kMl},
    {"TreeEnsemble", InferTreeTargets, 1, INT_MAX, kMl},
    {"TreeEnsembleClassifier", InferClassifier, 1, INT_MAX, kMl},
    {"TreeEnsembleRegressor", InferTreeTargets, 1, INT_MAX, kMl},
    {"ZipMap", InferZipMap, 1, INT_MAX, kMl},
};

}  // namespace

std::span<const InferenceHook> MlHooks() { return kHooks; }

}  // namespace light
