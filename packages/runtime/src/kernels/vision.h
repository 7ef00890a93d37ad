// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Operators that look at images; NativeKernels() calls them all.

void RegisterAffineGrid(KernelRegistry& registry);
void RegisterCenterCropPad(KernelRegistry& registry);
void RegisterCol2Im(KernelRegistry& registry);
void RegisterDeformConv(KernelRegistry& registry);
void RegisterGridSample(KernelRegistry& registry);
void RegisterMaxRoiPool(KernelRegistry& registry);
void RegisterNonMaxSuppression(KernelRegistry& registry);
void RegisterRoiAlign(KernelRegistry& registry);

}  // namespace light
