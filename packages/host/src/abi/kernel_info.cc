// SPDX-License-Identifier: Apache-2.0
#include "adapters/kernel_info.h"
#include "abi/sections.h"
#include "adapters/type_info.h"

namespace ort_host::abi {
namespace {

using Argument = KernelContent::Argument;

OrtStatus* ORT_API_CALL CopyKernelInfo(const OrtKernelInfo* info, OrtKernelInfo** info_copy) noexcept {
  return Guard("CopyKernelInfo", [&] {
    const auto& content = Borrow(info).content_ptr();
    Out(info_copy, "info_copy") = KernelInfoAdapter::MakeOwned(content);
  });
}

void ORT_API_CALL ReleaseKernelInfo(OrtKernelInfo* info) noexcept {
  auto adapter = TakeIn("ReleaseKernelInfo", info);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseKernelInfo", "the info that a kernel is made with is borrowed");
    adapter.release();
  }
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputCount(const OrtKernelInfo* info, size_t* out) noexcept {
  return Guard("KernelInfo_GetInputCount", [&] { Out(out) = Borrow(info).content().inputs.size(); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputCount(const OrtKernelInfo* info, size_t* out) noexcept {
  return Guard("KernelInfo_GetOutputCount", [&] { Out(out) = Borrow(info).content().outputs.size(); });
}

// --- Names

OrtStatus* PastTheCount(Slot slot, const KernelContent& content, const char* what, size_t count, size_t index) {
  return slot.Fail(ORT_INVALID_ARGUMENT, "index: %s has %zu %s, got %zu", content.label.c_str(), count, what, index);
}

OrtStatus* Text(Slot slot, std::string_view text, char* out, size_t* size) {
  return CopyString(slot, text, out, Require(size, "size"));
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputName(const OrtKernelInfo* info, size_t index, char* out,
                                                size_t* size) noexcept {
  return Guard("KernelInfo_GetInputName", [&](Slot slot) -> OrtStatus* {
    const KernelContent& content = Borrow(info).content();
    Require(size, "size");
    if (index >= content.inputs.size()) return PastTheCount(slot, content, "inputs", content.inputs.size(), index);
    return Text(slot, content.inputs[index].name, out, size);
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputName(const OrtKernelInfo* info, size_t index, char* out,
                                                 size_t* size) noexcept {
  return Guard("KernelInfo_GetOutputName", [&](Slot slot) -> OrtStatus* {
    const KernelContent& content = Borrow(info).content();
    Require(size, "size");
    if (index >= content.outputs.size()) return PastTheCount(slot, content, "outputs", content.outputs.size(), index);
    return Text(slot, content.outputs[index].name, out, size);
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetNodeName(const OrtKernelInfo* info, char* out, size_t* size) noexcept {
  return Guard("KernelInfo_GetNodeName",
               [&](Slot slot) { return Text(slot, Borrow(info).content().node_name, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorDomain(const OrtKernelInfo* info, char* out, size_t* size) noexcept {
  return Guard("KernelInfo_GetOperatorDomain",
               [&](Slot slot) { return Text(slot, Borrow(info).content().domain, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorType(const OrtKernelInfo* info, char* out, size_t* size) noexcept {
  return Guard("KernelInfo_GetOperatorType",
               [&](Slot slot) { return Text(slot, Borrow(info).content().op_type, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorSinceVersion(const OrtKernelInfo* info, int* since_version) noexcept {
  return Guard("KernelInfo_GetOperatorSinceVersion",
               [&] { Out(since_version, "since_version") = Borrow(info).content().since_version; });
}

// --- Types and constants

OrtStatus* TypeOf(Slot slot, const KernelContent& content, const std::vector<Argument>& arguments, const char* what,
                  size_t index, OrtTypeInfo** out) {
  const auto destination = Out(out, "type_info");
  if (index >= arguments.size()) return PastTheCount(slot, content, what, arguments.size(), index);
  if (arguments[index].name.empty()) {
    return slot.Fail(ORT_INVALID_GRAPH, "index: %s omits argument %zu of its %s", content.label.c_str(), index, what);
  }
  destination = std::make_unique<TypeInfoAdapter>(arguments[index].type);
  return nullptr;
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputTypeInfo(const OrtKernelInfo* info, size_t index,
                                                    OrtTypeInfo** type_info) noexcept {
  return Guard("KernelInfo_GetInputTypeInfo", [&](Slot slot) {
    const KernelContent& content = Borrow(info).content();
    return TypeOf(slot, content, content.inputs, "inputs", index, type_info);
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputTypeInfo(const OrtKernelInfo* info, size_t index,
                                                     OrtTypeInfo** type_info) noexcept {
  return Guard("KernelInfo_GetOutputTypeInfo", [&](Slot slot) {
    const KernelContent& content = Borrow(info).content();
    return TypeOf(slot, content, content.outputs, "outputs", index, type_info);
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetConstantInput_tensor(const OrtKernelInfo* info, size_t index, int* is_constant,
                                                          const OrtValue** out) noexcept {
  return Guard("KernelInfoGetConstantInput_tensor", [&] {
    const KernelContent& content = Borrow(info).content();
    const auto flag = Out(is_constant, "is_constant");
    const auto destination = Out(out);
    const ValueAdapter* constant = index < content.inputs.size() ? content.inputs[index].constant.get() : nullptr;
    flag = constant != nullptr ? 1 : 0;
    if (constant != nullptr) destination = Lend<OrtValue>(*constant);
  });
}

// --- The session

OrtStatus* ORT_API_CALL KernelInfoGetAllocator(const OrtKernelInfo* info, OrtMemType, OrtAllocator** out) noexcept {
  return Guard("KernelInfoGetAllocator", [&] {
    const KernelContent& content = Borrow(info).content();
    const auto destination = Out(out);
    destination = HostAllocator::Give(content.scope->MakeAllocator(content.label));
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetLogger(const OrtKernelInfo* info, const OrtLogger** logger) noexcept {
  return Guard("KernelInfo_GetLogger",
               [&] { Out(logger, "logger") = Lend<OrtLogger>(Borrow(info).content().scope->logger()); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetConfigEntries(const OrtKernelInfo* info, OrtKeyValuePairs** out) noexcept {
  return Guard("KernelInfo_GetConfigEntries", [&] {
    const KernelContent& content = Borrow(info).content();
    Out(out) = std::make_unique<KeyValuePairsAdapter>(content.scope->config());
  });
}

}  // namespace

void FillKernelInfo(OrtApi& table) noexcept {
  table.CopyKernelInfo = CopyKernelInfo;
  table.ReleaseKernelInfo = ReleaseKernelInfo;
  table.KernelInfo_GetInputCount = KernelInfo_GetInputCount;
  table.KernelInfo_GetOutputCount = KernelInfo_GetOutputCount;
  table.KernelInfo_GetInputName = KernelInfo_GetInputName;
  table.KernelInfo_GetOutputName = KernelInfo_GetOutputName;
  table.KernelInfo_GetNodeName = KernelInfo_GetNodeName;
  table.KernelInfo_GetOperatorDomain = KernelInfo_GetOperatorDomain;
  table.KernelInfo_GetOperatorType = KernelInfo_GetOperatorType;
  table.KernelInfo_GetOperatorSinceVersion = KernelInfo_GetOperatorSinceVersion;
  table.KernelInfo_GetInputTypeInfo = KernelInfo_GetInputTypeInfo;
  table.KernelInfo_GetOutputTypeInfo = KernelInfo_GetOutputTypeInfo;
  table.KernelInfoGetConstantInput_tensor = KernelInfoGetConstantInput_tensor;
  table.KernelInfoGetAllocator = KernelInfoGetAllocator;
  table.KernelInfo_GetLogger = KernelInfo_GetLogger;
  table.KernelInfo_GetConfigEntries = KernelInfo_GetConfigEntries;
}

}  // namespace ort_host::abi
