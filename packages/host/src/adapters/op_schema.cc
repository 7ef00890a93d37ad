// SPDX-License-Identifier: Apache-2.0
#include "adapters/op_schema.h"

namespace ort_host {
namespace {

std::vector<std::size_t> IndicesOf(const std::vector<light::FormalParameter>& formals, int parameter) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < formals.size(); ++i) {
    if (formals[i].type_parameter == parameter) indices.push_back(i);
  }
  return indices;
}

void AppendNames(std::vector<std::string>& names, uint32_t elements, const char* before, const char* after) {
  for (int32_t n = 1; n < conversions::kElementTypeCount; ++n) {
    if ((elements >> n & 1u) == 0) continue;
    names.push_back(std::string(before).append(conversions::Name(static_cast<light::ElementType>(n))).append(after));
  }
}

std::vector<std::string> NamesOf(const light::TypeSet& types) {
  std::vector<std::string> names;
  AppendNames(names, types.tensors, "tensor(", ")");
  AppendNames(names, types.sequences, "seq(tensor(", "))");
  AppendNames(names, types.optionals, "optional(tensor(", "))");
  AppendNames(names, types.optional_sequences, "optional(seq(tensor(", ")))");
  return names;
}

/// The table has a parameter for each fixed type as well, by the type's own name.
bool IsFixedType(const light::TypeParameter& parameter) noexcept {
  return parameter.name.find('(') != std::string::npos;
}

/// Null for ONNX's own schemas, which are never destroyed. Inference is left out: it holds the session.
std::unique_ptr<const light::OperatorSchema> CopyOfForeign(const light::OperatorSchema& schema) {
  if (schema.source.empty()) return nullptr;
  auto copy = std::make_unique<light::OperatorSchema>(schema);
  copy->infer = nullptr;
  return copy;
}

}  // namespace

TypeConstraintAdapter::TypeConstraintAdapter(const light::OperatorSchema& schema, int parameter)
    : AdapterBase(kTypeConstraintKind),
      name_(schema.type_parameters[static_cast<std::size_t>(parameter)].name),
      texts_(NamesOf(schema.type_parameters[static_cast<std::size_t>(parameter)].allowed)),
      inputs_(IndicesOf(schema.inputs, parameter)),
      outputs_(IndicesOf(schema.outputs, parameter)) {
  for (const std::string& text : texts_) types_.push_back(text.c_str());
}

OpSchemaAdapter::OpSchemaAdapter(const light::OperatorSchema& schema)
    : AdapterBase(kOpSchemaKind), copy_(CopyOfForeign(schema)), schema_(copy_ != nullptr ? *copy_ : schema) {
  for (std::size_t i = 0; i < schema_.type_parameters.size(); ++i) {
    const bool is_fixed = IsFixedType(schema_.type_parameters[i]);
    by_parameter_.push_back(is_fixed ? nullptr : &constraints_.emplace_back(schema_, static_cast<int>(i)));
  }
}

const TypeConstraintAdapter* OpSchemaAdapter::ConstraintOf(const light::FormalParameter& formal) const noexcept {
  return formal.type_parameter >= 0 ? by_parameter_[static_cast<std::size_t>(formal.type_parameter)] : nullptr;
}

}  // namespace ort_host
