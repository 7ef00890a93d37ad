// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// What language models without softmax attention are made of; NativeKernels() calls them all.

[[gnu::cold]] void RegisterCausalConvWithState(KernelRegistry& registry);
[[gnu::cold]] void RegisterLinearAttention(KernelRegistry& registry);
[[gnu::cold]] void RegisterSwiGlu(KernelRegistry& registry);

}  // namespace light
