// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/slots.h>

#include "abi/sections.h"
#include "abi/stub_policy.h"
#include "abi/tables.h"
#include "engine/engine.h"

namespace ort_host::abi {
namespace {

const char* ORT_API_CALL GetBuildInfoString() noexcept { return BuildInfo(); }

OrtExperimentalFnPtr ORT_API_CALL GetExperimentalFunction(const char*) noexcept { return nullptr; }

const OrtTrainingApi* ORT_API_CALL GetTrainingApi(uint32_t) noexcept { return nullptr; }

const OrtEpApi* ORT_API_CALL GetEpApi() noexcept { return &EpApi(); }

/// Complete, so that a library which calls into it is told by name what is missing.
template <class SubTable>
const SubTable* ORT_API_CALL Stubs() noexcept {
  return &ort_abi::StubTable<StubPolicy, SubTable>().table;
}

}  // namespace

void FillEnv(OrtApi& table) noexcept {
  table.GetBuildInfoString = GetBuildInfoString;
  table.GetExperimentalFunction = GetExperimentalFunction;
  table.GetTrainingApi = GetTrainingApi;
  table.GetModelEditorApi = Stubs<OrtModelEditorApi>;
  table.GetCompileApi = Stubs<OrtCompileApi>;
  table.GetInteropApi = Stubs<OrtInteropApi>;
  table.GetEpApi = GetEpApi;
}

}  // namespace ort_host::abi
