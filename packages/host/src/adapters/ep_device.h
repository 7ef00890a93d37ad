// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>

#include "adapters/hardware_device.h"
#include "adapters/memory_info.h"

namespace ort_host {

/// Behind OrtEpDevice: a piece of hardware that a factory's execution provider can use. The library owns it until it
/// hands it over in GetSupportedDevices; hardware device and memory infos stay the library's or the process's.
class EpDeviceAdapter final : public AdapterBase {
 public:
  /// Which of the device's memories an info describes.
  enum class Memory : uint8_t { kDefault, kHostAccessible, kReadOnly };

  EpDeviceAdapter(OrtEpFactory* factory, std::string ep_name, std::string ep_vendor,
                  const HardwareDeviceAdapter& hardware, KeyValuePairsAdapter metadata, KeyValuePairsAdapter options)
      : AdapterBase(kEpDeviceKind),
        factory_(factory),
        ep_name_(std::move(ep_name)),
        ep_vendor_(std::move(ep_vendor)),
        hardware_(hardware),
        metadata_(std::move(metadata)),
        options_(std::move(options)) {}
  EpDeviceAdapter(const EpDeviceAdapter&) = delete;

  OrtEpFactory* factory() const noexcept { return factory_; }
  const std::string& ep_name() const noexcept { return ep_name_; }
  const std::string& ep_vendor() const noexcept { return ep_vendor_; }
  const HardwareDeviceAdapter& hardware() const noexcept { return hardware_; }
  KeyValuePairsAdapter& metadata() noexcept { return metadata_; }
  const KeyValuePairsAdapter& metadata() const noexcept { return metadata_; }
  const KeyValuePairsAdapter& options() const noexcept { return options_; }

  /// Null if the library described no such memory.
  const MemoryInfoAdapter* memory(Memory which) const noexcept { return memories_[static_cast<std::size_t>(which)]; }
  void set_memory(Memory which, const MemoryInfoAdapter& info) noexcept {
    memories_[static_cast<std::size_t>(which)] = &info;
  }

 private:
  OrtEpFactory* factory_;
  std::string ep_name_;
  std::string ep_vendor_;
  const HardwareDeviceAdapter& hardware_;
  KeyValuePairsAdapter metadata_;
  KeyValuePairsAdapter options_;
  std::array<const MemoryInfoAdapter*, 3> memories_{};
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtEpDevice, EpDeviceAdapter, kEpDeviceKind, "EP device");
