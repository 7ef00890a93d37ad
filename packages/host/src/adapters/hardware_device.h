// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "adapters/key_value_pairs.h"

namespace ort_host {

/// What a piece of hardware is said to be. Plain data.
struct HardwareDescription {
  OrtHardwareDeviceType type = OrtHardwareDeviceType_CPU;
  uint32_t vendor_id = 0;  ///< of the PCI list where the vendor has one there
  uint32_t device_id = 0;
  std::string vendor;
  ConfigEntries metadata;
  bool is_synthetic = false;  ///< a caller made it up, to try a library that insists on it
};

/// Behind OrtHardwareDevice. A device of the process is never destroyed; one that a library creates lives until
/// ReleaseHardwareDevice. Immutable.
class HardwareDeviceAdapter final : public AdapterBase {
 public:
  enum class Owner : uint8_t { kProcess, kLibrary };
  HardwareDeviceAdapter(HardwareDescription description, Owner owner)
      : AdapterBase(kHardwareDeviceKind),
        description_(std::move(description)),
        metadata_(description_.metadata),
        owner_(owner) {}
  HardwareDeviceAdapter(const HardwareDeviceAdapter&) = delete;

  const HardwareDescription& description() const noexcept { return description_; }
  const KeyValuePairsAdapter& metadata() const noexcept { return metadata_; }
  bool is_owned() const noexcept { return owner_ == Owner::kLibrary; }

 private:
  HardwareDescription description_;
  KeyValuePairsAdapter metadata_;
  Owner owner_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtHardwareDevice, HardwareDeviceAdapter, kHardwareDeviceKind, "hardware device");
