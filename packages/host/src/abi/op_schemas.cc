// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/current_schemas.h"
#include "adapters/op_schema.h"

namespace ort_host::abi {
namespace {

using Formals = std::vector<light::FormalParameter>;

OrtStatus* ORT_API_CALL GetOpSchema(const char* name, int max_inclusive_version, const char* domain,
                                    OrtOpSchema** out_schema) noexcept {
  return Guard("GetOpSchema", [&] {
    Require(name, "name");
    const std::string_view written = Require(domain, "domain");
    const auto destination = Out(out_schema, "out_schema");
    const light::OperatorSchema* found =
        CurrentSchemas::Get().Find(written == "ai.onnx" ? "" : written, name, max_inclusive_version);
    destination = found != nullptr ? std::make_unique<OpSchemaAdapter>(*found) : nullptr;
  });
}

void ORT_API_CALL ReleaseOpSchema(OrtOpSchema* schema) noexcept { TakeIn("ReleaseOpSchema", schema); }

OrtStatus* ORT_API_CALL OpSchema_GetSinceVersion(const OrtOpSchema* schema, int* out) noexcept {
  return Guard("OpSchema_GetSinceVersion", [&] { Out(out) = Borrow(schema).schema().since_version; });
}

OrtStatus* ORT_API_CALL OpSchema_GetNumInputs(const OrtOpSchema* schema, size_t* out) noexcept {
  return Guard("OpSchema_GetNumInputs", [&] { Out(out) = Borrow(schema).schema().inputs.size(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetNumOutputs(const OrtOpSchema* schema, size_t* out) noexcept {
  return Guard("OpSchema_GetNumOutputs", [&] { Out(out) = Borrow(schema).schema().outputs.size(); });
}

/// Writes what `read` gives for entry `index`; past the count nothing is written.
template <class List, class Destination, class Read>
OrtStatus* WriteEntry(Slot slot, const List& list, size_t index, Destination destination, Read&& read) {
  if (index >= list.size()) {
    return slot.Fail(ORT_INVALID_ARGUMENT, "index: there are %zu, got %zu", list.size(), index);
  }
  destination = read(list[index]);
  return nullptr;
}

OrtStatus* NameOf(const char* name, const OrtOpSchema* schema, Formals light::OperatorSchema::* formals, size_t index,
                  const char** out) noexcept {
  return Guard(name, [&](Slot slot) {
    const OpSchemaAdapter& adapter = Borrow(schema);
    return WriteEntry(slot, adapter.schema().*formals, index, Out(out),
                      [](const light::FormalParameter& formal) { return formal.name.c_str(); });
  });
}

OrtStatus* ConstraintOf(const char* name, const OrtOpSchema* schema, Formals light::OperatorSchema::* formals,
                        size_t index, const OrtOpSchemaTypeConstraint** out) noexcept {
  return Guard(name, [&](Slot slot) {
    const OpSchemaAdapter& adapter = Borrow(schema);
    return WriteEntry(slot, adapter.schema().*formals, index, Out(out), [&](const light::FormalParameter& formal) {
      const TypeConstraintAdapter* constraint = adapter.ConstraintOf(formal);
      return constraint != nullptr ? Lend<OrtOpSchemaTypeConstraint>(*constraint) : nullptr;
    });
  });
}

OrtStatus* ORT_API_CALL OpSchema_GetInputName(const OrtOpSchema* schema, size_t index, const char** out) noexcept {
  return NameOf("OpSchema_GetInputName", schema, &light::OperatorSchema::inputs, index, out);
}

OrtStatus* ORT_API_CALL OpSchema_GetOutputName(const OrtOpSchema* schema, size_t index, const char** out) noexcept {
  return NameOf("OpSchema_GetOutputName", schema, &light::OperatorSchema::outputs, index, out);
}

OrtStatus* ORT_API_CALL OpSchema_GetInputTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                        const OrtOpSchemaTypeConstraint** out) noexcept {
  return ConstraintOf("OpSchema_GetInputTypeConstraint", schema, &light::OperatorSchema::inputs, index, out);
}

OrtStatus* ORT_API_CALL OpSchema_GetOutputTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                         const OrtOpSchemaTypeConstraint** out) noexcept {
  return ConstraintOf("OpSchema_GetOutputTypeConstraint", schema, &light::OperatorSchema::outputs, index, out);
}

OrtStatus* ORT_API_CALL OpSchema_GetTypeConstraintCount(const OrtOpSchema* schema, size_t* out) noexcept {
  return Guard("OpSchema_GetTypeConstraintCount", [&] { Out(out) = Borrow(schema).constraints().size(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                   const OrtOpSchemaTypeConstraint** out) noexcept {
  return Guard("OpSchema_GetTypeConstraint", [&](Slot slot) {
    const OpSchemaAdapter& adapter = Borrow(schema);
    return WriteEntry(slot, adapter.constraints(), index, Out(out), [](const TypeConstraintAdapter& constraint) {
      return Lend<OrtOpSchemaTypeConstraint>(constraint);
    });
  });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetTypeParamName(const OrtOpSchemaTypeConstraint* type_constraint,
                                                                const char** out) noexcept {
  return Guard("OpSchemaTypeConstraint_GetTypeParamName", [&] { Out(out) = Borrow(type_constraint).name().c_str(); });
}

/// Lends an array and tells its length; both pointers are required.
template <class T>
void LendArray(const std::vector<T>& entries, const T** out, const char* name, size_t* count, const char* count_name) {
  const auto destination = Out(out, name);
  const auto length = Out(count, count_name);
  destination = entries.data();
  length = entries.size();
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetAllowedTypes(const OrtOpSchemaTypeConstraint* type_constraint,
                                                               const char* const** out_types,
                                                               size_t* num_types) noexcept {
  return Guard("OpSchemaTypeConstraint_GetAllowedTypes", [&] {
    LendArray<const char*>(Borrow(type_constraint).types(), out_types, "out_types", num_types, "num_types");
  });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetInputIndices(const OrtOpSchemaTypeConstraint* type_constraint,
                                                               const size_t** out_indices, size_t* count) noexcept {
  return Guard("OpSchemaTypeConstraint_GetInputIndices",
               [&] { LendArray(Borrow(type_constraint).inputs(), out_indices, "out_indices", count, "count"); });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetOutputIndices(const OrtOpSchemaTypeConstraint* type_constraint,
                                                                const size_t** out_indices, size_t* count) noexcept {
  return Guard("OpSchemaTypeConstraint_GetOutputIndices",
               [&] { LendArray(Borrow(type_constraint).outputs(), out_indices, "out_indices", count, "count"); });
}

constexpr Limit kLimits[] = {
    {"OrtEpApi", "OpSchemaTypeConstraint_GetAllowedTypes", "map types are not listed"},
};

}  // namespace

std::span<const Limit> OpSchemaLimits() noexcept { return kLimits; }

void FillOpSchemas(OrtEpApi& table) noexcept {
  table.GetOpSchema = GetOpSchema;
  table.ReleaseOpSchema = ReleaseOpSchema;
  table.OpSchema_GetSinceVersion = OpSchema_GetSinceVersion;
  table.OpSchema_GetNumInputs = OpSchema_GetNumInputs;
  table.OpSchema_GetInputName = OpSchema_GetInputName;
  table.OpSchema_GetInputTypeConstraint = OpSchema_GetInputTypeConstraint;
  table.OpSchema_GetNumOutputs = OpSchema_GetNumOutputs;
  table.OpSchema_GetOutputName = OpSchema_GetOutputName;
  table.OpSchema_GetOutputTypeConstraint = OpSchema_GetOutputTypeConstraint;
  table.OpSchema_GetTypeConstraintCount = OpSchema_GetTypeConstraintCount;
  table.OpSchema_GetTypeConstraint = OpSchema_GetTypeConstraint;
  table.OpSchemaTypeConstraint_GetTypeParamName = OpSchemaTypeConstraint_GetTypeParamName;
  table.OpSchemaTypeConstraint_GetAllowedTypes = OpSchemaTypeConstraint_GetAllowedTypes;
  table.OpSchemaTypeConstraint_GetInputIndices = OpSchemaTypeConstraint_GetInputIndices;
  table.OpSchemaTypeConstraint_GetOutputIndices = OpSchemaTypeConstraint_GetOutputIndices;
}

}  // namespace ort_host::abi
