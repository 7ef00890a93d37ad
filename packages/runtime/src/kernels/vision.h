// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Operators that look at images; NativeKernels() calls them all.

[[gnu::cold]] void RegisterAffineGrid(KernelRegistry& registry);
[[gnu::cold]] void RegisterCenterCropPad(KernelRegistry& registry);
[[gnu::cold]] void RegisterCol2Im(KernelRegistry& registry);
[[gnu::cold]] void RegisterDeformConv(KernelRegistry& registry);
[[gnu::cold]] void RegisterGridSample(KernelRegistry& registry);
[[gnu::cold]] void RegisterMaxRoiPool(KernelRegistry& registry);
[[gnu::cold]] void RegisterNonMaxSuppression(KernelRegistry& registry);
[[gnu::cold]] void RegisterRoiAlign(KernelRegistry& registry);

}  // namespace light
