// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/session_options.h"
#include "bridge/ep_device_id.h"
#include "bridge/ep_library.h"

namespace ort_host {

/// An execution provider that session options select: devices of one factory. Keeps the library.
struct EpSelection {
  std::shared_ptr<const EpLibrary> library;
  std::vector<const EpDeviceAdapter*> devices;

  OrtEpFactory* factory() const noexcept { return devices.front()->factory(); }
  const std::string& name() const noexcept { return devices.front()->ep_name(); }
};

/// `ep.<name in lower case>.`, the prefix of the provider's options among the entries of a session.
std::string EpOptionPrefix(std::string_view ep_name);

/// Finds the devices. Throws HostError (INVALID_ARGUMENT): there are none, one is gone, or they belong to several
/// factories.
EpSelection SelectDevices(const std::vector<EpDeviceId>& ids);

/// Adds what the provider brings to the options: defaults of its devices, then `given` as entries, and the factory's
/// custom op domains. Library code runs. Throws HostError naming library and provider.
void AddProvider(const EpSelection& selection, const std::vector<std::pair<std::string, std::string>>& given,
                 SessionOptionsAdapter& options);

}  // namespace ort_host
