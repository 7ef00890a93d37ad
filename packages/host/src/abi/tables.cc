// SPDX-License-Identifier: Apache-2.0
#include "abi/tables.h"

#include <cstdio>

#include <ort_abi/slots.h>

#include "abi/sections.h"
#include "abi/stub_policy.h"
#include "adapters/asked_versions.h"
#include "adapters/logger.h"

namespace ort_host::abi {
namespace {

using Table = ort_abi::TableWithTail<OrtApi>;

const Table& MakeTable() {
  Table& table = *new Table(ort_abi::StubTable<StubPolicy, OrtApi>());
  FillStatus(table.table);
  FillValues(table.table);
  FillStrings(table.table);
  FillTypes(table.table);
  FillMemory(table.table);
  FillAllocators(table.table);
  FillKernelContext(table.table);
  FillKernelInfo(table.table);
  FillAttributes(table.table);
  FillOpAttr(table.table);
  FillConfig(table.table);
  FillLogging(table.table);
  FillCustomOpDomain(table.table);
  FillShapeInference(table.table);
  FillEnv(table.table);
  FillDevices(table.table);
  FillGraphs(table.table);
  FillNodes(table.table);
  FillValueInfos(table.table);
  FillModelMetadata(table.table);
  FillRunOptions(table.table);
  return table;
}

const OrtEpApi& MakeEpTable() {
  OrtEpApi& table = *new OrtEpApi(ort_abi::StubTable<StubPolicy, OrtEpApi>().table);
  FillEpDevices(table);
  FillOpSchemas(table);
  FillKernelDefs(table);
  FillEpSession(table);
  return table;
}

const OrtApi* ORT_API_CALL GetApi(uint32_t version) noexcept {
  AskedVersions::Note(version);
  if (IsGranted(version)) return &Api();
  char text[160];
  std::snprintf(text, sizeof(text), "OrtApiBase.GetApi: versions 1 to 5 and 8 to %d are served, got %u",
                ORT_API_VERSION, version);
  LogAlways(text);
  return nullptr;
}

const char* ORT_API_CALL GetVersionString() noexcept { return "1.30.0"; }
static_assert(ORT_API_VERSION == 30);

}  // namespace

// 6 and 7 had another layout when they were released.
bool IsGranted(uint32_t version) noexcept {
  return version >= 1 && version <= ORT_API_VERSION && version != 6 && version != 7;
}

const OrtApi& Api() noexcept {
  static const Table& table = MakeTable();
  return table.table;
}

const OrtEpApi& EpApi() noexcept {
  static const OrtEpApi& table = MakeEpTable();
  return table;
}

const OrtApiBase& ApiBase() noexcept {
  static constexpr OrtApiBase kBase = {GetApi, GetVersionString};
  return kBase;
}

}  // namespace ort_host::abi
