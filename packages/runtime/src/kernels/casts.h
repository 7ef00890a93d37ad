// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Casts beside those of cast.cc; NativeKernels() calls them all.

[[gnu::cold]] void RegisterBitCast(KernelRegistry& registry);
[[gnu::cold]] void RegisterSmallCast(KernelRegistry& registry);

}  // namespace light
