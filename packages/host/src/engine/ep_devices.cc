// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "bridge/ep_library.h"
#include "bridge/hardware_devices.h"
#include "engine/engine.h"
#include "light/assignment.h"

namespace ort_host {
namespace {

HardwareDeviceInfo Describe(const HardwareDeviceAdapter& adapter) {
  const HardwareDescription& description = adapter.description();
  return {description.type,   description.vendor_id, description.device_id,
          description.vendor, description.metadata,  description.is_synthetic};
}

}  // namespace

void RegisterEpLibrary(const std::string& name, const std::string& path) {
  try {
    EpLibraries::Register(name, path);
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

void UnregisterEpLibrary(const std::string& name) {
  try {
    EpLibraries::Unregister(name);
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

std::vector<EpDeviceInfo> EpDevices() {
  std::vector<EpDeviceInfo> devices;
  devices.push_back(
      {light::kCpuProvider, "onnx-light", {{"version", ProductVersion()}}, {}, Describe(CpuDevice()), "", {}});
  for (const auto& library : EpLibraries::All()) {
    for (std::size_t i = 0; i < library->devices().size(); ++i) {
      const EpDeviceAdapter& device = *library->devices()[i];
      devices.push_back({device.ep_name(),
                         device.ep_vendor(),
                         device.metadata().entries(),
                         device.options().entries(),
                         Describe(device.hardware()),
                         library->name(),
                         {library->serial(), i}});
    }
  }
  return devices;
}

void AddSyntheticHardwareDevice(HardwareDeviceInfo device) {
  if (device.type < OrtHardwareDeviceType_CPU || device.type > OrtHardwareDeviceType_NPU) {
    throw HostError(ORT_INVALID_ARGUMENT,
                    "device_type: must be 0 (CPU), 1 (GPU) or 2 (NPU), got " + std::to_string(device.type));
  }
  HardwareDescription description;
  description.type = static_cast<OrtHardwareDeviceType>(device.type);
  description.vendor_id = device.vendor_id;
  description.device_id = device.device_id;
  description.vendor = std::move(device.vendor);
  description.metadata = std::move(device.metadata);
  AddSyntheticHardware(std::move(description));
}

}  // namespace ort_host
