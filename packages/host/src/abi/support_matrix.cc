// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <ort_abi/members.h>
#include <ort_abi/slots.h>

#include "abi/sections.h"
#include "abi/stub_policy.h"
#include "abi/tables.h"
#include "engine/engine.h"
#include "loader/audited_libraries.h"

namespace ort_host {
namespace {

using abi::Limit;

/// When the host invokes a callback of a library's struct.
struct CallbackStatus {
  const char* name;  ///< null: every other callback of the struct
  const char* status;
};

constexpr CallbackStatus kCustomOp[] = {
    {"CreateKernel", "invoked when a session is created, unless CreateKernelV2 is there"},
    {"CreateKernelV2", "invoked when a session is created"},
    {"KernelCompute", "invoked in each run, unless KernelComputeV2 is there"},
    {"KernelComputeV2", "invoked in each run"},
    {"KernelDestroy", "invoked when a session ends, once for each kernel"},
    {nullptr, "invoked when a session is created"},
};

constexpr CallbackStatus kAllocator[] = {
    {"Alloc", "invoked when memory is asked of the allocator"},
    {"Free", "invoked when memory of the allocator is given back"},
    {"Info", "invoked when a tensor is made with the allocator, and by AllocatorGetInfo"},
    {nullptr, "accepted, never invoked"},
};

constexpr CallbackStatus kEpFactory[] = {
    {"GetName", "invoked when a library is registered and a device is made"},
    {"GetVendor", "invoked when a device is made"},
    {"GetVersion", "invoked when a device is made"},
    {"GetSupportedDevices", "invoked when a library is registered"},
    {"CreateDataTransfer", "invoked when a library is registered and when a session is created"},
    {"GetNumCustomOpDomains", "invoked when devices are selected for a session"},
    {"GetCustomOpDomains", "invoked when devices are selected for a session"},
    {"IsStreamAware", "invoked when a session is created, if a device has memory that is not the CPU's"},
    {"CreateEp", "invoked when a session is created"},
    {"ReleaseEp", "invoked when a session ends"},
    {nullptr, "accepted, never invoked"},
};

constexpr CallbackStatus kEp[] = {
    {"GetName", "invoked when a session is created"},
    {"GetCapability", "invoked when a session is created, once for each graph"},
    {"GetKernelRegistry", "invoked when a session is created"},
    {"GetDefaultMemoryDevice", "invoked when a session is created; memory that is not the CPU's is refused"},
    {"IsConcurrentRunSupported", "invoked when a session is created"},
    {"IsGraphCaptureEnabled", "invoked when a session is created; true is refused"},
    {"GetPreferredDataLayout", "invoked when a session is created; the graph keeps the model's layout"},
    {"OnSessionInitializationEnd", "invoked when a session is created"},
    {"OnRunStart", "invoked in each run"},
    {"OnRunEnd", "invoked in each run"},
    {"Compile", "invoked when a session is created, once for each graph of which groups are proposed"},
    {"ReleaseNodeComputeInfos", "invoked when a session ends, once with all infos"},
    {nullptr, "accepted, never invoked"},
};

constexpr CallbackStatus kKernelImpl[] = {
    {"Compute", "invoked in each run"},
    {"Release", "invoked when a session ends"},
    {nullptr, "accepted, never invoked"},
};

constexpr CallbackStatus kNodeComputeInfo[] = {
    {"CreateState", "invoked when a session is created"},
    {"Compute", "invoked in each run"},
    {"ReleaseState", "invoked when a session ends, unless the state is null"},
};

constexpr CallbackStatus kDataTransfer[] = {
    {"Release", "invoked when a session ends, and when a library is unregistered and no session uses it"},
    {nullptr, "accepted, never invoked"},
};

constexpr CallbackStatus kOtherStructs[] = {{nullptr, "refused"}};

std::span<const CallbackStatus> CallbacksOf(const char* struct_name) noexcept {
  if (std::strcmp(struct_name, "OrtCustomOp") == 0) return kCustomOp;
  if (std::strcmp(struct_name, "OrtAllocator") == 0) return kAllocator;
  if (std::strcmp(struct_name, "OrtEpFactory") == 0) return kEpFactory;
  if (std::strcmp(struct_name, "OrtEp") == 0) return kEp;
  if (std::strcmp(struct_name, "OrtKernelImpl") == 0) return kKernelImpl;
  if (std::strcmp(struct_name, "OrtNodeComputeInfo") == 0) return kNodeComputeInfo;
  if (std::strcmp(struct_name, "OrtDataTransferImpl") == 0) return kDataTransfer;
  return kOtherStructs;
}

const char* StatusOf(const ort_abi::CallbackInfo& callback) noexcept {
  const std::span<const CallbackStatus> known = CallbacksOf(callback.struct_name);
  for (const CallbackStatus& status : known) {
    if (status.name == nullptr || std::strcmp(status.name, callback.name) == 0) return status.status;
  }
  return "refused";
}

const char* LimitOf(const ort_abi::SlotInfo& slot) noexcept {
  for (const std::span<const Limit> section : {abi::KernelContextLimits(), abi::OpSchemaLimits()}) {
    for (const Limit& limit : section) {
      if (std::strcmp(limit.table, slot.table) == 0 && std::strcmp(limit.slot, slot.name) == 0) return limit.sentence;
    }
  }
  return "";
}

SupportRow Row(const ort_abi::SlotInfo& slot, bool is_supported) {
  SupportRow row;
  row.table = slot.table;
  row.name = slot.name;
  row.index = slot.index;
  row.since = slot.since;
  row.profile = slot.profiles;
  row.status = is_supported ? "supported" : "not_implemented";
  if (is_supported) row.limit = LimitOf(slot);
  return row;
}

/// A slot is supported when its pointer is not the stub's, so the matrix cannot say anything else than the table.
template <class Table>
void AddTable(const Table& table, std::vector<SupportRow>& rows) {
  const Table& stubs = ort_abi::StubTable<abi::StubPolicy, Table>().table;
  for (const ort_abi::SlotInfo& slot : ort_abi::TableTraits<Table>::kSlots) {
    rows.push_back(Row(slot, ort_abi::SlotAddress(table, slot.index) != ort_abi::SlotAddress(stubs, slot.index)));
  }
}

}  // namespace

std::vector<uint32_t> AcceptedApiVersions() {
  std::vector<uint32_t> versions;
  for (uint32_t version = 1; version <= ORT_API_VERSION; ++version) {
    if (abi::IsGranted(version)) versions.push_back(version);
  }
  return versions;
}

std::vector<TestedLibrary> TestedLibraries() {
  std::vector<TestedLibrary> libraries;
  for (const AuditedLibrary& library : AuditedLibraries()) {
    libraries.push_back({library.name, library.version, library.file_name, library.bytes, library.sha256,
                         library.profile, library.abi, library.broken_groups});
  }
  return libraries;
}

std::vector<SupportRow> SupportMatrix() {
  const OrtApi& api = abi::Api();
  std::vector<SupportRow> rows;
  for (const ort_abi::SlotInfo& slot : ort_abi::TableTraits<OrtApiBase>::kSlots) rows.push_back(Row(slot, true));
  AddTable(api, rows);
  AddTable(*api.GetEpApi(), rows);
  AddTable(*api.GetModelEditorApi(), rows);
  AddTable(*api.GetCompileApi(), rows);
  AddTable(*api.GetInteropApi(), rows);
  const char* last_struct = "";
  int index = 0;
  for (const ort_abi::CallbackInfo& callback : ort_abi::kCallbacks) {
    index = std::strcmp(last_struct, callback.struct_name) == 0 ? index + 1 : 0;
    last_struct = callback.struct_name;
    SupportRow row;
    row.table = callback.struct_name;
    row.name = callback.name;
    row.index = index;
    row.since = callback.since;
    row.profile = callback.profiles;
    row.status = StatusOf(callback);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ort_host
