// SPDX-License-Identifier: Apache-2.0
#include "infer/hooks.h"

namespace light {
namespace {

/// numpy broadcasting over all arguments.
void Broadcast(InferenceContext& context) {
  Shape shape = InputShape(context, 0);
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    shape = BroadcastShapes(context, shape, InputShape(context, i), i);
  }
  context.SetOutputShape(0, std::move(shape));
}

void KeepType(InferenceContext& context) {
  if (const ValueType* type = context.Input(0)) context.SetOutputType(0, *type);
}

/// Every output has the shape of input 0.
void KeepShapeAll(InferenceContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) context.SetOutputShape(i, InputShape(context, 0));
}

/// The type that `to` names; it must name one.
void SetElementByTo(InferenceContext& context) {
  const ElementType type = ElementAttribute(context, "to");
  if (type == ElementType::kUndefined) FailInference(context, "attribute 'to' names no element type, got 0");
  context.SetOutputElement(0, type);
}

void InferCast(InferenceContext& context) {
  KeepShape(context);
  SetElementByTo(context);
}

/// Versions 1 of Cast names the type, as in "FLOAT".
void InferCastByName(InferenceContext& context) {
  KeepShape(context);
  std::string name = StringAttribute(context, "to");
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const auto type = conversions::FromName(name);
  if (!type) FailInference(context, "attribute 'to' names no element type, got '" + name + "'");
  context.SetOutputElement(0, *type);
}

/// Reads the same bytes as another type of the same width.
void InferBitCast(InferenceContext& context) {
  KeepShape(context);
  SetElementByTo(context);
}

void InferQuantizeLinear(InferenceContext& context) {
  KeepShape(context);
  if (context.Input(2) != nullptr) return;  // the zero point's type, by the generic rule
  const ElementType type = ElementAttribute(context, "output_dtype");
  context.SetOutputElement(0, type == ElementType::kUndefined ? ElementType::kUint8 : type);
}

void InferDequantizeLinear(InferenceContext& context) {
  KeepShape(context);
  ElementType type = ElementAttribute(context, "output_dtype");
  if (type == ElementType::kUndefined) type = InputElement(context, 1);
  if (type != ElementType::kUndefined) context.SetOutputElement(0, type);
}

/// Before version 19 the output was always float.
void InferOldDequantizeLinear(InferenceContext& context) { KeepShape(context); }

void InferDynamicQuantizeLinear(InferenceContext& context) {
  KeepShape(context);
  context.SetOutputShape(1, Shape::Scalar());
  context.SetOutputShape(2, Shape::Scalar());
}

constexpr InferenceHook kHooks[] = {
    {"Add", Broadcast, 7},
    {"And", Broadcast, 7},
    {"BitShift", Broadcast},
    {"BitwiseAnd", Broadcast},
    {"BitwiseOr", Broadcast},
    {"BitwiseXor", Broadcast},
    {"Div", Broadcast, 7},
    {"Equal", Broadcast, 7},
    {"Greater", Broadcast, 7},
    {"GreaterOrEqual", Broadcast},
    {"Less", Broadcast, 7},
    {"LessOrEqual", Broadcast},
    {"Max", Broadcast, 8},
    {"Mean", Broadcast, 8},
    {"Min", Broadcast, 8},
    {"Mod", Broadcast},
    {"Mul", Broadcast, 7},
    {"Or", Broadcast, 7},
    {"PRelu", Broadcast, 7},
    {"Pow", Broadcast, 7},
    {"Sub", Broadcast, 7},
    {"Sum", Broadcast, 8},
    {"Where", Broadcast},
    {"Xor", Broadcast, 7},
    // Older versions broadcast the second argument to the first, or nothing at all.
    {"Add", KeepShape, 1, 6},
    {"And", KeepShape, 1, 6},
    {"Div", KeepShape, 1, 6},
    {"Equal", KeepShape, 1, 6},
    {"Greater", KeepShape, 1, 6},
    {"Less", KeepShape, 1, 6},
    {"Max", KeepShape, 1, 7},
    {"Mean", KeepShape, 1, 7},
    {"Min", KeepShape, 1, 7},
    {"Mul", KeepShape, 1, 6},
    {"Or", KeepShape, 1, 6},
    {"PRelu", KeepShape, 1, 6},
    {"Pow", KeepShape, 1, 6},
    {"Sub", KeepShape, 1, 6},
    {"Sum", KeepShape, 1, 7},
    {"Xor", KeepShape, 1, 6},

    {"Abs", KeepShape},
    {"Acos", KeepShape},
    {"Acosh", KeepShape},
    {"Asin", KeepShape},
    {"Asinh", KeepShape},
    {"Atan", KeepShape},
    {"Atanh", KeepShape},
    {"BitCast", InferBitCast},
    {"BitwiseNot", KeepShape},
    {"Cast", InferCastByName, 1, 5},
    {"Cast", InferCast, 6},
    {"CastLike", KeepShape},
    {"Ceil", KeepShape},
    {"Celu", KeepShape},
    {"Clip", KeepShape},
    {"Cos", KeepShape},
    {"Cosh", KeepShape},
    {"CumProd", KeepShape},
    {"CumSum", KeepShape},
    {"DequantizeLinear", InferDequantizeLinear, 19},
    {"DequantizeLinear", InferOldDequantizeLinear, 1, 18},
    {"Dropout", KeepShapeAll},
    {"DynamicQuantizeLinear", InferDynamicQuantizeLinear},
    {"Elu", KeepShape},
    {"Erf", KeepShape},
    {"Exp", KeepShape},
    {"Floor", KeepShape},
    {"Gelu", KeepShape},
    {"HardSigmoid", KeepShape},
    {"HardSwish", KeepShape},
    {"Hardmax", KeepShape},
    {"Identity", KeepType},
    {"IsInf", KeepShape},
    {"IsNaN", KeepShape},
    {"LeakyRelu", KeepShape},
    {"Log", KeepShape},
    {"LogSoftmax", KeepShape},
    {"Mish", KeepShape},
    {"Neg", KeepShape},
    {"Not", KeepShape},
    {"QuantizeLinear", InferQuantizeLinear},
    {"Reciprocal", KeepShape},
    {"Relu", KeepShape},
    {"Round", KeepShape},
    {"Selu", KeepShape},
    {"Shrink", KeepShape},
    {"Sigmoid", KeepShape},
    {"Sign", KeepShape},
    {"Sin", KeepShape},
    {"Sinh", KeepShape},
    {"Softmax", KeepShape},
    {"Softplus", KeepShape},
    {"Softsign", KeepShape},
    {"Sqrt", KeepShape},
    {"Swish", KeepShape},
    {"Tan", KeepShape},
    {"Tanh", KeepShape},
    {"ThresholdedRelu", KeepShape},
};

}  // namespace

std::span<const InferenceHook> ElementwiseHooks() { return kHooks; }

}  // namespace light
