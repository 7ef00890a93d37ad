// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Operators of signal processing; NativeKernels() calls them all.

void RegisterDft(KernelRegistry& registry);
void RegisterMelWeightMatrix(KernelRegistry& registry);
void RegisterStft(KernelRegistry& registry);
void RegisterWindows(KernelRegistry& registry);

}  // namespace light
