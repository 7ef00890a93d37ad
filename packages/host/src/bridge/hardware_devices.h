// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "adapters/hardware_device.h"

namespace ort_host {

/// The devices of this process, never destroyed: synthetic ones in the order NPU, GPU, CPU, then the CPU that we run
/// on.
std::vector<const HardwareDeviceAdapter*> HardwareDevices();

/// Adds a device that a caller made up. It stays until the process ends.
void AddSyntheticHardware(HardwareDescription description);

/// The device of the CPU that we run on.
const HardwareDeviceAdapter& CpuDevice();

}  // namespace ort_host
