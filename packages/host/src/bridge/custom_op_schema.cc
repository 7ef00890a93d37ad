// SPDX-License-Identifier: Apache-2.0
#include "bridge/custom_op_schema.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <ort_abi/callbacks.h>

#include "adapters/checked.h"
#include "adapters/logger.h"
#include "adapters/shape_inference.h"
#include "adapters/status.h"
#include "light/error.h"
#include "light/inference.h"

namespace ort_host {
namespace {

using light::ElementType;
using light::FormalParameter;
using light::TypeSet;
using light::ValueType;

TypeSet TypesOf(const CustomOpArgument& argument) {
  return argument.takes_any() ? AnyTensor() : TypeSet::Tensors({argument.element});
}

[[noreturn]] void FailNode(const light::Node& node, const CustomOpDescriptor& op, light::ErrorCode code,
                           const std::string& what) {
  throw light::Error(code, "node " + node.Label() + " of " + op.library->path() + ": " + what);
}

bool Takes(const CustomOpArgument& argument, const ValueType& type) {
  if (!type.is_tensor()) return type.kind == ValueType::Kind::kUnknown;
  return type.element == ElementType::kUndefined || TypesOf(argument).Contains(type);
}

/// True if the values of a homogeneous variadic argument share one type.
bool SharesType(const CustomOpArguments& inputs, const light::InferenceContext& context) {
  if (inputs.items.empty() || !inputs.items.back().is_variadic || !inputs.is_homogeneous) return true;
  const ValueType* first = nullptr;
  for (std::size_t i = inputs.items.size() - 1; i < context.input_count(); ++i) {
    const ValueType* type = context.Input(i);
    if (type == nullptr || !type->is_resolved()) continue;
    if (first != nullptr && !SameElementTypes(*first, *type)) return false;
    first = type;
  }
  return true;
}

bool Fits(const CustomOpDescriptor& op, const light::InferenceContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const CustomOpArgument* argument = op.inputs.At(i);
    if (argument == nullptr) return false;
    const ValueType* type = context.Input(i);
    if (type == nullptr) {
      if (!argument->is_optional) return false;
    } else if (!Takes(*argument, *type)) {
      return false;
    }
  }
  return SharesType(op.inputs, context);
}

/// The first overload that takes the node's inputs, or null. Omitted optional inputs and inputs whose type is not known
/// fit everything.
const CustomOpDescriptor* FirstFit(const CustomOpVersion& version, const light::InferenceContext& context) {
  for (const CustomOpPtr& op : version.overloads) {
    if (Fits(*op, context)) return op.get();
  }
  return nullptr;
}

std::string GivenTypes(const light::InferenceContext& context) {
  std::string text = "(";
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (i > 0) text += ", ";
    const ValueType* type = context.Input(i);
    text += type == nullptr ? "omitted" : type->is_tensor() ? conversions::Name(type->element) : type->ToString();
  }
  return text + ")";
}

[[noreturn]] void FailNoOverload(const CustomOpVersion& version, const light::InferenceContext& context) {
  std::string what = "no overload of the custom op takes these input types, got " + GivenTypes(context) + "; there are";
  for (const CustomOpPtr& op : version.overloads) what += " " + op->inputs.ToString();
  FailNode(context.node(), version.first(), light::ErrorCode::kFail, what);
}

bool IsHeterogeneousVariadic(const CustomOpArguments& arguments, const CustomOpArgument& argument) {
  return argument.is_variadic && !arguments.is_homogeneous;
}

/// The element type of the node's last input whose position takes several types; undefined if there is none.
ElementType LastPolymorphicType(const CustomOpVersion& version, const light::InferenceContext& context) {
  const CustomOpArguments& inputs = version.first().inputs;
  for (std::size_t i = context.input_count(); i-- > 0;) {
    const CustomOpArgument* argument = inputs.At(i);
    if (argument == nullptr) continue;
    if (i + 1 == context.input_count() && IsHeterogeneousVariadic(inputs, *argument)) return ElementType::kUndefined;
    const ValueType* type = context.Input(i);
    if (type == nullptr || PermittedInput(version, i).Single().is_resolved()) continue;
    return type->element;
  }
  return ElementType::kUndefined;
}

void InferTypes(const CustomOpVersion& version, const CustomOpDescriptor& op, light::InferenceContext& context) {
  for (std::size_t j = 0; j < context.output_count(); ++j) {
    const CustomOpArgument* output = op.outputs.At(j);
    if (output == nullptr) return;  // too many outputs: the arity check says so
    if (context.node().outputs[j] == light::kNoValue) {
      if (output->is_optional) continue;
      FailNode(context.node(), op, light::ErrorCode::kInvalidGraph,
               "output " + std::to_string(j) + " is omitted and is not optional");
    }
    ElementType element = output->element;
    if (output->takes_any()) {
      if (IsHeterogeneousVariadic(op.outputs, *output)) return;  // the library's inference says, or the model
      element = LastPolymorphicType(version, context);
    }
    if (element != ElementType::kUndefined) context.SetOutputElement(j, element);
  }
}

