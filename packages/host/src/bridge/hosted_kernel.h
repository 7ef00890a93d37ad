// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "adapters/kernel_info.h"
#include "bridge/custom_op_versions.h"
#include "light/kernel.h"

namespace ort_host {

/// Makes the kernel of one node through the library's CreateKernel. Throws light::Error: ORT_RUNTIME_EXCEPTION with the
/// library's message, as ORT reports it.
std::unique_ptr<light::KernelBase> MakeHostedKernel(const CustomOpPtr& op, const std::shared_ptr<SessionScope>& scope,
                                                    const light::KernelInfo& info);

}  // namespace ort_host
