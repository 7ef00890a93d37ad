// SPDX-License-Identifier: Apache-2.0
#include "custom_op_arguments.h"

#include <algorithm>

namespace ort_plugin {
namespace {

using light::FormalParameter;
using light::OperatorSchema;
using Formals = std::vector<FormalParameter> OperatorSchema::*;

/// The element type that the argument has in every version, else undefined.
ONNXTensorElementDataType CommonType(const std::vector<SupportedOperator>& versions, Formals formals, std::size_t i) {
  int32_t common = -1;
  for (const SupportedOperator& version : versions) {
    const std::vector<FormalParameter>& list = version.schema->*formals;
    if (i >= list.size()) continue;
    const auto& parameter = version.schema->type_parameters[static_cast<std::size_t>(list[i].type_parameter)];
    const int32_t type = conversions::ToOrt(parameter.allowed.Single().element);
    if (common == -1) common = type;
    if (common != type) common = 0;
  }
  return static_cast<ONNXTensorElementDataType>(std::max(common, 0));
}

std::vector<CustomOpArgument> Merge(const std::vector<SupportedOperator>& versions, Formals formals) {
  std::size_t count = 0;
  for (const SupportedOperator& version : versions) count = std::max(count, (version.schema->*formals).size());
  std::vector<CustomOpArgument> merged;
  for (std::size_t i = 0; i < count; ++i) {
    CustomOpArgument& argument = merged.emplace_back();
    argument.type = CommonType(versions, formals, i);
    argument.characteristic = INPUT_OUTPUT_REQUIRED;
    for (const SupportedOperator& version : versions) {
      const std::vector<FormalParameter>& list = version.schema->*formals;
      if (i < list.size() && list[i].option == FormalParameter::Option::kVariadic) {
        const bool is_first = argument.characteristic != INPUT_OUTPUT_VARIADIC;
        argument.min_arity = is_first ? list[i].min_arity : std::min(argument.min_arity, list[i].min_arity);
        argument.homogeneous = argument.homogeneous && list[i].homogeneous;
        argument.characteristic = INPUT_OUTPUT_VARIADIC;
      } else if (argument.characteristic == INPUT_OUTPUT_REQUIRED &&
                 (i >= list.size() || list[i].option == FormalParameter::Option::kOptional)) {
        argument.characteristic = INPUT_OUTPUT_OPTIONAL;
      }
    }
    if (argument.characteristic == INPUT_OUTPUT_VARIADIC) break;  // nothing may follow it
  }
  return merged;
}

/// True if the host gives the output the right type: that of the last input among those that may have several. What it
/// gives cannot be corrected while the rank is unknown.
bool TakesTypeOfInputs(const std::vector<SupportedOperator>& versions, const std::vector<CustomOpArgument>& inputs,
                       std::size_t output) {
  bool has_input = false;
  for (const SupportedOperator& version : versions) {
    const OperatorSchema& schema = *version.schema;
    if (output >= schema.outputs.size()) continue;
    for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
      if (inputs[std::min(i, inputs.size() - 1)].type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) continue;
      has_input = true;
      if (schema.inputs[i].type_parameter != schema.outputs[output].type_parameter) return false;
    }
  }
  return has_input;
}

}  // namespace

CustomOpArguments ArgumentsOf(const std::vector<SupportedOperator>& versions) {
  CustomOpArguments arguments{Merge(versions, &OperatorSchema::inputs), Merge(versions, &OperatorSchema::outputs)};
  std::vector<CustomOpArgument>& outputs = arguments.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) continue;
    if (TakesTypeOfInputs(versions, arguments.inputs, i)) continue;
    // The host leaves the types of such outputs to what is inferred here and to what the model says.
    int required = 0;
    for (std::size_t k = i; k < outputs.size(); ++k) {
      if (outputs[k].characteristic == INPUT_OUTPUT_REQUIRED) required = static_cast<int>(k - i) + 1;
      if (outputs[k].characteristic == INPUT_OUTPUT_VARIADIC) required = static_cast<int>(k - i) + outputs[k].min_arity;
    }
    outputs.resize(i + 1);
    outputs[i] = {INPUT_OUTPUT_VARIADIC, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, required, false};
  }
  return arguments;
}

}  // namespace ort_plugin
