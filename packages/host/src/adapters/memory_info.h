// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "adapters/kinds.h"

namespace ort_host {

/// What a memory info says. Plain data; two infos are equal when all fields are.
struct MemoryDescription {
  std::string name;
  OrtAllocatorType allocator_type = OrtDeviceAllocator;
  OrtMemType mem_type = OrtMemTypeDefault;
  int id = 0;
  OrtMemoryInfoDeviceType device_type = OrtMemoryInfoDeviceType_CPU;
  OrtDeviceMemoryType device_memory = OrtDeviceMemoryType_DEFAULT;
  uint32_t vendor = 0;
  std::size_t alignment = 0;

  bool operator==(const MemoryDescription&) const = default;
  /// True for memory that our kernels can use: CPU, default memory, vendor 0, id 0, no alignment asked for.
  bool is_plain_cpu() const noexcept;
  /// True if device, memory kind, vendor, id and alignment agree: what an allocator is looked up by.
  bool SameDevice(const MemoryDescription& other) const noexcept;
};

/// Behind OrtMemoryDevice: the device part of a memory info, which it belongs to.
class MemoryDeviceAdapter final : public AdapterBase {
 public:
  explicit MemoryDeviceAdapter(const MemoryDescription& description)
      : AdapterBase(kMemoryDeviceKind), description_(description) {}
  MemoryDeviceAdapter(const MemoryDeviceAdapter&) = delete;

  const MemoryDescription& description() const noexcept { return description_; }

 private:
  const MemoryDescription& description_;
};

/// Behind OrtMemoryInfo. A created one lives until ReleaseMemoryInfo, others as long as what they describe.
class MemoryInfoAdapter final : public AdapterBase {
 public:
  explicit MemoryInfoAdapter(MemoryDescription description)
      : AdapterBase(kMemoryInfoKind), description_(std::move(description)) {}
  MemoryInfoAdapter(const MemoryInfoAdapter&) = delete;

  /// One that the receiver releases.
  static std::unique_ptr<MemoryInfoAdapter> MakeOwned(MemoryDescription description) {
    auto info = std::make_unique<MemoryInfoAdapter>(std::move(description));
    info->is_owned_ = true;
    return info;
  }

  const MemoryDescription& description() const noexcept { return description_; }
  const MemoryDeviceAdapter& device() const noexcept { return device_; }
  /// False for one that belongs to an allocator or a value.
  bool is_owned() const noexcept { return is_owned_; }

 private:
  bool is_owned_ = false;
  MemoryDescription description_;
  MemoryDeviceAdapter device_{description_};
};

/// "Cpu", id 0, default memory, with that allocator type.
MemoryDescription CpuMemory(OrtAllocatorType type);

/// The info of tensors in a session: "Cpu", Arena. Never destroyed.
const MemoryInfoAdapter& CpuArenaInfo() noexcept;
/// The info of the default allocator: "Cpu", Device. Never destroyed.
const MemoryInfoAdapter& CpuDeviceInfo() noexcept;

}  // namespace ort_host

ORT_HOST_HANDLE(OrtMemoryDevice, MemoryDeviceAdapter, kMemoryDeviceKind, "memory device");
ORT_HOST_HANDLE(OrtMemoryInfo, MemoryInfoAdapter, kMemoryInfoKind, "memory info");
