// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "adapters/kinds.h"
#include "light/operator_schema.h"

namespace ort_host {

/// Behind OrtOpSchemaTypeConstraint: a type parameter of an operator, part of its schema.
class TypeConstraintAdapter final : public AdapterBase {
 public:
  TypeConstraintAdapter(const light::OperatorSchema& schema, int parameter);
  TypeConstraintAdapter(const TypeConstraintAdapter&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// As `tensor(float)`.
  const std::vector<const char*>& types() const noexcept { return types_; }
  /// The formal arguments of that type.
  const std::vector<std::size_t>& inputs() const noexcept { return inputs_; }
  const std::vector<std::size_t>& outputs() const noexcept { return outputs_; }

 private:
  std::string name_;
  std::vector<std::string> texts_;
  std::vector<const char*> types_;
  std::vector<std::size_t> inputs_;
  std::vector<std::size_t> outputs_;
};

/// Behind OrtOpSchema: one operator at one version. Lives until ReleaseOpSchema; what is reached from it lives as long.
class OpSchemaAdapter final : public AdapterBase {
 public:
  /// A schema that a library brought is copied: the session it belongs to may end first.
  explicit OpSchemaAdapter(const light::OperatorSchema& schema);
  OpSchemaAdapter(const OpSchemaAdapter&) = delete;

  const light::OperatorSchema& schema() const noexcept { return schema_; }
  const std::deque<TypeConstraintAdapter>& constraints() const noexcept { return constraints_; }
  /// The constraint of a formal argument; null if its type is fixed.
  const TypeConstraintAdapter* ConstraintOf(const light::FormalParameter& formal) const noexcept;

 private:
  std::unique_ptr<const light::OperatorSchema> copy_;
  const light::OperatorSchema& schema_;
  std::deque<TypeConstraintAdapter> constraints_;
  std::vector<const TypeConstraintAdapter*> by_parameter_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtOpSchema, OpSchemaAdapter, kOpSchemaKind, "operator schema");
ORT_HOST_HANDLE(OrtOpSchemaTypeConstraint, TypeConstraintAdapter, kTypeConstraintKind, "type constraint");
