// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ort_host {

/// An EP device as somebody names it: it may be gone.
struct EpDeviceId {
  uint64_t library = 0;  ///< EpLibrary::serial
  std::size_t index = 0;
};

}  // namespace ort_host
