// SPDX-License-Identifier: Apache-2.0
#include "abi/handle_list.h"
#include "abi/sections.h"
#include "adapters/graph.h"
#include "adapters/value_info.h"

namespace ort_host::abi {
namespace {

OrtStatus* ORT_API_CALL GetValueInfoName(const OrtValueInfo* value_info, const char** name) noexcept {
  return Guard("GetValueInfoName", [&] { Out(name, "name") = Borrow(value_info).value().name.c_str(); });
}

OrtStatus* ORT_API_CALL GetValueInfoTypeInfo(const OrtValueInfo* value_info, const OrtTypeInfo** type_info) noexcept {
  return Guard("GetValueInfoTypeInfo", [&](Slot slot) -> OrtStatus* {
    const ValueInfoAdapter& adapter = Borrow(value_info);
    const auto destination = Out(type_info, "type_info");
    const TypeInfoAdapter* type = adapter.type();
    if (type == nullptr) {
      return slot.Fail(ORT_FAIL, "the type of the value '%s' is not known", adapter.value().name.c_str());
    }
    destination = Lend<OrtTypeInfo>(*type);
    return nullptr;
  });
}

// --- Who makes it, who reads it

OrtStatus* NoGraph(Slot slot, OrtErrorCode code, const ValueInfoAdapter& value) {
  return slot.Fail(code, "the value '%s' belongs to a node without a graph", value.value().name.c_str());
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueProducer(const OrtValueInfo* value_info, const OrtNode** producer_node,
                                                   size_t* producer_output_index) noexcept {
  return Guard("ValueInfo_GetValueProducer", [&](Slot slot) -> OrtStatus* {
    const ValueInfoAdapter& adapter = Borrow(value_info);
    const auto destination = Out(producer_node, "producer_node");
    if (adapter.graph().is_alone()) return NoGraph(slot, ORT_NOT_FOUND, adapter);
    const NodeAdapter* producer = adapter.producer();
    destination = producer != nullptr ? Lend<OrtNode>(*producer) : nullptr;
    if (producer_output_index != nullptr) {
      *producer_output_index = producer != nullptr ? adapter.value().output_index : 0;
    }
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueNumConsumers(const OrtValueInfo* value_info, size_t* num_consumers) noexcept {
  return Guard("ValueInfo_GetValueNumConsumers", [&](Slot slot) -> OrtStatus* {
    const ValueInfoAdapter& adapter = Borrow(value_info);
    const auto destination = Out(num_consumers, "num_consumers");
    if (adapter.graph().is_alone()) return NoGraph(slot, ORT_FAIL, adapter);
    destination = adapter.consumers().size();
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueConsumers(const OrtValueInfo* value_info, const OrtNode** nodes,
                                                    int64_t* input_indices, size_t num_consumers) noexcept {
  return Guard("ValueInfo_GetValueConsumers", [&](Slot slot) -> OrtStatus* {
    const ValueInfoAdapter& adapter = Borrow(value_info);
    if (adapter.graph().is_alone()) return NoGraph(slot, ORT_FAIL, adapter);
    const auto consumers = adapter.consumers();
    HandleList<const OrtNode*> found(nodes, "nodes", num_consumers, consumers.size());
    HandleList<int64_t> indices(input_indices, "input_indices", num_consumers, consumers.size());
    for (const ValueInfoAdapter::Consumer& consumer : consumers) {
      found.Add(Lend<OrtNode>(*consumer.node));
      indices.Add(consumer.input);
    }
    return nullptr;
  });
}

// --- Initializers

OrtStatus* ORT_API_CALL ValueInfo_GetInitializerValue(const OrtValueInfo* value_info,
                                                      const OrtValue** initializer_value) noexcept {
  return Guard("ValueInfo_GetInitializerValue", [&] {
    const ValueAdapter* value = Borrow(value_info).initializer();
    Out(initializer_value, "initializer_value") = value != nullptr ? Lend<OrtValue>(*value) : nullptr;
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetExternalInitializerInfo(const OrtValueInfo* value_info,
                                                             OrtExternalInitializerInfo** info) noexcept {
  return Guard("ValueInfo_GetExternalInitializerInfo", [&] {
    const auto& external = Borrow(value_info).external();
    Out(info, "info") = external != nullptr ? std::make_unique<ExternalInfoAdapter>(external) : nullptr;
  });
}

void ORT_API_CALL ReleaseExternalInitializerInfo(OrtExternalInitializerInfo* info) noexcept {
  TakeIn("ReleaseExternalInitializerInfo", info);
}

/// Cannot fail: a bad handle is answered with what an empty description would say.
template <class Result, class Read>
Result Ask(const char* slot, const OrtExternalInitializerInfo* info, Result fallback, Read&& read) noexcept {
  Result result = fallback;
  ReleaseStatusHandle(Guard(slot, [&] { result = read(Borrow(info).data()); }));
  return result;
}

const ORTCHAR_T* ORT_API_CALL ExternalInitializerInfo_GetFilePath(const OrtExternalInitializerInfo* info) noexcept {
  return Ask("ExternalInitializerInfo_GetFilePath", info, "",
             [](const light::ExternalData& data) { return data.location.c_str(); });
}

int64_t ORT_API_CALL ExternalInitializerInfo_GetFileOffset(const OrtExternalInitializerInfo* info) noexcept {
  return Ask("ExternalInitializerInfo_GetFileOffset", info, int64_t{0},
             [](const light::ExternalData& data) { return data.offset; });
}

size_t ORT_API_CALL ExternalInitializerInfo_GetByteSize(const OrtExternalInitializerInfo* info) noexcept {
  return Ask("ExternalInitializerInfo_GetByteSize", info, size_t{0},
             [](const light::ExternalData& data) { return data.length; });
}

// --- What it is in its graph; several can be true at once

OrtStatus* Tell(const char* slot, const OrtValueInfo* value_info, bool (ValueInfoAdapter::*flag)() const noexcept,
                bool* out, const char* name) noexcept {
  return Guard(slot, [&] { Out(out, name) = (Borrow(value_info).*flag)(); });
}

OrtStatus* ORT_API_CALL ValueInfo_IsRequiredGraphInput(const OrtValueInfo* value_info,
                                                       bool* is_required_graph_input) noexcept {
  return Tell("ValueInfo_IsRequiredGraphInput", value_info, &ValueInfoAdapter::is_required_input,
              is_required_graph_input, "is_required_graph_input");
}

OrtStatus* ORT_API_CALL ValueInfo_IsOptionalGraphInput(const OrtValueInfo* value_info,
                                                       bool* is_optional_graph_input) noexcept {
  return Tell("ValueInfo_IsOptionalGraphInput", value_info, &ValueInfoAdapter::is_optional_input,
              is_optional_graph_input, "is_optional_graph_input");
}

OrtStatus* ORT_API_CALL ValueInfo_IsGraphOutput(const OrtValueInfo* value_info, bool* is_graph_output) noexcept {
  return Tell("ValueInfo_IsGraphOutput", value_info, &ValueInfoAdapter::is_output, is_graph_output, "is_graph_output");
}

OrtStatus* ORT_API_CALL ValueInfo_IsConstantInitializer(const OrtValueInfo* value_info,
                                                        bool* is_constant_initializer) noexcept {
  return Tell("ValueInfo_IsConstantInitializer", value_info, &ValueInfoAdapter::is_constant, is_constant_initializer,
              "is_constant_initializer");
}

OrtStatus* ORT_API_CALL ValueInfo_IsFromOuterScope(const OrtValueInfo* value_info, bool* is_from_outer_scope) noexcept {
  return Tell("ValueInfo_IsFromOuterScope", value_info, &ValueInfoAdapter::is_from_outer_scope, is_from_outer_scope,
              "is_from_outer_scope");
}

}  // namespace

void FillValueInfos(OrtApi& table) noexcept {
  table.GetValueInfoName = GetValueInfoName;
  table.GetValueInfoTypeInfo = GetValueInfoTypeInfo;
  table.ValueInfo_GetValueProducer = ValueInfo_GetValueProducer;
  table.ValueInfo_GetValueNumConsumers = ValueInfo_GetValueNumConsumers;
  table.ValueInfo_GetValueConsumers = ValueInfo_GetValueConsumers;
  table.ValueInfo_GetInitializerValue = ValueInfo_GetInitializerValue;
  table.ValueInfo_GetExternalInitializerInfo = ValueInfo_GetExternalInitializerInfo;
  table.ReleaseExternalInitializerInfo = ReleaseExternalInitializerInfo;
  table.ExternalInitializerInfo_GetFilePath = ExternalInitializerInfo_GetFilePath;
  table.ExternalInitializerInfo_GetFileOffset = ExternalInitializerInfo_GetFileOffset;
  table.ExternalInitializerInfo_GetByteSize = ExternalInitializerInfo_GetByteSize;
  table.ValueInfo_IsRequiredGraphInput = ValueInfo_IsRequiredGraphInput;
  table.ValueInfo_IsOptionalGraphInput = ValueInfo_IsOptionalGraphInput;
  table.ValueInfo_IsGraphOutput = ValueInfo_IsGraphOutput;
  table.ValueInfo_IsConstantInitializer = ValueInfo_IsConstantInitializer;
  table.ValueInfo_IsFromOuterScope = ValueInfo_IsFromOuterScope;
}

}  // namespace ort_host::abi
