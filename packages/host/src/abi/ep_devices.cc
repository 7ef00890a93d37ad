// SPDX-License-Identifier: Apache-2.0
#include <ort_abi/callbacks.h>

#include "abi/sections.h"
#include "adapters/ep_device.h"
#include "adapters/value.h"
#include "bridge/ep_library.h"
#include "bridge/semantic_version.h"

namespace ort_host::abi {
namespace {

ConfigEntries Entries(const OrtKeyValuePairs* pairs, const char* name) {
  return pairs != nullptr ? Borrow(pairs, name).entries() : ConfigEntries{};
}

// --- Hardware devices

OrtStatus* ORT_API_CALL CreateHardwareDevice(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id,
                                             const char* vendor_name, const OrtKeyValuePairs* metadata,
                                             OrtHardwareDevice** hardware_device) noexcept {
  return Guard("CreateHardwareDevice", [&](Slot slot) -> OrtStatus* {
    const auto destination = Out(hardware_device, "hardware_device");
    if (vendor_name == nullptr) return slot.Fail(ORT_RUNTIME_EXCEPTION, "vendor_name is null");
    if (type < OrtHardwareDeviceType_CPU || type > OrtHardwareDeviceType_NPU) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "type: must be a hardware device type, got %d", static_cast<int>(type));
    }
    HardwareDescription description;
    description.type = type;
    description.vendor_id = vendor_id;
    description.device_id = device_id;
    description.vendor = vendor_name;
    description.metadata = Entries(metadata, "metadata");
    destination =
        std::make_unique<HardwareDeviceAdapter>(std::move(description), HardwareDeviceAdapter::Owner::kLibrary);
    return nullptr;
  });
}

void ORT_API_CALL ReleaseHardwareDevice(OrtHardwareDevice* device) noexcept {
  auto adapter = TakeIn("ReleaseHardwareDevice", device);
  if (adapter != nullptr && !adapter->is_owned()) {
    checked::Report("release_of_borrowed", "ReleaseHardwareDevice", "the device is one of the process");
    adapter.release();
  }
}

// --- EP devices

/// A text that a factory must give.
template <auto kMember>
std::string FactoryText(const OrtEpFactory* factory) {
  const char* text = ort_abi::Call<kMember, HostStatus>(factory);
  if (text == nullptr) {
    throw StatusError(ORT_FAIL, std::string(ort_abi::MemberInfo<kMember>::kLabel) + ": must give a text, got null");
  }
  return text;
}

OrtStatus* ORT_API_CALL CreateEpDevice(OrtEpFactory* ep_factory, const OrtHardwareDevice* hardware_device,
                                       const OrtKeyValuePairs* ep_metadata, const OrtKeyValuePairs* ep_options,
                                       OrtEpDevice** ep_device) noexcept {
  return Guard("CreateEpDevice", [&](Slot slot) -> OrtStatus* {
    ort_abi::RequireVersion(ep_factory);
    const HardwareDeviceAdapter& hardware = Borrow(hardware_device);
    const auto destination = Out(ep_device, "ep_device");
    KeyValuePairsAdapter metadata(Entries(ep_metadata, "ep_metadata"));
    if (metadata.Find("version") != nullptr) {
      return slot.Fail(ORT_INVALID_ARGUMENT, "ep_metadata: the key 'version' is the host's, from the factory");
    }
    std::string name = FactoryText<&OrtEpFactory::GetName>(ep_factory);
    std::string vendor = FactoryText<&OrtEpFactory::GetVendor>(ep_factory);
    if (ort_abi::Has<&OrtEpFactory::GetVersion>(ep_factory)) {
      const std::string version = FactoryText<&OrtEpFactory::GetVersion>(ep_factory);
      if (!IsSemanticVersion(version)) {
        return slot.Fail(ORT_FAIL,
                         "OrtEpFactory.GetVersion of '%.200s': must be MAJOR.MINOR.PATCH[-pre][+build], got '%.200s'",
                         name.c_str(), version.c_str());
      }
      metadata.Set("version", version);
    }
    destination =
        std::make_unique<EpDeviceAdapter>(ep_factory, std::move(name), std::move(vendor), hardware, std::move(metadata),
                                          KeyValuePairsAdapter(Entries(ep_options, "ep_options")));
    return nullptr;
  });
}

void ORT_API_CALL ReleaseEpDevice(OrtEpDevice* device) noexcept { TakeIn("ReleaseEpDevice", device); }

