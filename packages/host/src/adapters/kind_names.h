// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ort_host {

/// The handle type behind a kind tag, for messages.
const char* KindName(uint32_t kind) noexcept;

}  // namespace ort_host
