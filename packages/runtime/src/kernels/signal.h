// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Operators of signal processing; NativeKernels() calls them all.

[[gnu::cold]] void RegisterDft(KernelRegistry& registry);
[[gnu::cold]] void RegisterMelWeightMatrix(KernelRegistry& registry);
[[gnu::cold]] void RegisterStft(KernelRegistry& registry);
[[gnu::cold]] void RegisterWindows(KernelRegistry& registry);

}  // namespace light