OrtStatus* ORT_API_CALL EpDevice_AddAllocatorInfo(OrtEpDevice* ep_device,
                                                  const OrtMemoryInfo* allocator_memory_info) noexcept {
  return Guard("EpDevice_AddAllocatorInfo", [&] {
    EpDeviceAdapter& device = Borrow(ep_device);
    const MemoryInfoAdapter& info = Borrow(allocator_memory_info, "allocator_memory_info");
    using Memory = EpDeviceAdapter::Memory;
    Memory which = Memory::kHostAccessible;
    if (info.description().device_memory == OrtDeviceMemoryType_DEFAULT) {
      which = info.description().allocator_type == OrtReadOnlyAllocator ? Memory::kReadOnly : Memory::kDefault;
    }
    device.set_memory(which, info);
  });
}

// --- Memory devices. None of these can fail: a bad handle is answered with the values of plain CPU memory.

const OrtMemoryDevice* ORT_API_CALL MemoryInfo_GetMemoryDevice(const OrtMemoryInfo* memory_info) noexcept {
  const OrtMemoryDevice* device = nullptr;
  ReleaseStatusHandle(
      Guard("MemoryInfo_GetMemoryDevice", [&] { device = Lend<OrtMemoryDevice>(Borrow(memory_info).device()); }));
  return device;
}

const OrtMemoryDevice* ORT_API_CALL Value_GetMemoryDevice(const OrtValue* value) noexcept {
  const OrtMemoryDevice* device = nullptr;
  if (value == nullptr) return device;
  ReleaseStatusHandle(Guard("Value_GetMemoryDevice", [&] {
    const ValueAdapter& adapter = Borrow(value);
    if (adapter.tensor() != nullptr) device = Lend<OrtMemoryDevice>(adapter.memory().device());
  }));
  return device;
}

MemoryDescription Described(const char* slot, const OrtMemoryDevice* device) noexcept {
  MemoryDescription description;
  ReleaseStatusHandle(Guard(slot, [&] { description = Borrow(device).description(); }));
  return description;
}

bool ORT_API_CALL MemoryDevice_AreEqual(const OrtMemoryDevice* a, const OrtMemoryDevice* b) noexcept {
  if (a == nullptr || b == nullptr) return false;
  bool are_equal = false;
  ReleaseStatusHandle(
      Guard("MemoryDevice_AreEqual", [&] { are_equal = Borrow(a).description().SameDevice(Borrow(b).description()); }));
  return are_equal;
}

OrtMemoryInfoDeviceType ORT_API_CALL MemoryDevice_GetDeviceType(const OrtMemoryDevice* device) noexcept {
  return Described("MemoryDevice_GetDeviceType", device).device_type;
}

OrtDeviceMemoryType ORT_API_CALL MemoryDevice_GetMemoryType(const OrtMemoryDevice* device) noexcept {
  return Described("MemoryDevice_GetMemoryType", device).device_memory;
}

uint32_t ORT_API_CALL MemoryDevice_GetVendorId(const OrtMemoryDevice* device) noexcept {
  return Described("MemoryDevice_GetVendorId", device).vendor;
}

uint32_t ORT_API_CALL MemoryDevice_GetDeviceId(const OrtMemoryDevice* device) noexcept {
  return static_cast<uint32_t>(Described("MemoryDevice_GetDeviceId", device).id);
}

// --- The environment: there is one, the process

OrtStatus* ORT_API_CALL GetEnvConfigEntries(OrtKeyValuePairs** config_entries) noexcept {
  return Guard("GetEnvConfigEntries", [&] {
    const auto destination = Out(config_entries, "config_entries");
    ConfigEntries entries;
    if (EpLibraries::AllowVirtualDevices()) entries.emplace_back("allow_virtual_devices", "1");
    destination = std::make_unique<KeyValuePairsAdapter>(std::move(entries));
  });
}

}  // namespace

void FillEpDevices(OrtEpApi& table) noexcept {
  table.CreateHardwareDevice = CreateHardwareDevice;
  table.ReleaseHardwareDevice = ReleaseHardwareDevice;
  table.CreateEpDevice = CreateEpDevice;
  table.ReleaseEpDevice = ReleaseEpDevice;
  table.EpDevice_AddAllocatorInfo = EpDevice_AddAllocatorInfo;
  table.GetEnvConfigEntries = GetEnvConfigEntries;
  table.MemoryInfo_GetMemoryDevice = MemoryInfo_GetMemoryDevice;
  table.Value_GetMemoryDevice = Value_GetMemoryDevice;
  table.MemoryDevice_AreEqual = MemoryDevice_AreEqual;
  table.MemoryDevice_GetDeviceType = MemoryDevice_GetDeviceType;
  table.MemoryDevice_GetMemoryType = MemoryDevice_GetMemoryType;
  table.MemoryDevice_GetVendorId = MemoryDevice_GetVendorId;
  table.MemoryDevice_GetDeviceId = MemoryDevice_GetDeviceId;
}

}  // namespace ort_host::abi
