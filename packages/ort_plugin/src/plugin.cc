// SPDX-License-Identifier: Apache-2.0
// The entry points of the plugin library.
#include "api.h"
#include "custom_ops.h"
#include "ep_factory.h"
#include "status.h"

extern "C" {

ORT_EXPORT OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  const auto [api, refused] = ort_plugin::AskForApi(base, "RegisterCustomOps");
  if (api == nullptr) return refused;
  return ort_plugin::Guard(*api, "RegisterCustomOps", [&, api = api] { ort_plugin::AddCustomOps(*api, options); });
}

ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*,
                                                     OrtEpFactory** factories, size_t max_factories,
                                                     size_t* num_factories) {
  const auto [api, refused] = ort_plugin::AskForApi(base, "CreateEpFactories");
  if (api == nullptr) return refused;
  return ort_plugin::Guard(*api, "CreateEpFactories", [&, api = api] {
    *ort_abi::Require(num_factories, "num_factories") = 0;
    if (ort_abi::Require(factories, "factories") == nullptr || max_factories < 1) {
      throw ort_abi::StatusError(ORT_INVALID_ARGUMENT, "there must be room for 1 factory, got none");
    }
    factories[0] = ort_plugin::EpFactory::Make(*api);
    *num_factories = 1;
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  if (factory == nullptr || ort_plugin::EpFactory::Release(factory)) return nullptr;
  const OrtApi* api = ort_plugin::LastApi();
  if (api == nullptr) return nullptr;  // nobody was given a table to tell it with
  return ort_plugin::MakeStatus(*api, ORT_INVALID_ARGUMENT,
                                "ReleaseEpFactory: the factory is not one that this library made and still has");
}

}  // extern "C"
