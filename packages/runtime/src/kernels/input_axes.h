// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kernels/arguments.h"

namespace light {

// As in arguments.h, for axes that are not the attribute `axis` or `axes`.

/// @param what  what gave the axis, for the message: `input 1 (axis)`
int64_t NormalizeAxis(int64_t axis, std::size_t rank, std::string_view what);
Dims MarkAxes(const Dims& axes, std::size_t rank, std::string_view what);

}  // namespace light
