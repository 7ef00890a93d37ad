// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

/// Adds the domain `onnx_light` to the session options: every operator that there is a kernel for, or those
/// that the config entry `onnx_light.operators` lists, since each costs time at every session. Domain and operators are
/// made once per table of a host and never released, because ORT's sessions refer to them.
/// Throws ort_abi::StatusError.
void AddCustomOps(const OrtApi& api, OrtSessionOptions* options);

}  // namespace ort_plugin
