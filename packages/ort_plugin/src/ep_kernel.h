// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

/// Makes a kernel of the provider for a node; `state` is the factory.
OrtStatus* CreateEpKernel(void* state, const OrtKernelInfo* info, OrtKernelImpl** kernel);

}  // namespace ort_plugin
