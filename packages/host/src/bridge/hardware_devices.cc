// SPDX-License-Identifier: Apache-2.0
#include "bridge/hardware_devices.h"

#include <cpuid.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

namespace ort_host {
namespace {

/// What a processor says of its maker, and who that is in the PCI list.
struct CpuVendor {
  const char* signature;
  const char* name;
  uint32_t id;
};
constexpr CpuVendor kCpuVendors[] = {{"GenuineIntel", "Intel", 0x8086}, {"AuthenticAMD", "AMD", 0x1022}};

HardwareDescription DescribeCpu() {
  HardwareDescription description;
  description.type = OrtHardwareDeviceType_CPU;
  description.vendor = "unknown";
  unsigned most = 0;
  unsigned words[3] = {};
  if (__get_cpuid(0, &most, &words[0], &words[2], &words[1]) == 0) return description;
  char signature[sizeof(words) + 1] = {};
  std::memcpy(signature, words, sizeof(words));
  const auto* found = std::find_if(std::begin(kCpuVendors), std::end(kCpuVendors), [&](const CpuVendor& vendor) {
    return std::strcmp(vendor.signature, signature) == 0;
  });
  if (found == std::end(kCpuVendors)) return description;
  description.vendor = found->name;
  description.vendor_id = found->id;
  return description;
}

struct Synthetic {
  std::mutex mutex;
  std::vector<const HardwareDeviceAdapter*> devices;
};
Synthetic& AllSynthetic() {
  static Synthetic& all = *new Synthetic;
  return all;
}

}  // namespace

const HardwareDeviceAdapter& CpuDevice() {
  static const auto& cpu = *new HardwareDeviceAdapter(DescribeCpu(), HardwareDeviceAdapter::Owner::kProcess);
  return cpu;
}

void AddSyntheticHardware(HardwareDescription description) {
  description.is_synthetic = true;
  const auto* device = new HardwareDeviceAdapter(std::move(description), HardwareDeviceAdapter::Owner::kProcess);
  Synthetic& all = AllSynthetic();
  const std::lock_guard lock(all.mutex);
  all.devices.push_back(device);
  // Accelerators first, as ORT lists them: NPU 2, GPU 1, CPU 0.
  std::stable_sort(all.devices.begin(), all.devices.end(),
                   [](const auto* a, const auto* b) { return a->description().type > b->description().type; });
}

std::vector<const HardwareDeviceAdapter*> HardwareDevices() {
  Synthetic& all = AllSynthetic();
  std::vector<const HardwareDeviceAdapter*> devices;
  {
    const std::lock_guard lock(all.mutex);
    devices = all.devices;
  }
  devices.push_back(&CpuDevice());
  return devices;
}

}  // namespace ort_host
