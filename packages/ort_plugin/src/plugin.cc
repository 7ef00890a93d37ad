// SPDX-License-Identifier: Apache-2.0
// The entry points of the plugin library. This version is a skeleton: it has no custom operator and no execution
// provider to offer, and answers NOT_IMPLEMENTED where a caller would expect one.

#include <ort_abi/ort_c_api.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ort_plugin {
namespace {

// The table of the last caller; ReleaseEpFactory is not given one.
std::atomic<const OrtApi*> g_api{nullptr};

/// Returns a table whose first slot, CreateStatus, can be called. That slot opens the table of every version, so any
/// version that the caller answers will do.
const OrtApi* FindApi(const OrtApiBase* base, const char* entry_point) {
  for (uint32_t version = 1; base != nullptr && version <= ORT_API_VERSION; ++version) {
    if (const OrtApi* api = base->GetApi(version); api != nullptr) {
      g_api.store(api);
      return api;
    }
  }
  // Without a table there is no status to return, and a null status would mean success.
  std::fprintf(stderr, "onnx_light_ort_plugin: %s: the caller answers no API version from 1 to %d, aborting\n",
               entry_point, ORT_API_VERSION);
  std::abort();
}

}  // namespace
}  // namespace ort_plugin

extern "C" {

ORT_EXPORT OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions*, const OrtApiBase* base) {
  const OrtApi* api = ort_plugin::FindApi(base, "RegisterCustomOps");
  return api->CreateStatus(ORT_NOT_IMPLEMENTED,
                           "RegisterCustomOps: this version of onnx-light-ort-plugin has no custom operators");
}

ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*,
                                                     OrtEpFactory**, size_t, size_t* num_factories) {
  const OrtApi* api = ort_plugin::FindApi(base, "CreateEpFactories");
  if (num_factories != nullptr) *num_factories = 0;
  return api->CreateStatus(ORT_NOT_IMPLEMENTED,
                           "CreateEpFactories: this version of onnx-light-ort-plugin has no execution provider");
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  const OrtApi* api = ort_plugin::g_api.load();
  // Nothing was created here, so there is nothing to release; a factory of somebody else is an error when it can be
  // told.
  if (factory == nullptr || api == nullptr) return nullptr;
  return api->CreateStatus(ORT_INVALID_ARGUMENT, "ReleaseEpFactory: the factory was not created by this library");
}

}  // extern "C"
