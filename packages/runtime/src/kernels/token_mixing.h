// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/kernel_registry.h"

namespace light {

// What language models without softmax attention are made of; NativeKernels() calls them all.

void RegisterCausalConvWithState(KernelRegistry& registry);
void RegisterLinearAttention(KernelRegistry& registry);
void RegisterSwiGlu(KernelRegistry& registry);

}  // namespace light
