// SPDX-License-Identifier: Apache-2.0
#include "adapters/run_options.h"
#include "abi/sections.h"

namespace ort_host::abi {
namespace {

const char* ORT_API_CALL GetRunConfigEntry(const OrtRunOptions* options, const char* config_key) noexcept {
  const char* value = nullptr;
  ReleaseStatusHandle(Guard("GetRunConfigEntry", [&] {
    const std::string* found = Borrow(options).Find(Require(config_key, "config_key"));
    if (found != nullptr) value = found->c_str();
  }));
  return value;
}

}  // namespace

void FillRunOptions(OrtApi& table) noexcept { table.GetRunConfigEntry = GetRunConfigEntry; }

}  // namespace ort_host::abi
