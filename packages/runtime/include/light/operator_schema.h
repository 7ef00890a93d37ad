// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "light/model_def.h"
#include "light/value_type.h"

namespace light {

class InferenceContext;
class SchemaTable;

/// A set of value types, as a type parameter or a kernel constraint allows them.
struct TypeSet {
  uint32_t tensors = 0;             ///< bit n: tensor of the element type with ONNX number n
  uint32_t sequences = 0;           ///< bit n: sequence of such tensors
  uint32_t optionals = 0;           ///< bit n: optional of such a tensor
  uint32_t optional_sequences = 0;  ///< bit n: optional of a sequence of such tensors
  bool other = false;               ///< maps, sparse tensors, opaque types: listed by ONNX, not told apart here

  static TypeSet Tensors(std::initializer_list<ElementType> types);
  static TypeSet AllTensors();
  bool Contains(const ValueType& type) const noexcept;
  bool empty() const noexcept { return !(tensors | sequences | optionals | optional_sequences) && !other; }
  /// The only type in the set, or an unknown type if there are several or none.
  ValueType Single() const;
  /// As `tensor(float), tensor(double)`.
  std::string ToString() const;
};

struct TypeParameter {
  std::string name;
  TypeSet allowed;
};

/// One formal input or output.
struct FormalParameter {
  enum class Option : uint8_t { kSingle, kOptional, kVariadic };
  std::string name;
  int type_parameter = -1;  ///< index into OperatorSchema::type_parameters; a fixed type has a parameter of its own
  Option option = Option::kSingle;
  bool homogeneous = true;  ///< variadic: all arguments share one type
  int min_arity = 1;        ///< variadic
};

struct AttributeSchema {
  std::string name;
  AttributeKind kind = AttributeKind::kUndefined;
  bool required = false;
  bool has_default = false;
  Attribute default_value;
};

/// Sets the types and shapes of a node's outputs as far as they follow from its inputs. Run after the generic rule
/// (an output takes its type parameter's binding), so it needs to set only what that rule cannot know.
using InferenceFn = std::function<void(InferenceContext&)>;

/// One operator at one version.
struct OperatorSchema {
  std::string domain;  ///< "" for ONNX
  std::string name;
  std::string source;  ///< who brought it, for messages, such as a library's path; "" for ONNX's own
  int since_version = 1;
  bool deprecated = false;
  int min_inputs = 0;
  int max_inputs = 0;  ///< INT_MAX if variadic
  int min_outputs = 0;
  int max_outputs = 0;
  std::vector<FormalParameter> inputs;
  std::vector<FormalParameter> outputs;
  std::vector<TypeParameter> type_parameters;
  std::vector<AttributeSchema> attributes;
  bool open_attributes = false;  ///< attributes beyond the listed ones are allowed (custom operators)
  InferenceFn infer;

  /// The formal of argument `i`; the last one for the arguments of a variadic. nullptr beyond the maximum.
  const FormalParameter* InputFormal(std::size_t i) const noexcept;
  const FormalParameter* OutputFormal(std::size_t i) const noexcept;
  const AttributeSchema* FindAttribute(std::string_view attribute) const noexcept;
  int FindTypeParameter(std::string_view parameter) const noexcept;  ///< -1 if there is none
};

/// Operators by domain, name and version. A set may stand on another one: what it does not know, it asks there.
class SchemaSet {
 public:
  explicit SchemaSet(const SchemaSet* base = nullptr) : base_(base) {}

  /// Adds a schema. Throws Error (kFail) if this set has the same domain, name and version already.
  void Add(OperatorSchema schema);
  /// The newest version not above `opset_version`, or nullptr.
  const OperatorSchema* Find(std::string_view domain, std::string_view name, int64_t opset_version) const;
  /// True if any version of the operator is known.
  bool Knows(std::string_view domain, std::string_view name) const;
  /// True if an operator of the domain is known.
  bool KnowsDomain(std::string_view domain) const;
  /// Newest version of the domain's opset that is known; 0 if the domain is not.
  int64_t LatestVersion(std::string_view domain) const;
  std::vector<const OperatorSchema*> All() const;

 private:
  friend const SchemaSet& OnnxSchemas();
  const SchemaSet* base_;
  const SchemaTable* table_ = nullptr;  // the generated rows, of OnnxSchemas() only
  std::unordered_map<std::string, std::vector<std::unique_ptr<OperatorSchema>>>
      schemas_;  // "domain:name", newest first
};

/// The operators of ONNX, from the table that is generated from the onnx package at build time. Rows are decoded when
/// they are first asked for. Safe from any thread, never destroyed.
const SchemaSet& OnnxSchemas();

}  // namespace light
