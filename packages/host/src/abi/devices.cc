// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"
#include "adapters/ep_device.h"

namespace ort_host::abi {
namespace {

// None of these can fail: a bad handle is answered with what an unknown device would be.

/// What `read` gives for the object behind the handle, or `fallback`.
template <class OrtTag, class Result, class Read>
Result Ask(const char* slot, const OrtTag* handle, Result fallback, Read&& read) noexcept {
  Result result = fallback;
  ReleaseStatusHandle(Guard(slot, [&] { result = read(Borrow(handle)); }));
  return result;
}

OrtHardwareDeviceType ORT_API_CALL HardwareDevice_Type(const OrtHardwareDevice* device) noexcept {
  return Ask("HardwareDevice_Type", device, OrtHardwareDeviceType_CPU,
             [](const HardwareDeviceAdapter& adapter) { return adapter.description().type; });
}

uint32_t ORT_API_CALL HardwareDevice_VendorId(const OrtHardwareDevice* device) noexcept {
  return Ask("HardwareDevice_VendorId", device, uint32_t{0},
             [](const HardwareDeviceAdapter& adapter) { return adapter.description().vendor_id; });
}

const char* ORT_API_CALL HardwareDevice_Vendor(const OrtHardwareDevice* device) noexcept {
  return Ask("HardwareDevice_Vendor", device, "",
             [](const HardwareDeviceAdapter& adapter) { return adapter.description().vendor.c_str(); });
}

uint32_t ORT_API_CALL HardwareDevice_DeviceId(const OrtHardwareDevice* device) noexcept {
  return Ask("HardwareDevice_DeviceId", device, uint32_t{0},
             [](const HardwareDeviceAdapter& adapter) { return adapter.description().device_id; });
}

const OrtKeyValuePairs* ORT_API_CALL HardwareDevice_Metadata(const OrtHardwareDevice* device) noexcept {
  return Ask("HardwareDevice_Metadata", device, static_cast<const OrtKeyValuePairs*>(nullptr),
             [](const HardwareDeviceAdapter& adapter) { return Lend<OrtKeyValuePairs>(adapter.metadata()); });
}

const char* ORT_API_CALL EpDevice_EpName(const OrtEpDevice* ep_device) noexcept {
  return Ask("EpDevice_EpName", ep_device, "",
             [](const EpDeviceAdapter& adapter) { return adapter.ep_name().c_str(); });
}

const char* ORT_API_CALL EpDevice_EpVendor(const OrtEpDevice* ep_device) noexcept {
  return Ask("EpDevice_EpVendor", ep_device, "",
             [](const EpDeviceAdapter& adapter) { return adapter.ep_vendor().c_str(); });
}

const OrtKeyValuePairs* ORT_API_CALL EpDevice_EpMetadata(const OrtEpDevice* ep_device) noexcept {
  return Ask("EpDevice_EpMetadata", ep_device, static_cast<const OrtKeyValuePairs*>(nullptr),
             [](const EpDeviceAdapter& adapter) { return Lend<OrtKeyValuePairs>(adapter.metadata()); });
}

const OrtKeyValuePairs* ORT_API_CALL EpDevice_EpOptions(const OrtEpDevice* ep_device) noexcept {
  return Ask("EpDevice_EpOptions", ep_device, static_cast<const OrtKeyValuePairs*>(nullptr),
             [](const EpDeviceAdapter& adapter) { return Lend<OrtKeyValuePairs>(adapter.options()); });
}

const OrtHardwareDevice* ORT_API_CALL EpDevice_Device(const OrtEpDevice* ep_device) noexcept {
  return Ask("EpDevice_Device", ep_device, static_cast<const OrtHardwareDevice*>(nullptr),
             [](const EpDeviceAdapter& adapter) { return Lend<OrtHardwareDevice>(adapter.hardware()); });
}

const OrtMemoryInfo* ORT_API_CALL EpDevice_MemoryInfo(const OrtEpDevice* ep_device,
                                                      OrtDeviceMemoryType memory_type) noexcept {
  return Ask("EpDevice_MemoryInfo", ep_device, static_cast<const OrtMemoryInfo*>(nullptr),
             [&](const EpDeviceAdapter& adapter) -> const OrtMemoryInfo* {
               const MemoryInfoAdapter* info = nullptr;
               if (memory_type == OrtDeviceMemoryType_DEFAULT) info = adapter.memory(EpDeviceAdapter::Memory::kDefault);
               if (memory_type == OrtDeviceMemoryType_HOST_ACCESSIBLE) {
                 info = adapter.memory(EpDeviceAdapter::Memory::kHostAccessible);
               }
               return info != nullptr ? Lend<OrtMemoryInfo>(*info) : nullptr;
             });
}

}  // namespace

void FillDevices(OrtApi& table) noexcept {
  table.HardwareDevice_Type = HardwareDevice_Type;
  table.HardwareDevice_VendorId = HardwareDevice_VendorId;
  table.HardwareDevice_Vendor = HardwareDevice_Vendor;
  table.HardwareDevice_DeviceId = HardwareDevice_DeviceId;
  table.HardwareDevice_Metadata = HardwareDevice_Metadata;
  table.EpDevice_EpName = EpDevice_EpName;
  table.EpDevice_EpVendor = EpDevice_EpVendor;
  table.EpDevice_EpMetadata = EpDevice_EpMetadata;
  table.EpDevice_EpOptions = EpDevice_EpOptions;
  table.EpDevice_Device = EpDevice_Device;
  table.EpDevice_MemoryInfo = EpDevice_MemoryInfo;
}

}  // namespace ort_host::abi
