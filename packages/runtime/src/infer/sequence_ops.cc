// SPDX-License-Identifier: Apache-2.0
#include "infer/hooks.h"
#include "infer/type_rule.h"

namespace light {
namespace {

/// What is inside input 0, a sequence or an optional.
const ValueType* Inner(const InferenceContext& context) {
  const ValueType* type = context.Input(0);
  return type != nullptr ? type->inner.get() : nullptr;
}

void InferSequenceAt(InferenceContext& context) {
  if (const ValueType* inner = Inner(context)) context.SetOutputType(0, WithoutShape(*inner));
}

void InferSequenceConstruct(InferenceContext& context) {
  if (const ValueType* first = context.Input(0)) context.SetOutputType(0, ValueType::Sequence(WithoutShape(*first)));
}

/// The schema lets the tensor have any type; what is put into a sequence must have the type of its elements.
void InferSequenceInsert(InferenceContext& context) {
  const ValueType* inner = Inner(context);
  const ValueType* tensor = context.Input(1);
  if (inner == nullptr) return;
  if (tensor != nullptr && !SameElementTypes(*inner, *tensor)) {
    FailInference(context, ArgumentLabel(context, 1) + ": must have the type of the sequence's elements, " +
                               inner->ToString() + ", got " + tensor->ToString());
  }
  context.SetOutputType(0, ValueType::Sequence(WithoutShape(*inner)));
}

void InferSequenceEmpty(InferenceContext& context) {
  const ElementType type = ElementAttribute(context, "dtype");
  context.SetOutputType(
      0, ValueType::Sequence(ValueType::Tensor(type == ElementType::kUndefined ? ElementType::kFloat : type)));
}

void InferSplitToSequence(InferenceContext& context) {
  context.SetOutputType(0, ValueType::Sequence(ValueType::Tensor(InputElement(context, 0))));
}

void InferScalar(InferenceContext& context) { context.SetOutputShape(0, Shape::Scalar()); }

void InferOptional(InferenceContext& context) {
  if (const ValueType* content = context.Input(0)) {
    return context.SetOutputType(0, ValueType::Optional(*content));
  }
  const Attribute* type = context.FindAttribute("type");
  if (type == nullptr) FailInference(context, "attribute type: is required without an input, got none");
  context.SetOutputType(0, ValueType::Optional(std::get<ValueType>(type->data)));
}

void InferOptionalGetElement(InferenceContext& context) {
  const ValueType* type = context.Input(0);
  if (type == nullptr) return;
  const bool is_optional = type->kind == ValueType::Kind::kOptional && type->inner;
  context.SetOutputType(0, is_optional ? *type->inner : *type);
}

constexpr InferenceHook kHooks[] = {
    {"ConcatFromSequence", InferSequenceAt},
    {"Optional", InferOptional},
    {"OptionalGetElement", InferOptionalGetElement},
    {"OptionalHasElement", InferScalar},
    {"SequenceAt", InferSequenceAt},
    {"SequenceConstruct", InferSequenceConstruct},
    {"SequenceEmpty", InferSequenceEmpty},
    {"SequenceInsert", InferSequenceInsert},
    {"SequenceLength", InferScalar},
    {"SplitToSequence", InferSplitToSequence},
};

}  // namespace

std::span<const InferenceHook> SequenceHooks() { return kHooks; }

}  // namespace light
