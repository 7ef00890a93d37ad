// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

/// The operator CopyCounts of our domain: no input, and as output the counts of CopyCounts as an int64 vector (inputs,
/// outputs, output views) at the moment when it runs.
const OrtCustomOp* CopyCountsOp();

}  // namespace ort_plugin
