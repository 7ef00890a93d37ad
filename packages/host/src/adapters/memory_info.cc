// SPDX-License-Identifier: Apache-2.0
#include "adapters/memory_info.h"

namespace ort_host {

bool MemoryDescription::SameDevice(const MemoryDescription& other) const noexcept {
  return device_type == other.device_type && device_memory == other.device_memory && vendor == other.vendor &&
         id == other.id && alignment == other.alignment;
}

bool MemoryDescription::is_plain_cpu() const noexcept { return SameDevice(MemoryDescription{}); }

MemoryDescription CpuMemory(OrtAllocatorType type) {
  MemoryDescription description;
  description.name = "Cpu";
  description.allocator_type = type;
  return description;
}

const MemoryInfoAdapter& CpuArenaInfo() noexcept {
  static const MemoryInfoAdapter& info = *new MemoryInfoAdapter(CpuMemory(OrtArenaAllocator));
  return info;
}

const MemoryInfoAdapter& CpuDeviceInfo() noexcept {
  static const MemoryInfoAdapter& info = *new MemoryInfoAdapter(CpuMemory(OrtDeviceAllocator));
  return info;
}

}  // namespace ort_host
