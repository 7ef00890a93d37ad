// SPDX-License-Identifier: Apache-2.0
#include "light/operator_schema.h"

#include <algorithm>
#include <bit>

#include "graph/onnx_schemas.h"
#include "light/error.h"

namespace light {
namespace {

uint32_t Bit(ElementType type) noexcept {
  return type == ElementType::kUndefined ? 0u : 1u << static_cast<uint32_t>(type);
}

void AppendTypes(std::string& out, uint32_t mask, const char* before, const char* after) {
  for (int32_t n = 1; n < conversions::kElementTypeCount; ++n) {
    if (!(mask >> n & 1u)) continue;
    if (!out.empty()) out += ", ";
    out.append(before).append(conversions::Name(static_cast<ElementType>(n))).append(after);
  }
}

std::string Key(std::string_view domain, std::string_view name) {
  std::string key;
  key.reserve(domain.size() + name.size() + 1);
  return key.append(domain).append(":").append(name);
}

const FormalParameter* FormalAt(const std::vector<FormalParameter>& formals, std::size_t i) noexcept {
  if (i < formals.size()) return &formals[i];
  const bool variadic = !formals.empty() && formals.back().option == FormalParameter::Option::kVariadic;
  return variadic ? &formals.back() : nullptr;
}

}  // namespace

TypeSet TypeSet::Tensors(std::initializer_list<ElementType> types) {
  TypeSet set;
  for (const ElementType type : types) set.tensors |= Bit(type);
  return set;
}

TypeSet TypeSet::AllTensors() {
  TypeSet set;
  set.tensors = ((1u << conversions::kElementTypeCount) - 1u) & ~1u;
  return set;
}

bool TypeSet::Contains(const ValueType& type) const noexcept {
  const auto element_of = [](const ValueType* tensor) {
    return tensor != nullptr && tensor->is_tensor() ? Bit(tensor->element) : 0u;
  };
  switch (type.kind) {
    case ValueType::Kind::kUnknown:
      return false;
    case ValueType::Kind::kTensor:
      return (tensors & Bit(type.element)) != 0;
    case ValueType::Kind::kSequence:
      if (type.inner && !type.inner->is_tensor()) return other;
      return (sequences & element_of(type.inner.get())) != 0;
    case ValueType::Kind::kOptional:
      if (type.inner && type.inner->kind == ValueType::Kind::kSequence) {
        return (optional_sequences & element_of(type.inner->inner.get())) != 0;
      }
      return (optionals & element_of(type.inner.get())) != 0;
    case ValueType::Kind::kSparseTensor:
    case ValueType::Kind::kMap:
    case ValueType::Kind::kOpaque:
      return other;
  }
  return false;
}

ValueType TypeSet::Single() const {
  const int count = std::popcount(tensors) + std::popcount(sequences) + std::popcount(optionals) +
                    std::popcount(optional_sequences) + (other ? 1 : 0);
  if (count != 1 || other) return {};
  const uint32_t mask = tensors | sequences | optionals | optional_sequences;
  ValueType tensor = ValueType::Tensor(static_cast<ElementType>(std::countr_zero(mask)));
  if (tensors) return tensor;
  if (sequences) return ValueType::Sequence(std::move(tensor));
  if (optionals) return ValueType::Optional(std::move(tensor));
  return ValueType::Optional(ValueType::Sequence(std::move(tensor)));
}

std::string TypeSet::ToString() const {
  std::string out;
  AppendTypes(out, tensors, "tensor(", ")");
  AppendTypes(out, sequences, "seq(tensor(", "))");
  AppendTypes(out, optionals, "optional(tensor(", "))");
  AppendTypes(out, optional_sequences, "optional(seq(tensor(", ")))");
  if (other) out += out.empty() ? "other types" : ", other types";
  return out;
}

const FormalParameter* OperatorSchema::InputFormal(std::size_t i) const noexcept { return FormalAt(inputs, i); }

const FormalParameter* OperatorSchema::OutputFormal(std::size_t i) const noexcept { return FormalAt(outputs, i); }

const AttributeSchema* OperatorSchema::FindAttribute(std::string_view attribute) const noexcept {
  for (const AttributeSchema& schema : attributes) {
    if (schema.name == attribute) return &schema;
  }
  return nullptr;
}

int OperatorSchema::FindTypeParameter(std::string_view parameter) const noexcept {
  for (std::size_t i = 0; i < type_parameters.size(); ++i) {
    if (type_parameters[i].name == parameter) return static_cast<int>(i);
  }
  return -1;
}

void SchemaSet::Add(OperatorSchema schema) {
  auto& versions = schemas_[Key(schema.domain, schema.name)];
  const auto place = std::find_if(versions.begin(), versions.end(),
                                  [&](const auto& other) { return other->since_version <= schema.since_version; });
  if (place != versions.end() && (*place)->since_version == schema.since_version) {
    throw Error(ErrorCode::kFail, "SchemaSet::Add: operator '" + Key(schema.domain, schema.name) + "' version " +
                                      std::to_string(schema.since_version) + " is in the set already");
  }
  versions.insert(place, std::make_unique<OperatorSchema>(std::move(schema)));
}

const OperatorSchema* SchemaSet::Find(std::string_view domain, std::string_view name, int64_t opset_version) const {
  if (!schemas_.empty()) {
    if (const auto found = schemas_.find(Key(domain, name)); found != schemas_.end()) {
      for (const auto& schema : found->second) {
        if (schema->since_version <= opset_version) return schema.get();
      }
    }
  }
  if (table_ != nullptr) return table_->Find(domain, name, opset_version);
  return base_ != nullptr ? base_->Find(domain, name, opset_version) : nullptr;
}

bool SchemaSet::Knows(std::string_view domain, std::string_view name) const {
  if (schemas_.contains(Key(domain, name))) return true;
  if (table_ != nullptr) return table_->Knows(domain, name);
  return base_ != nullptr && base_->Knows(domain, name);
}

bool SchemaSet::KnowsDomain(std::string_view domain) const { return LatestVersion(domain) > 0; }

int64_t SchemaSet::LatestVersion(std::string_view domain) const {
  int64_t latest = 0;
  for (const auto& [key, versions] : schemas_) {
    if (!versions.empty() && versions.front()->domain == domain) {
      latest = std::max<int64_t>(latest, versions.front()->since_version);
    }
  }
  if (table_ != nullptr) latest = std::max(latest, table_->LatestVersion(domain));
  if (base_ != nullptr) latest = std::max(latest, base_->LatestVersion(domain));
  return latest;
}

std::vector<const OperatorSchema*> SchemaSet::All() const {
  std::vector<const OperatorSchema*> all;
  if (base_ != nullptr) all = base_->All();
  if (table_ != nullptr) table_->AppendAll(all);
  for (const auto& [key, versions] : schemas_) {
    for (const auto& schema : versions) all.push_back(schema.get());
  }
  return all;
}

}  // namespace light
