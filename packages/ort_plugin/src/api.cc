// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ort_plugin {
namespace {

std::atomic<const OrtApi*> g_last_api{nullptr};

/// CreateStatus is the first slot of every version, so a table of any version will do.
OrtStatus* Refuse(const OrtApiBase* base, const char* entry_point) {
  for (uint32_t version = 1; base != nullptr && version < kOldestApi; ++version) {
    const OrtApi* api = base->GetApi(version);
    if (api == nullptr) continue;
    const char* name = base->GetVersionString != nullptr ? base->GetVersionString() : nullptr;
    const std::string message = std::string(entry_point) + ": onnx-light-ort-plugin needs API version " +
                                std::to_string(kOldestApi) + ", which ONNX Runtime has from 1." +
                                std::to_string(kOldestApi) + " on, got " + (name != nullptr ? name : "an older one");
    return api->CreateStatus(ORT_NOT_IMPLEMENTED, message.c_str());
  }
  std::fprintf(stderr, "onnx_light_ort_plugin: %s: the caller answers no API version from 1 to %d, aborting\n",
               entry_point, static_cast<int>(kOldestApi));
  std::abort();
}

}  // namespace

GrantedApi AskForApi(const OrtApiBase* base, const char* entry_point) {
  const OrtApi* api = base != nullptr ? base->GetApi(kOldestApi) : nullptr;
  if (api == nullptr) return {nullptr, Refuse(base, entry_point)};
  g_last_api.store(api);
  return {api, nullptr};
}

const OrtApi* LastApi() noexcept { return g_last_api.load(); }

}  // namespace ort_plugin
