// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "abi/sections.h"
#include "adapters/kernel_registry.h"

namespace ort_host::abi {
namespace {

// --- Registry

OrtStatus* ORT_API_CALL CreateKernelRegistry(OrtKernelRegistry** kernel_registry) noexcept {
  return Guard("CreateKernelRegistry",
               [&] { Out(kernel_registry, "kernel_registry") = std::make_unique<KernelRegistryAdapter>(); });
}

void ORT_API_CALL ReleaseKernelRegistry(OrtKernelRegistry* registry) noexcept {
  TakeIn("ReleaseKernelRegistry", registry);
}

OrtStatus* ORT_API_CALL KernelRegistry_AddKernel(OrtKernelRegistry* kernel_registry, const OrtKernelDef* kernel_def,
                                                 OrtKernelCreateFunc kernel_create_func,
                                                 void* kernel_create_func_state) noexcept {
  return Guard("KernelRegistry_AddKernel", [&] {
    KernelRegistryAdapter& registry = Borrow(kernel_registry);
    const KernelDefinition& definition = Borrow(kernel_def).definition();
    Require(kernel_create_func, "kernel_create_func");
    registry.Add(definition, kernel_create_func, kernel_create_func_state);
  });
}

// --- Builder

OrtStatus* ORT_API_CALL CreateKernelDefBuilder(OrtKernelDefBuilder** kernel_def_builder_out) noexcept {
  return Guard("CreateKernelDefBuilder", [&] {
    Out(kernel_def_builder_out, "kernel_def_builder_out") = std::make_unique<KernelDefBuilderAdapter>();
  });
}

void ORT_API_CALL ReleaseKernelDefBuilder(OrtKernelDefBuilder* builder) noexcept {
  TakeIn("ReleaseKernelDefBuilder", builder);
}

/// Sets one of the texts; null is a RUNTIME_EXCEPTION, as in ORT.
OrtStatus* SetText(const char* name, OrtKernelDefBuilder* builder, std::string KernelDefinition::* member,
                   const char* text, const char* text_name) noexcept {
  return Guard(name, [&](Slot slot) -> OrtStatus* {
    KernelDefinition& definition = Borrow(builder).definition();
    if (text == nullptr) return slot.Fail(ORT_RUNTIME_EXCEPTION, "%s is null", text_name);
    definition.*member = text;
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetOperatorType(OrtKernelDefBuilder* kernel_def_builder,
                                                         const char* op_type) noexcept {
  return SetText("KernelDefBuilder_SetOperatorType", kernel_def_builder, &KernelDefinition::op_type, op_type,
                 "op_type");
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetDomain(OrtKernelDefBuilder* kernel_def_builder,
                                                   const char* domain) noexcept {
  return SetText("KernelDefBuilder_SetDomain", kernel_def_builder, &KernelDefinition::domain, domain, "domain");
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetExecutionProvider(OrtKernelDefBuilder* kernel_def_builder,
                                                              const char* ep_name) noexcept {
  return SetText("KernelDefBuilder_SetExecutionProvider", kernel_def_builder, &KernelDefinition::provider, ep_name,
                 "ep_name");
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetSinceVersion(OrtKernelDefBuilder* kernel_def_builder,
                                                         int since_version_start, int since_version_end) noexcept {
  return Guard("KernelDefBuilder_SetSinceVersion", [&](Slot slot) -> OrtStatus* {
    KernelDefinition& definition = Borrow(kernel_def_builder).definition();
    if (since_version_start < 1 || since_version_end < since_version_start) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "versions: must be a range from 1 on, got %d to %d", since_version_start,
                       since_version_end);
    }
    definition.since = since_version_start;
    definition.until = since_version_end;
    return nullptr;
  });
}

/// As many types or pairs as a call may give. A kernel has far fewer, and a count without sense is no reason to read
/// foreign memory.
constexpr size_t kMostEntries = 4096;

void CheckCount(const char* name, size_t count) {
  if (count >= 1 && count <= kMostEntries) return;
  throw StatusError(ORT_INVALID_ARGUMENT, std::string(name) + ": must be 1 to " + std::to_string(kMostEntries) +
                                              ", got " + std::to_string(count));
}

/// The first type that is set for an index stays. A value that is no memory type is kept: such a kernel never matches.
OrtStatus* SetMemType(const char* name, OrtKernelDefBuilder* builder, MemoryTypes KernelDefinition::* member,
                      size_t index, OrtMemType mem_type) noexcept {
  return Guard(name, [&] { (Borrow(builder).definition().*member).emplace(index, mem_type); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetInputMemType(OrtKernelDefBuilder* kernel_def_builder, size_t input_index,
                                                         OrtMemType mem_type) noexcept {
  return SetMemType("KernelDefBuilder_SetInputMemType", kernel_def_builder, &KernelDefinition::input_memory,
                    input_index, mem_type);
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetOutputMemType(OrtKernelDefBuilder* kernel_def_builder, size_t output_index,
                                                          OrtMemType mem_type) noexcept {
  return SetMemType("KernelDefBuilder_SetOutputMemType", kernel_def_builder, &KernelDefinition::output_memory,
                    output_index, mem_type);
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddTypeConstraint(OrtKernelDefBuilder* kernel_def_builder,
                                                           const char* arg_name, const OrtDataType* const* types,
                                                           size_t num_types) noexcept {
  return Guard("KernelDefBuilder_AddTypeConstraint", [&] {
    KernelDefinition& definition = Borrow(kernel_def_builder).definition();
    light::TypeConstraint constraint{Require(arg_name, "arg_name"), {}};
    Require(types, "types");
    CheckCount("num_types", num_types);
    for (size_t i = 0; i < num_types; ++i) {
      constraint.allowed.tensors |= light::TypeSet::Tensors({Borrow(types[i], "types").element()}).tensors;
    }
    const auto known =
        std::ranges::find(definition.constraints, constraint.parameter, &light::TypeConstraint::parameter);
    if (known == definition.constraints.end()) {
      definition.constraints.push_back(std::move(constraint));
    } else {
      *known = std::move(constraint);
    }
  });
}

/// A single pair is added to those there are, several take their place: a quirk of ORT's.
OrtStatus* AddPairs(const char* name, OrtKernelDefBuilder* builder, IndexPairs KernelDefinition::* member,
                    const int* inputs, const int* outputs, size_t count) noexcept {
  return Guard(name, [&] {
    IndexPairs& pairs = Borrow(builder).definition().*member;
    Require(inputs, "input_indices");
    Require(outputs, "output_indices");
    CheckCount("num_io_indices", count);
    IndexPairs added;
    for (size_t i = 0; i < count; ++i) added.emplace_back(inputs[i], outputs[i]);
    if (count == 1) {
      pairs.push_back(added.front());
    } else {
      pairs = std::move(added);
    }
  });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddInputOutputAliases(OrtKernelDefBuilder* kernel_def_builder,
                                                               const int* input_indices, const int* output_indices,
                                                               size_t num_io_indices) noexcept {
  return AddPairs("KernelDefBuilder_AddInputOutputAliases", kernel_def_builder, &KernelDefinition::aliases,
                  input_indices, output_indices, num_io_indices);
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddInputOutputMutableAliases(OrtKernelDefBuilder* kernel_def_builder,
                                                                      const int* input_indices,
                                                                      const int* output_indices,
                                                                      size_t num_io_indices) noexcept {
  return AddPairs("KernelDefBuilder_AddInputOutputMutableAliases", kernel_def_builder, &KernelDefinition::may_inplace,
                  input_indices, output_indices, num_io_indices);
}

OrtStatus* ORT_API_CALL KernelDefBuilder_Build(OrtKernelDefBuilder* kernel_def_builder,
                                               OrtKernelDef** kernel_def_out) noexcept {
  return Guard("KernelDefBuilder_Build", [&] {
    KernelDefBuilderAdapter& builder = Borrow(kernel_def_builder);
    const auto destination = Out(kernel_def_out, "kernel_def_out");
    destination = builder.Build();
  });
}

// --- Definitions

void ORT_API_CALL ReleaseKernelDef(OrtKernelDef* definition) noexcept {
  auto adapter = TakeIn("ReleaseKernelDef", definition);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseKernelDef",
                    "a definition that was looked up belongs to its registry");
    adapter.release();
  }
}

/// These cannot fail: a bad handle is answered with no text.
const char* TextOf(const char* slot, const OrtKernelDef* definition, std::string KernelDefinition::* member) noexcept {
  const char* text = "";
  ReleaseStatusHandle(Guard(slot, [&] { text = (Borrow(definition).definition().*member).c_str(); }));
  return text;
}

const char* ORT_API_CALL KernelDef_GetOperatorType(const OrtKernelDef* kernel_def) noexcept {
  return TextOf("KernelDef_GetOperatorType", kernel_def, &KernelDefinition::op_type);
}

const char* ORT_API_CALL KernelDef_GetDomain(const OrtKernelDef* kernel_def) noexcept {
  return TextOf("KernelDef_GetDomain", kernel_def, &KernelDefinition::domain);
}

const char* ORT_API_CALL KernelDef_GetExecutionProvider(const OrtKernelDef* kernel_def) noexcept {
  return TextOf("KernelDef_GetExecutionProvider", kernel_def, &KernelDefinition::provider);
}

OrtStatus* ORT_API_CALL KernelDef_GetSinceVersion(const OrtKernelDef* kernel_def, int* start_version,
                                                  int* end_version) noexcept {
  return Guard("KernelDef_GetSinceVersion", [&] {
    const KernelDefinition& definition = Borrow(kernel_def).definition();
    const auto start = Out(start_version, "start_version");
    const auto end = Out(end_version, "end_version");
    start = definition.since;
    end = definition.until;
  });
}

OrtStatus* WriteMemType(const char* name, const OrtKernelDef* definition, MemoryTypes KernelDefinition::* member,
                        size_t index, OrtMemType* out) noexcept {
  return Guard(name, [&] {
    const MemoryTypes& types = Borrow(definition).definition().*member;
    const auto destination = Out(out, "mem_type");
    const auto found = types.find(index);
    destination = found != types.end() ? found->second : OrtMemTypeDefault;
  });
}

OrtStatus* ORT_API_CALL KernelDef_GetInputMemType(const OrtKernelDef* kernel_def, size_t input_index,
                                                  OrtMemType* mem_type) noexcept {
  return WriteMemType("KernelDef_GetInputMemType", kernel_def, &KernelDefinition::input_memory, input_index, mem_type);
}

OrtStatus* ORT_API_CALL KernelDef_GetOutputMemType(const OrtKernelDef* kernel_def, size_t output_index,
                                                   OrtMemType* mem_type) noexcept {
  return WriteMemType("KernelDef_GetOutputMemType", kernel_def, &KernelDefinition::output_memory, output_index,
                      mem_type);
}

OrtStatus* ORT_API_CALL GetTensorDataType(ONNXTensorElementDataType elem_type, const OrtDataType** out) noexcept {
  return Guard("GetTensorDataType", [&](Slot slot) -> OrtStatus* {
    const auto destination = Out(out);
    const DataTypeAdapter* type = DataTypeAdapter::Of(elem_type);
    if (type == nullptr) {
      return slot.Fail(ORT_NOT_IMPLEMENTED, "elem_type: there are no kernels for element type %d",
                       static_cast<int>(elem_type));
    }
    destination = Lend<OrtDataType>(*type);
    return nullptr;
  });
}

}  // namespace

void FillKernelDefs(OrtEpApi& table) noexcept {
  table.CreateKernelRegistry = CreateKernelRegistry;
  table.ReleaseKernelRegistry = ReleaseKernelRegistry;
  table.KernelRegistry_AddKernel = KernelRegistry_AddKernel;
  table.CreateKernelDefBuilder = CreateKernelDefBuilder;
  table.ReleaseKernelDefBuilder = ReleaseKernelDefBuilder;
  table.KernelDefBuilder_SetOperatorType = KernelDefBuilder_SetOperatorType;
  table.KernelDefBuilder_SetDomain = KernelDefBuilder_SetDomain;
  table.KernelDefBuilder_SetSinceVersion = KernelDefBuilder_SetSinceVersion;
  table.KernelDefBuilder_SetExecutionProvider = KernelDefBuilder_SetExecutionProvider;
  table.KernelDefBuilder_SetInputMemType = KernelDefBuilder_SetInputMemType;
  table.KernelDefBuilder_SetOutputMemType = KernelDefBuilder_SetOutputMemType;
  table.KernelDefBuilder_AddTypeConstraint = KernelDefBuilder_AddTypeConstraint;
  table.KernelDefBuilder_AddInputOutputAliases = KernelDefBuilder_AddInputOutputAliases;
  table.KernelDefBuilder_AddInputOutputMutableAliases = KernelDefBuilder_AddInputOutputMutableAliases;
  table.KernelDefBuilder_Build = KernelDefBuilder_Build;
  table.ReleaseKernelDef = ReleaseKernelDef;
  table.KernelDef_GetOperatorType = KernelDef_GetOperatorType;
  table.KernelDef_GetDomain = KernelDef_GetDomain;
  table.KernelDef_GetSinceVersion = KernelDef_GetSinceVersion;
  table.KernelDef_GetExecutionProvider = KernelDef_GetExecutionProvider;
  table.KernelDef_GetInputMemType = KernelDef_GetInputMemType;
  table.KernelDef_GetOutputMemType = KernelDef_GetOutputMemType;
  table.GetTensorDataType = GetTensorDataType;
}

}  // namespace ort_host::abi
