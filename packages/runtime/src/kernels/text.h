// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Operators on text; NativeKernels() calls them all.

void RegisterStringNormalizer(KernelRegistry& registry);
void RegisterStringSplit(KernelRegistry& registry);
void RegisterTfIdfVectorizer(KernelRegistry& registry);

}  // namespace light
