// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "simd/simd.h"

namespace light {

/// The float32 functions for this machine: the best level that it has, or the one that the environment variable
/// ONNX_LIGHT_SIMD names. Picked at the first call. Safe from any thread.
/// Throws Error (kInvalidArgument) if the variable names no level or one that this machine does not have.
const simd::SimdTable& Simd();

/// The levels that this machine has, worst first.
std::vector<const simd::SimdTable*> SupportedSimdLevels();

/// The level of that name; "" picks the best. Throws as Simd() does.
const simd::SimdTable& FindSimdLevel(std::string_view name);

}  // namespace light
