// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "adapters/kernel_registry.h"
#include "bridge/ep_instance.h"
#include "light/kernel.h"

namespace ort_host {

/// Makes the kernel of one node through the library's OrtKernelCreateFunc. Both arguments outlive it.
/// Throws light::Error with the library's code and message, naming node and library.
std::unique_ptr<light::KernelBase> MakeEpKernel(const EpInstance& instance, const RegisteredKernel& registered,
                                                const light::KernelInfo& info);

}  // namespace ort_host