/// Calls the library's function. A status is not an error of the model: the shape stays unknown, as in ORT. A throw is.
void CallInference(const CustomOpDescriptor& op, light::InferenceContext& context, const LoggerAdapter& logger) {
  constexpr const char* kLabel = ort_abi::MemberInfo<&OrtCustomOp::InferOutputShapeFn>::kLabel;
  ShapeInferContextAdapter adapter(context);
  OrtStatus* status = nullptr;
  try {
    status = ort_abi::detail::CallGuarded(kLabel, op.op->InferOutputShapeFn, op.op,
                                          ort_abi::Lend<OrtShapeInferContext>(adapter));
  } catch (const ort_abi::StatusError& error) {
    FailNode(context.node(), op, light::ErrorCode::kFail, error.what());
  }
  if (status == nullptr) return;
  const std::string line = "node " + context.node().Label() + ": " + kLabel + " of " + op.library->path() +
                           " failed, the shape stays unknown: " + HostStatus::Message(status);
  HostStatus::Release(status);
  if (checked::enabled()) checked::Report("inference_failed", kLabel, line);
  logger.Log(ORT_LOGGING_LEVEL_WARNING, line.c_str());
}

void Infer(const CustomOpVersion& version, light::InferenceContext& context, const LoggerAdapter& logger) {
  const CustomOpDescriptor* op = FirstFit(version, context);
  if (op == nullptr) FailNoOverload(version, context);
  InferTypes(version, *op, context);
  // As in ORT, the first op of a name speaks for all.
  if (!version.first().has_inference) return;
  CallInference(version.first(), context, logger);
  for (std::size_t j = 0; j < context.output_count(); ++j) {
    if (context.node().outputs[j] == light::kNoValue) continue;
    const ValueType only = PermittedOutput(version, j).Single();
    if (only.is_tensor() && context.Output(j).element != only.element) context.SetOutputElement(j, only.element);
  }
}

std::vector<FormalParameter> MakeFormals(const CustomOpArguments& arguments, std::string (*name)(std::size_t),
                                         int first_parameter) {
  std::vector<FormalParameter> formals;
  for (std::size_t i = 0; i < arguments.items.size(); ++i) {
    const CustomOpArgument& argument = arguments.items[i];
    FormalParameter formal;
    formal.name = name(i);
    formal.type_parameter = first_parameter + static_cast<int>(i);
    formal.option = argument.is_variadic   ? FormalParameter::Option::kVariadic
                    : argument.is_optional ? FormalParameter::Option::kOptional
                                           : FormalParameter::Option::kSingle;
    formal.homogeneous = false;  // the hook judges, with ORT's error code
    formal.min_arity = arguments.min_arity;
    formals.push_back(std::move(formal));
  }
  return formals;
}

}  // namespace

TypeSet AnyTensor() {
  TypeSet types = TypeSet::AllTensors();
  for (const ElementType excluded :
       {ElementType::kComplex64, ElementType::kComplex128, ElementType::kFloat8E8M0, ElementType::kUint2,
        ElementType::kInt2, ElementType::kFloat6E2M3, ElementType::kFloat6E3M2}) {
    types.tensors &= ~(uint32_t{1} << conversions::ToOnnx(excluded));
  }
  return types;
}

std::string InputParameter(std::size_t i) { return "Input" + std::to_string(i); }
std::string OutputParameter(std::size_t i) { return "Output" + std::to_string(i); }

TypeSet PermittedInput(const CustomOpVersion& version, std::size_t i) {
  TypeSet types;
  for (const CustomOpPtr& op : version.overloads) {
    if (const CustomOpArgument* argument = op->inputs.At(i)) types.tensors |= TypesOf(*argument).tensors;
  }
  return types;
}

TypeSet PermittedOutput(const CustomOpVersion& version, std::size_t i) {
  TypeSet types;
  for (const CustomOpPtr& op : version.overloads) {
    if (const CustomOpArgument* argument = op->outputs.At(i)) types.tensors |= TypesOf(*argument).tensors;
  }
  return types;
}

light::OperatorSchema MakeSchema(std::shared_ptr<const CustomOpVersion> version, std::shared_ptr<SessionScope> scope) {
  const CustomOpDescriptor& first = version->first();
  light::OperatorSchema schema;
  schema.domain = first.domain;
  schema.name = first.name;
  schema.source = first.library->path();
  schema.since_version = version->since;
  schema.min_inputs = first.inputs.Least();
  schema.max_inputs = first.inputs.Most();
  schema.min_outputs = first.outputs.Least();
  schema.max_outputs = first.outputs.Most();
  schema.inputs = MakeFormals(first.inputs, InputParameter, 0);
  schema.outputs = MakeFormals(first.outputs, OutputParameter, static_cast<int>(schema.inputs.size()));
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    schema.type_parameters.push_back({InputParameter(i), PermittedInput(*version, i)});
  }
  for (std::size_t i = 0; i < schema.outputs.size(); ++i) {
    schema.type_parameters.push_back({OutputParameter(i), PermittedOutput(*version, i)});
  }
  schema.open_attributes = true;
  schema.infer = [version = std::move(version), scope = std::move(scope)](light::InferenceContext& context) {
    Infer(*version, context, scope->logger());
  };
  return schema;
}

}  // namespace ort_host
