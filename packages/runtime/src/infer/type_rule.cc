// SPDX-License-Identifier: Apache-2.0
#include "infer/type_rule.h"

#include "graph/graph_draft.h"

namespace light {
namespace {

struct Binding {
  const ValueType* type = nullptr;
  std::size_t input = 0;
};

std::string InputLabel(const Node& node, std::size_t i) {
  const FormalParameter* formal = node.schema->InputFormal(i);
  return "input " + std::to_string(i) + (formal != nullptr ? " ('" + formal->name + "')" : "");
}

/// The index of the formal's type parameter, or -1 if it has none or an argument need not agree with others.
int SharedParameter(const FormalParameter* formal) {
  if (formal == nullptr) return -1;
  if (formal->option == FormalParameter::Option::kVariadic && !formal->homogeneous) return -1;
  return formal->type_parameter;
}

void CheckAllowed(const Node& node, std::size_t i, const ValueType& type) {
  const FormalParameter* formal = node.schema->InputFormal(i);
  if (formal == nullptr || formal->type_parameter < 0) return;
  const TypeParameter& parameter = node.schema->type_parameters[static_cast<std::size_t>(formal->type_parameter)];
  if (parameter.allowed.empty() || parameter.allowed.Contains(type)) return;
  FailNode(node, ErrorCode::kInvalidGraph,
           InputLabel(node, i) + " must be one of " + parameter.allowed.ToString() + ", got " + type.ToString());
}

}  // namespace

ValueType WithoutShape(const ValueType& type) {
  ValueType out;
  out.kind = type.kind;
  out.element = type.element;
  if (type.inner) out.inner = std::make_shared<ValueType>(WithoutShape(*type.inner));
  return out;
}

void ApplyTypeRule(const Node& node, std::span<const ValueType* const> inputs, std::vector<ValueType>& outputs) {
  const OperatorSchema& schema = *node.schema;
  constexpr std::size_t kMostParameters = 16;  // more than any ONNX operator has
  Binding small[kMostParameters];
  std::vector<Binding> large;
  Binding* bindings = small;
  if (schema.type_parameters.size() > kMostParameters) {
    large.resize(schema.type_parameters.size());
    bindings = large.data();
  }

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || !inputs[i]->is_resolved()) continue;
    CheckAllowed(node, i, *inputs[i]);
    const int parameter = SharedParameter(schema.InputFormal(i));
    if (parameter < 0) continue;
    Binding& binding = bindings[parameter];
    if (binding.type == nullptr) {
      binding = {inputs[i], i};
    } else if (!SameElementTypes(*binding.type, *inputs[i])) {
      FailNode(node, ErrorCode::kInvalidGraph,
               InputLabel(node, i) + " must have the type of " + InputLabel(node, binding.input) + ", " +
                   binding.type->ToString() + ", as both are of the type parameter " +
                   schema.type_parameters[static_cast<std::size_t>(parameter)].name + ", got " + inputs[i]->ToString());
    }
  }

  outputs.resize(node.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = {};
    const FormalParameter* formal = schema.OutputFormal(i);
    if (formal == nullptr || formal->type_parameter < 0) continue;
    const int parameter = SharedParameter(formal);
    if (parameter >= 0 && bindings[parameter].type != nullptr) {
      outputs[i] = WithoutShape(*bindings[parameter].type);
    } else {
      outputs[i] = schema.type_parameters[static_cast<std::size_t>(formal->type_parameter)].allowed.Single();
    }
  }
}

}  // namespace light
