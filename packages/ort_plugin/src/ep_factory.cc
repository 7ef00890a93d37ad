// SPDX-License-Identifier: Apache-2.0
#include "ep_factory.h"

#include <map>
#include <mutex>

#include "api.h"
#include "ep.h"
#include "ep_kernel.h"
#include "kernel_registry.h"
#include "status.h"

namespace ort_plugin {
namespace {

constexpr const char* kVendor = "onnx-light-ort";

/// The factories that hosts hold.
struct HeldByHosts {
  std::mutex mutex;
  std::map<const OrtEpFactory*, std::shared_ptr<EpFactory>> factories;
};

/// Never destroyed: a host may let go of a factory while the process ends.
HeldByHosts& Held() {
  static auto* held = new HeldByHosts;
  return *held;
}

}  // namespace

EpFactory::EpFactory(const OrtApi& api)
    : OrtEpFactory{},
      api_(api),
      ep_api_(*api.GetEpApi()),
      kernels_(MakeKernelRegistry(api, ep_api_, CreateEpKernel, this)) {
  ort_version_supported = kOldestApi;
  OrtEpFactory::GetName = [](const OrtEpFactory*) { return kEpName; };
  OrtEpFactory::GetVendor = [](const OrtEpFactory*) { return kVendor; };
  OrtEpFactory::GetVendorId = [](const OrtEpFactory*) { return uint32_t{0}; };
  OrtEpFactory::GetVersion = [](const OrtEpFactory*) { return ONNX_LIGHT_ORT_PLUGIN_VERSION; };
  OrtEpFactory::GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count,
                                         OrtEpDevice** devices, size_t max_devices, size_t* num_devices) {
    return Guard(From(self).api(), "OnnxLightExecutionProvider: GetSupportedDevices",
                 [&] { From(self).OfferDevices(hardware, count, devices, max_devices, num_devices); });
  };
  OrtEpFactory::CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*,
                              size_t, const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** ep) {
    return Guard(From(self).api(), kEpName, [&] { *ep = MakeEp(From(self), options, logger).release(); });
  };
  OrtEpFactory::ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { DeleteEp(ep); };
  OrtEpFactory::CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) -> OrtStatus* {
    *transfer = nullptr;  // the host copies CPU memory
    return nullptr;
  };
  OrtEpFactory::IsStreamAware = [](const OrtEpFactory*) { return false; };
}

OrtEpFactory* EpFactory::Make(const OrtApi& api) {
  auto factory = std::make_shared<EpFactory>(api);
  HeldByHosts& held = Held();
  const std::lock_guard lock(held.mutex);
  held.factories[factory.get()] = factory;
  return factory.get();
}

bool EpFactory::Release(OrtEpFactory* factory) {
  std::shared_ptr<EpFactory> last_word;  // ends after the lock
  HeldByHosts& held = Held();
  const std::lock_guard lock(held.mutex);
  const auto found = held.factories.find(factory);
  if (found == held.factories.end()) return false;
  last_word = std::move(found->second);
  held.factories.erase(found);
  return true;
}

void EpFactory::OfferDevices(const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** devices,
                             size_t max_devices, size_t* num_devices) {
  *num_devices = 0;
  for (size_t i = 0; i < count && *num_devices < max_devices; ++i) {
    if (api_.HardwareDevice_Type(hardware[i]) != OrtHardwareDeviceType_CPU) continue;
    ort_abi::ThrowIfError(api_, ep_api_.CreateEpDevice(this, hardware[i], nullptr, nullptr, &devices[*num_devices]));
    ++*num_devices;
  }
}

}  // namespace ort_plugin
