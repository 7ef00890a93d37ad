// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// Operators on text; NativeKernels() calls them all.

[[gnu::cold]] void RegisterStringNormalizer(KernelRegistry& registry);
[[gnu::cold]] void RegisterStringSplit(KernelRegistry& registry);
[[gnu::cold]] void RegisterTfIdfVectorizer(KernelRegistry& registry);

}  // namespace light
